@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import Testing

@Suite("Whether a calibration applies to a capture")
struct CalibrationFitTests {
  private static let color = PinholeCamera(
    width: 1296, height: 968, fx: 1170, fy: 1171, cx: 647.75, cy: 483.75)
  private static let depth = PinholeCamera(
    width: 640, height: 480, fx: 571, fy: 572, cx: 319.5, cy: 239.5)
  private static let apart = RigidTransform(
    rotation: RigidTransform.identity.rotation, translation: [0.038, 0, 0.02])

  /// By name: what captures and files state.
  private static let alignments: [String: DepthCalibration] = [
    "two": DepthCalibration(
      registered: false, colorFromDepth: apart, depthIntrinsics: depth, colorIntrinsics: color),
    "one": DepthCalibration(registered: true, colorFromDepth: .identity, colorIntrinsics: color),
    "one, of a text": DepthCalibration(
      registered: false, colorFromDepth: .identity, depthIntrinsics: depth, colorIntrinsics: color),
    "one, said": DepthCalibration(registered: true, colorIntrinsics: color),
    "color": DepthCalibration(registered: false, colorIntrinsics: color),
  ]

  private static func capture(_ name: String?, device: String? = nil) -> Capture {
    var capture = Capture(
      id: "scan", family: .scannet, generation: "v1", folder: "/nowhere",
      clock: CaptureClock(.uptime, unit: "s"))
    capture.device.id = device
    capture.alignment = name.flatMap { alignments[$0] }
    if name != nil {
      capture.depth = .present(
        DepthStream(
          description: StreamDescription(file: "", encoding: ""), width: 640, height: 480,
          access: .indexed(NoDepth())))
    }
    return capture
  }

