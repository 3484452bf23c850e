import StageSupport
import SystemPackage
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

@Suite("Export to .sens")
struct ExportSensTests {
  private func parsed(_ run: RGBDScene.Run) throws -> ParsedSens {
    try ParsedSens(try run.output.bytes("scene.sens"))
  }

  @Test("Frames hold pose, times rounded down, the JPEG files as they are, and exact depth")
  func frames() throws {
    let scene = RGBDScene()
    let run = try scene.run(ExportSens.self)
    let sens = try parsed(run)
    #expect(sens.frames.count == 3)
    for (index, frame) in sens.frames.enumerated() {
      #expect(
        frame.pose == [0, 0, 1, Float(index), 1, 0, 0, 0.5, 0, 1, 0, -0.25, 0, 0, 0, 1])
      #expect(frame.colorMicroseconds == [1_000_000, 1_016_667, 1_033_334][index])
      #expect(frame.depthMicroseconds == [1_002_000, 1_018_667, 1_035_334][index])
      let name = "00000\(index).jpg"
      #expect(
        Digest(of: frame.color)
          == run.jpeg.record.outputs.first { $0.path == name }?.sha256)
      #expect(
        try ParsedSens.millimeters(frame.depth, count: 12) == scene.depth[index]?.millimeters)
    }
  }

  @Test("IMU frames have one per rotation rate, accelerations in g, zeros for what lacks")
  func imu() throws {
    let sens = try parsed(try RGBDScene().run(ExportSens.self))
    #expect(sens.imu.map(\.microseconds) == [1_000_000, 1_010_000, 1_020_000])
    let tail: [Double] = [0, 0, 0, 0, 0, 0, 0, -1, 0]
    #expect(
      sens.imu.map(\.values) == [
        [0.5, -1, 0, 2, 0, 0] + tail, [0.5, -1, 1, 0, 0, 0] + tail,
        [0.5, -1, 2, 2, 0, 0] + tail,
      ])
  }

  @Test("One IMU sample is none: a usual reader reads past it; what is left out is counted")
  func singleSample() throws {
    var scene = RGBDScene()
    scene.capture.imu = .present(RGBDScene.imu(milliseconds: [1000]))
    let run = try scene.run(ExportSens.self)
    #expect(try parsed(run).imu.isEmpty)
    #expect(
      try run.output.text("export.json").contains(
        "\"imu\" : {\n    \"leftOut\" : 1,\n    \"samples\" : 0\n  }"))
    scene.capture.imu = .absent("no file")
    #expect(try parsed(try scene.run(ExportSens.self)).imu.isEmpty)
    scene.capture.imu = .present(RGBDScene.imu(milliseconds: [-5, 1000, 1010]))
    #expect(try parsed(try scene.run(ExportSens.self)).imu.count == 2)
  }

  @Test("An IMU stream that cannot be read fails the export")
  func unreadableIMU() throws {
    var scene = RGBDScene()
    scene.capture.imu = .unreadable(CaptureError(file: "/x/y.imu", problem: "no header"))
    #expect(throws: CaptureError.self) { try scene.run(ExportSens.self) }
    guard
      case .unreadable = ExportSens.applicability(
        ParameterValues(defaultsOf: ExportSens.parameters),
        CaptureSummary(scene.capture, readerVersion: 1))
    else {
      Issue.record("it starts all the same")
      return
    }
  }

  @Test("A lost pose is sixteen times -infinity, a capture without poses the identity")
  func lostPoses() throws {
    var scene = RGBDScene()
    scene.capture.poses = .present(RGBDScene.poses([0, 2]))
    let lost = [Float](repeating: -.infinity, count: 16)
    #expect(
      try parsed(try scene.run(ExportSens.self)).frames.map { $0.pose == lost } == [
        false, true, false,
      ])
    scene.capture.poses = .present(RGBDScene.poses([]))
    #expect(try parsed(try scene.run(ExportSens.self)).frames.allSatisfy { $0.pose == lost })
    scene.capture.poses = .absent("the family records no poses")
    let identity: [Float] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    #expect(try parsed(try scene.run(ExportSens.self)).frames.allSatisfy { $0.pose == identity })
  }

  @Test(
    "Frames without picture or depth are left out and counted; those without time or intrinsics stay"
  )
  func damage() throws {
    var scene = RGBDScene(frames: 5)
    scene.color[1] = nil
    scene.depth[2] = nil
    scene.capture.frames[3] = CaptureFrame()
    scene.capture.intrinsics = .present([0, 4].map(RGBDScene.intrinsics))
    let run = try scene.run(ExportSens.self)
    let sens = try parsed(run)
    #expect(sens.frames.map(\.colorMicroseconds) == [1_000_000, 0, 1_066_667])
    #expect(sens.frames.map(\.depthMicroseconds) == [1_002_000, 0, 1_068_667])
    // The median of those that have one: 10 and 14.
    #expect(sens.matrices[0][0] == 12)
    #expect(
      try run.output.text("frames.csv") == """
        frame,timestamp_ns,name
        0,1000000999,0
        3,,1
        4,1066667667,2

        """)
    #expect(
      try run.output.text("export.json") == """
        {
          "assumed" : [
            "unknownTimes",
            "missingSensors",
            "timeOffset",
            "intrinsicsOfOthers",
            "distortion",
            "registration"
          ],
          "frames" : 3,
          "imu" : {
            "leftOut" : 0,
            "samples" : 3
          },
          "intrinsicsDeviation" : 2,
          "leftOut" : {
            "no-depth" : 1,
            "no-picture" : 1
          },
          "schema" : 1,
          "shared" : null,
          "stage" : "export-sens"
        }

        """)
  }

  @Test("Times of an earlier scan are 0: those that the frame lost, and all where none is trusted")
  func staleTimes() throws {
    var scene = RGBDScene(frames: 3)
    scene.capture.frames[1].timestamp = nil
    scene.capture.frames[2].timestamp = nil
    scene.capture.frames[2].depthTimestamp = nil
    let sens = try parsed(try scene.run(ExportSens.self))
    #expect(sens.frames.map(\.colorMicroseconds) == [1_000_000, 0, 1_033_334])
    #expect(sens.frames.map(\.depthMicroseconds) == [1_002_000, 0, 0])
    scene.capture.frames[0].timestamp = nil
    let none = try parsed(try scene.run(ExportSens.self))
    #expect(none.frames.allSatisfy { $0.colorMicroseconds == 0 && $0.depthMicroseconds == 0 })
  }

  @Test("Times of color are written where depth has none in the whole capture")
  func colorTimesAlone() throws {
    var scene = RGBDScene(frames: 3)
    for frame in 0..<3 {
      (scene.capture.frames[frame].timestamp, scene.capture.frames[frame].depthTimestamp) = (
        nil, nil
      )
    }
    let sens = try parsed(try scene.run(ExportSens.self))
    #expect(sens.frames.map(\.colorMicroseconds) == [1_000_000, 1_016_667, 1_033_334])
    #expect(sens.frames.allSatisfy { $0.depthMicroseconds == 0 })
  }

  @Test("Times at the ends of the range are written, those before 0 are none")
  func oddTimes() throws {
    var scene = RGBDScene(frames: 3)
    for (frame, time) in [0, -1, Int64.max].enumerated() {
      let time = Timestamp(nanoseconds: time)
      scene.capture.frames[frame] = CaptureFrame(
        timestamp: time, colorTimestamp: time, depthTimestamp: time)
    }
    let sens = try parsed(try scene.run(ExportSens.self))
    #expect(sens.frames.map(\.colorMicroseconds) == [0, 0, 9_223_372_036_854_775])
  }

  @Test("Without any intrinsics it does not apply and says what to give")
  func noIntrinsics() throws {
    var scene = RGBDScene()
    scene.capture.intrinsics = .present([])
    let error = #expect(throws: StageDoesNotApply.self) { try scene.run(ExportSens.self) }
    #expect(error?.description == "no intrinsics: give export-sens.calibration")
    let before = ExportSens.applicability(
      ParameterValues(defaultsOf: ExportSens.parameters),
      CaptureSummary(scene.capture, readerVersion: 1))
    #expect(before == .notApplicable("no intrinsics: give export-sens.calibration"))
  }

  @Test("Zero frames with color and depth are a reason, one frame is a file")
  func fewFrames() throws {
    var scene = RGBDScene(frames: 1)
    #expect(try parsed(try scene.run(ExportSens.self)).frames.count == 1)
    scene.depth[0] = nil
    let error = #expect(throws: StageDoesNotApply.self) { try scene.run(ExportSens.self) }
    #expect(error?.description == "no frame is left: 1 no-depth")
  }

  @Test("A picture of another size than the others is left out or refused, never written")
  func otherSize() throws {
    var scene = RGBDScene()
    scene.color[1] = RGBDScene.color(1, width: 6, height: 8)
    #expect(throws: StageFailure.self) { try scene.run(ExportSens.self) }
    scene = RGBDScene()
    scene.depth[1] = RGBDScene.depth(1, width: 3, height: 4)
    #expect(throws: StageFailure.self) { try scene.run(ExportSens.self) }
  }

  @Test("pictures: png takes over the files of color/; quality encodes anew")
  func pictures() throws {
    let scene = RGBDScene()
    let png = try scene.run(ExportSens.self, ["pictures": "png"])
    for (index, frame) in try parsed(png).frames.enumerated() {
      #expect(Digest(of: frame.color) == png.color.record.outputs[index].sha256)
    }
    #expect(try parsed(png).header[317 - 8 - 4 - 16 - 8] == 1)
    let poor = try parsed(try scene.run(ExportSens.self, ["quality": "20"]))
    let good = try parsed(try scene.run(ExportSens.self))
    #expect(poor.frames[0].color.count < good.frames[0].color.count)
    #expect(poor.frames[0].color.starts(with: [0xff, 0xd8]))
  }

  @Test(
    "Aligned depth has color's camera and no extrinsic; unregistered native depth its own and one")
  func alignment() throws {
    var scene = RGBDScene()
    let transform = RigidTransform(
      rotation: [0, -1, 0, 1, 0, 0, 0, 0, 1], translation: [0.25, 0.5, -1])
    scene.capture.alignment = DepthCalibration(
      registered: false, colorFromDepth: transform,
      depthIntrinsics: PinholeCamera(width: 4, height: 3, fx: 7, fy: 8, cx: 1, cy: 2))
    let native = try parsed(try scene.run(ExportSens.self, ["depth": "native"]))
    #expect(native.matrices[2] == [7, 0, 1, 0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1])
    #expect(native.matrices[3] == [0, -1, 0, 0.25, 1, 0, 0, 0.5, 0, 0, 1, -1, 0, 0, 0, 1])
    scene.depth = (0..<3).map { RGBDScene.depth($0, width: 8, height: 6) }
    let aligned = try parsed(
      try scene.run(ExportSens.self, ["depth": "aligned"], depthPort: "aligned"))
    #expect(aligned.matrices[2] == aligned.matrices[0])
    #expect(aligned.matrices[3] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
  }

  @Test("Native depth without a known transform to color is not written")
  func unknownExtrinsic() throws {
    var scene = RGBDScene()
    scene.capture.alignment = DepthCalibration(
      registered: false,
      depthIntrinsics: PinholeCamera(width: 4, height: 3, fx: 7, fy: 8, cx: 1, cy: 2))
    #expect(throws: StageDoesNotApply.self) {
      try scene.run(ExportSens.self, ["depth": "native"])
    }
    scene.capture.alignment?.depthIntrinsics = nil
    scene.capture.alignment?.colorFromDepth = .identity
    #expect(throws: StageDoesNotApply.self) {
      try scene.run(ExportSens.self, ["depth": "native"])
    }
  }

  @Test("The file is named as the capture's folder, the sensor as its family")
  func names() throws {
    var scene = RGBDScene(family: .scannet)
    scene.capture.id = "lab 101/ä"
    scene.capture.user = "Jane"
    scene.capture.device.name = "Jane's iPad"
    let run = try scene.run(ExportSens.self)
    #expect(
      run.output.names == ["README.txt", "export.json", "frames.csv", "lab-101-ä.sens"])
    let bytes = try run.output.bytes("lab-101-ä.sens")
    #expect(try ParsedSens(bytes).name == "StructureSensor")
    #expect(!String(decoding: bytes, as: UTF8.self).contains("Jane"))
  }
}

