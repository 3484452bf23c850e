@testable import Captures
@testable import Media
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Polycam raw data")
struct PolycamTests {
  private static let times = [68_414_219_833, 68_414_986_511, 68_415_519_837]

  /// An export with three frames; the camera moves along x and does not turn.
  private func export(named name: String = "kitchen", inner: String = "keyframes/") throws
    -> ScratchCapture
  {
    let scratch = try ScratchCapture(named: name)
    var png = PNGWriter(compression: .fast)
    for (index, time) in Self.times.enumerated() {
      try scratch.write(camera(index, time), to: "\(inner)cameras/\(time).json")
      let depth = DepthImage(
        width: 4, height: 3, millimeters: [UInt16](repeating: UInt16(1000 + index), count: 12))
      try scratch.write(try png.encode(depth), to: "\(inner)depth/\(time).png")
      let gray = GrayImage(width: 4, height: 3, values: [UInt8](repeating: 127, count: 12))
      try scratch.write(try png.encode(gray), to: "\(inner)confidence/\(time).png")
      var jpeg = try JPEGWriter(quality: 90)
      var bytes: [UInt8] = []
      try jpeg.encode(
        rgb: [UInt8](repeating: 90, count: 16 * 12 * 3), width: 16, height: 12, into: &bytes)
      try scratch.write(bytes, to: "\(inner)images/\(time).jpg")
      try scratch.write("x", to: "\(inner)corrected_images/\(time).jpg")
      try scratch.write("{}", to: "\(inner)corrected_cameras/\(time).json")
    }
    try scratch.write("{}", to: "mesh_info.json")
    return scratch
  }

  private func camera(_ index: Int, _ time: Int) -> String {
    """
    {"fx": 12, "fy": 12, "cx": 7.5, "cy": 5.5, "width": 16, "height": 12, "timestamp": \(time),
     "t_00": 0, "t_01": 1, "t_02": 0, "t_03": 0.\(index),
     "t_10": -1, "t_11": 0, "t_12": 0, "t_13": 2,
     "t_20": 0, "t_21": 0, "t_22": 1, "t_23": 3, "blur_score": 30}
    """
  }

  @Test("A whole export has frames, times, poses and no warnings", arguments: ["keyframes/", ""])
  func whole(inner: String) throws {
    let scratch = try export(inner: inner)
    let capture = try scratch.open()
    #expect(try scratch.open().allCounts().isEmpty)
    #expect(capture.family == .polycam && capture.id == "kitchen" && capture.generation == "lidar")
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == Self.times.map { Int64($0) * 1000 })
    #expect(capture.frames.allSatisfy { $0.colorTimestamp != nil && $0.depthTimestamp != nil })
    let rows = try #require(capture.poses.value?.rows)
    #expect(rows.map(\.pose.position) == [[0, 2, 3], [0.1, 2, 3], [0.2, 2, 3]])
    // Column k of the rotation is camera axis k in the world; y and z are turned to OpenCV's.
    let rotation = rows[0].pose.worldFromCamera.rotation
    for (value, wanted) in zip(rotation, [0, -1, 0, -1, 0, 0, 0, 0, -1] as [Double]) {
      #expect(abs(value - wanted) < 1e-12)
    }
    #expect(capture.intrinsics.value?.map(\.width) == [16, 16, 16])
    #expect(capture.alignment?.registered == true && capture.alignment?.colorIntrinsics != nil)
    #expect(capture.completeness.isWhole)
    let depth = try #require(capture.depth.value)
    #expect(depth.description.encoding == "png-u16" && depth.description.frames == 3)
  }

  @Test("The folder keyframes has the name of its parent")
  func inside() throws {
    let scratch = try export(inner: "keyframes/")
    let inner = try FolderListing(of: scratch.folder.appending("keyframes"))
    let found = CaptureRegistry.builtIn.recognize(inner)
    #expect(found.map(\.family) == [.polycam])
    #expect(found.map(\.id) == ["kitchen"])
  }

  @Test("Each damage has its codes and no other, and moves no other frame")
  func damage() throws {
    let cases: [([String: Int], (ScratchCapture) throws -> Void)] = [
      (["frame-count-mismatch depth": 1], { try $0.remove("keyframes/depth/68414986511.png") }),
      (["empty-record depth": 1], { try $0.write("", to: "keyframes/depth/68414986511.png") }),
      (["corrupt-record color": 1], { try $0.write("x", to: "keyframes/images/68414986511.jpg") }),
      (
        ["corrupt-record poses": 1], { try $0.write("{", to: "keyframes/cameras/68414986511.json") }
      ),
      (["empty-record poses": 1], { try $0.write("", to: "keyframes/cameras/68414986511.json") }),
      (
        ["non-finite-value poses": 1],
        {
          let text = try $0.text(of: "keyframes/cameras/68414986511.json")
          try $0.write(
            text.replacing("\"t_13\": 2", with: "\"t_13\": NaN"),
            to: "keyframes/cameras/68414986511.json")
        }
      ),
      (
        ["pairing-approximate frames": 1],
        {
          let text = try $0.text(of: "keyframes/cameras/68414986511.json")
          try $0.write(
            text.replacing("68414986511", with: "68414986512"),
            to: "keyframes/cameras/68414986511.json")
        }
      ),
      (["corrupt-record depth": 1], { try $0.write("x", to: "keyframes/depth/5.png") }),
      (["missing-file confidence": 1], { try $0.remove("keyframes/confidence") }),
      (["missing-file color": 1], { try $0.remove("keyframes/images") }),
      (
        [:],
        {
          for name in ["._68414986511.png", ".DS_Store", "Thumbs.db"] {
            try $0.write("x", to: "keyframes/depth/\(name)")
          }
        }
      ),
    ]
    for (expected, change) in cases {
      let scratch = try export()
      try change(scratch)
      #expect(try scratch.open().allCounts() == expected)
      #expect(try scratch.open().frames.count == 3)
    }
  }

  @Test("Pictures whose frames the files of other kinds decide about depend on these files")
  func partsOfRanks() throws {
    let scratch = try export()
    let whole = try scratch.open().files
    #expect(whole[.color]?.count == 3 && whole[.poses]?.count == 3)
    try scratch.remove("keyframes/images/\(Self.times[0]).jpg")
    let capture = try scratch.open()
    #expect(capture.color.value?.frameOfPicture == [1, 2])
    let depth = "\(Self.times[0]).png"
    #expect(capture.files[.color]?.contains { $0.name == depth } == true)
    #expect(capture.files[.depth]?.count == 3 && capture.files[.poses]?.count == 3)
  }

  @Test("Other folders are not claimed")
  func others() throws {
    for files in [
      ["keyframes/cameras/1.json": "{\"fx\": 1}"], ["keyframes/images/1.jpg": ""],
      ["cameras/a.json": "{\"t_00\": 1}"], ["keyframes/cameras/._1.json": "{\"t_00\": 1}"],
      ["__MACOSX/keyframes/cameras/1.json": "{\"t_00\": 1}"],
    ] {
      let scratch = try ScratchCapture(named: "other")
      for (name, text) in files { try scratch.write(text, to: name) }
      let found = CaptureRegistry.builtIn.recognize(try FolderListing(of: scratch.folder))
      #expect(!found.contains { $0.family == .polycam })
    }
  }
}