  private struct NoDepth: IndexedFrameSource {
    let recordCount = 0
    func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
      .hole(.emptyRecord, "no record")
    }
  }

  private static func refusal(
    _ stated: StatedCalibration, _ capture: Capture, file: FilePath = "lab.json"
  ) -> String? {
    let found = CalibrationFit(capture).refusal(of: stated, in: file)?.description
    let planned = CalibrationFit(CaptureSummary(capture, readerVersion: 1))
      .refusal(of: stated, in: file)?.description
    #expect(found == planned, "before and at work")
    return found
  }

  @Test(
    "One of two cameras is not for one camera, and the reverse; what states neither is for all",
    arguments: [
      ("two", "two", nil), ("two", "one", "it is of one camera"),
      ("two", "one, of a text", "it is of one camera"),
      ("two", "one, said", "it is of one camera"), ("two", "color", nil),
      ("one", "two", "it is of two cameras"), ("one", "one", nil),
      ("one", "one, of a text", nil), ("one", "one, said", nil), ("one", "color", nil),
      ("color", "two", nil),
      ("color", "one", nil), (nil, "two", nil), (nil, "one", nil),
    ] as [(String?, String, String?)])
  func kinds(capture: String?, file: String, reason: String?) throws {
    let stated = StatedCalibration(try #require(Self.alignments[file]))
    let refusal = Self.refusal(stated, Self.capture(capture))
    #expect((refusal == nil) == (reason == nil), "\(refusal ?? "applies")")
    if let reason {
      let start = "lab.json: does not apply to this capture: \(reason)"
      #expect(refusal?.hasPrefix(start) == true, "\(refusal ?? "")")
    }
  }

  private static let mine = "A8ECBA23-EFA8-4B99-A459-A1949DC76E26"
  private static let other = "14BD07F5-08C3-4639-AD55-7D22EA057F8A"

  @Test(
    "A file that names a device is not for another, by its key or by its name",
    arguments: [
      (mine, "lab.json", nil), (mine.lowercased(), "lab.json", nil), (nil, "\(mine).txt", nil),
      (nil, "lab/\(other).txt", "file name = \(other)"), (other, "lab.json", "deviceId = \(other)"),
      (mine, "\(other).json", "file name"), (other, "\(mine).json", "deviceId"),
      ("", "lab.json", nil),
      (nil, "bench-3.txt", nil), (nil, "cafe.json", nil),
      (nil, "0123456789abcdef.json", "file name"),
      (nil, "00008110-001A2B3C4D5E6F7A.yaml", "file name"), (nil, "2026-11-20.json", nil),
    ] as [(String?, String, String?)])
  func devices(named: String?, file: String, reason: String?) throws {
    let stated = StatedCalibration(try #require(Self.alignments["two"]), deviceID: named)
    let capture = Self.capture("two", device: Self.mine)
    let refusal = Self.refusal(stated, capture, file: FilePath(file))
    #expect((refusal == nil) == (reason == nil), "\(refusal ?? "applies")")
    if let reason { #expect(refusal?.contains(": \(reason)") == true, "\(refusal ?? "")") }
    let unnamed = CalibrationFit(Self.capture("two"))
    #expect(unnamed.refusal(of: stated, in: FilePath(file)) == nil, "of an unknown device")
    let isNamed =
      named?.isEmpty == false || StatedCalibration.deviceID(inNameOf: FilePath(file)) != nil
    #expect((unnamed.doubt(of: stated, in: FilePath(file)) != nil) == isNamed)
    #expect(CalibrationFit(capture).doubt(of: stated, in: FilePath(file)) == nil)
  }

  private static let json = """
    {"deviceId": "DEVICE", "colorIntrinsics":
     {"width": 648, "height": 484, "fx": FX, "fy": 585, "cx": 323, "cy": 241},
     "depthIntrinsics": {"width": 640, "height": 480, "fx": 571, "fy": 572, "cx": 319.5, "cy": 239.5},
     "colorFromDepth": [1, 0, 0, 0.03, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}
    """

  @Test("Each form can name the device", arguments: ["deviceId", "deviceID", "device_id"])
  func forms(key: String) throws {
    let chain = """
      \(key): \(Self.other)
      cam0: {camera_model: pinhole, distortion_model: none, intrinsics: [571, 571, 319, 239], resolution: [640, 480]}
      cam1:
        T_cn_cnm1: [[1, 0, 0, 0.03], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
        camera_model: pinhole
        distortion_model: none
        intrinsics: [1170, 1170, 647, 483]
        resolution: [1296, 968]
      """
    let text = LabCalibrationTextTests.text + "\n\(key) = \(Self.other) # of the bench\n"
    let json = Self.json.replacing("FX", with: "585").replacing("deviceId", with: key)
      .replacing("DEVICE", with: Self.other)
    for form in [json, text, chain] {
      let capture = Self.capture("two", device: Self.mine)
      try CalibrationScratch.withFile(form) { path in
        let error = #expect(throws: CalibrationError.self) {
          _ = try CalibrationFile.read(path, for: capture)
        }
        #expect(error?.key == "deviceId" && error?.value == Self.other, "\(form)")
        #expect(
          CalibrationFile.refusal(of: path, for: CaptureSummary(capture, readerVersion: 1)) == error
        )
        let own = try CalibrationFile.read(path, for: Self.capture("two", device: Self.other))
        #expect(own.doubts.isEmpty, "\(own.doubts)")
      }
    }
  }

  @Test("A device that is no text is an error, not no device")
  func noText() throws {
    let json = Self.json.replacing("FX", with: "585").replacing(#""DEVICE""#, with: "7")
    try CalibrationScratch.withFile(json) { path in
      let error = #expect(throws: CalibrationError.self) { try CalibrationFile.check(path) }
      #expect(error?.key == "deviceId")
    }
  }

  @Test(
    "A focal length that differs by more than 5 % from the recorded one is doubted, at any size",
    arguments: [(585.0, false), (614.0, false), (556.0, false), (616.0, true), (555.0, true)])
  func focal(fx: Double, isDoubted: Bool) throws {
    let json = Self.json.replacing("DEVICE", with: "").replacing("FX", with: "\(fx)")
    let doubts = try CalibrationScratch.withFile(json) {
      try CalibrationFile.read($0, for: Self.capture("two")).doubts
    }
    #expect(doubts.map(\.subject) == (isDoubted ? ["color"] : []))
    #expect(doubts.allSatisfy { $0.message.contains("1170.0") }, "\(doubts)")
  }

  @Test("Rows of intrinsics are recorded focal lengths, too; a capture without any is not compared")
  func rows() throws {
    let json = Self.json.replacing("DEVICE", with: "").replacing("FX", with: "700")
    func subjects(_ capture: Capture, _ need: CalibrationNeed) throws -> [String] {
      try CalibrationScratch.withFile(json) {
        try CalibrationFile.read($0, for: capture, need).doubts.map(\.subject)
      }
    }
    var capture = Self.capture(nil)
    #expect(try subjects(capture, .color) == [])
    capture.intrinsics = .present([
      IntrinsicsRow(frame: 0, width: 1296, height: 968, fx: 1170, fy: 1170, cx: 647, cy: 483)
    ])
    #expect(try subjects(capture, .color) == ["color"])
    var other = Self.capture("two")
    other.alignment?.depthIntrinsics?.fx = 500
    #expect(try subjects(other, .depthAndColor) == ["color", "depth"])
    #expect(try subjects(other, .color) == ["color"], "depth is not used")
  }

  @Test(
    "One camera of a file for frames whose own move by more than two pixels is told, with how far",
    arguments: [(0.0, 0), (1.9, 0), (2.5, 2), (20, 2)])
  func moving(pixels: Double, count: Int) throws {
    let text = try JSONEncoder().encode(
      try #require(Self.alignments["one"]).document)
    var capture = Self.capture("one")
    capture.intrinsics = .present(
      [0, pixels, -pixels, 0].enumerated().map { frame, shift in
        IntrinsicsRow(
          frame: frame, width: 1296, height: 968, fx: 1170, fy: 1171, cx: 647.75 + shift,
          cy: 483.75)
      })
    let doubts = try CalibrationScratch.withFile(bytes: text) { file in
      try CalibrationFile.read(file, for: capture, .color).doubts
    }
    #expect(doubts.map(\.count) == (count == 0 ? [] : [count]))
    guard let doubt = doubts.first else { return }
    #expect(doubt.code == .intrinsicsVary && doubt.subject == "intrinsics")
    #expect(
      doubt.message.hasPrefix(
        "one camera (that of the calibration file) stands for 4 frames whose own cameras change: the principal "
          + "point is up to \(pixels == 20 ? "20" : "2.5") pixels away from their median"))
  }
}