/// A `.sens` file taken apart by its layout (`formats/sens.md`), for tests.
struct ParsedSens {
  struct Frame {
    var pose: [Float]
    var colorMicroseconds: UInt64
    var depthMicroseconds: UInt64
    var color: [UInt8]
    var depth: [UInt8]
  }

  var header: [UInt8]
  var name: String
  var matrices: [[Float]]
  var frames: [Frame] = []
  var imu: [(values: [Double], microseconds: UInt64)] = []

  /// Throws when the file does not end where it must.
  init(_ bytes: [UInt8]) throws {
    var offset = 0
    func take(_ count: Int) throws -> [UInt8] {
      try #require(count <= bytes.count - offset, "the file ends early")
      defer { offset += count }
      return Array(bytes[offset..<offset + count])
    }
    func number() throws -> UInt64 {
      try take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    func floats() throws -> [Float] {
      let piece = try take(64)
      return (0..<16).compactMap { piece.span.bytes.littleEndianFloat(at: 4 * $0) }
    }
    _ = try take(4)
    name = String(decoding: try take(Int(number())), as: UTF8.self)
    matrices = [try floats(), try floats(), try floats(), try floats()]
    _ = try take(4 + 4 + 16 + 4)
    let count = try number()
    header = Array(bytes[..<offset])
    for _ in 0..<count {
      let pose = try floats()
      let times = (try number(), try number())
      let sizes = (Int(try number()), Int(try number()))
      frames.append(
        Frame(
          pose: pose, colorMicroseconds: times.0, depthMicroseconds: times.1,
          color: try take(sizes.0), depth: try take(sizes.1)))
    }
    for _ in 0..<(try number()) {
      let piece = try take(120)
      imu.append(
        (
          (0..<15).compactMap { piece.span.bytes.littleEndianDouble(at: 8 * $0) }, try number()
        ))
    }
    try #require(offset == bytes.count, "bytes behind the end")
  }

  /// The depth of a frame inflated, which must be of exactly `count` values.
  static func millimeters(_ stream: [UInt8], count: Int) throws -> [UInt16] {
    var bytes = [UInt8](repeating: 0, count: 2 * count)
    var output = bytes.mutableSpan
    var raw = output.mutableBytes
    let result = try WholeInflate.inflate(stream.span.bytes, format: .zlib, into: &raw)
    #expect(result.produced == 2 * count)
    #expect(result.consumed == stream.count)
    return (0..<count).map { UInt16(bytes[2 * $0]) | UInt16(bytes[2 * $0 + 1]) << 8 }
  }
}
