@testable import Captures
@testable import Core
@testable import Media
import SystemPackage
import TestSupport
import Testing

/// An export of 3D Scanner App in the making.
final class ThreeDScannerAppScratch: ScratchCapture {
  static let cases = Fixtures.cases(of: "3d-scanner-app")

  convenience init(copyOf name: String) throws {
    try self.init(copyOf: name, of: "3d-scanner-app")
  }

  /// Replaces a part of a text file.
  func replace(_ old: String, _ new: String, in name: String) throws {
    try write(try text(of: name).replacing(old, with: new), to: name)
  }
}

@Suite("3D Scanner App: what goes wrong", .enabled(if: Fixtures.arePresent))
struct ThreeDScannerAppSituationTests {
  typealias Situation = ChangedCapture<ThreeDScannerAppScratch>

  static let situations = [
    Situation("no color at all", [:]) { scratch in
      for frame in [0, 3, 6, 9] { try scratch.remove("frame_0000\(frame).jpg") }
    },
    Situation("no color for one frame, which is sparse beside depth", [:]) {
      try $0.remove("frame_00003.jpg")
    },
    Situation("no color for one frame", ["frame-count-mismatch color": 1], of: "high") {
      try $0.remove("frame_00003.jpg")
    },
    Situation("no description", [:]) { try $0.remove("info.json") },
    Situation("a description that is cut", ["corrupt-record info.json": 1]) {
      try $0.write("{\"title\" : \"K", to: "info.json")
    },
    Situation("more frames declared", ["frame-count-mismatch poses": 3]) {
      try $0.replace("\"numImages\": 10", "\"numImages\": 13", in: "info.json")
    },
    Situation("a frame without depth", ["frame-count-mismatch depth": 1]) {
      try $0.remove("depth_00004.png")
    },
    Situation("no confidence at all", ["frame-count-mismatch confidence": 10]) { scratch in
      for frame in 0..<10 { try scratch.remove("conf_0000\(frame).png") }
    },
    Situation(
      "a frame of depth after the last",
      ["frame-count-mismatch depth": 1, "timestamps-missing frames": 1]
    ) { try $0.write(try $0.bytes(of: "depth_00001.png"), to: "depth_00012.png") },
    Situation(
      "empty files",
      [
        "empty-record poses": 1, "empty-record color": 1, "empty-record depth": 1,
        "empty-record confidence": 1, "timestamps-missing frames": 1,
      ]
    ) { scratch in
      for name in ["frame_00003.json", "frame_00003.jpg", "depth_00002.png", "conf_00001.png"] {
        try scratch.write("", to: name)
      }
    },
    Situation(
      "files of the wrong kind",
      [
        "corrupt-record poses": 1, "corrupt-record color": 1, "corrupt-record depth": 1,
        "corrupt-record confidence": 1, "timestamps-missing frames": 1,
      ]
    ) { scratch in
      try scratch.write("[1, 2]", to: "frame_00003.json")
      try scratch.write("no picture", to: "frame_00003.jpg")
      let depth = try scratch.bytes(of: "depth_00000.png")
      try scratch.write(try scratch.bytes(of: "conf_00000.png"), to: "depth_00002.png")
      try scratch.write(depth, to: "conf_00001.png")
    },
    Situation("a JPEG with broken data", ["corrupt-record color": 1]) { scratch in
      var bytes = try scratch.bytes(of: "frame_00003.jpg")
      // Cut out of the middle of the picture's data; the end is there.
      bytes.removeSubrange(bytes.count - 400..<bytes.count - 200)
      try scratch.write(bytes, to: "frame_00003.jpg")
    },
    Situation("a picture of another size", ["size-mismatch color": 1]) {
      try $0.write(try $0.bytes(of: "thumb_00000.jpg"), to: "frame_00003.jpg")
    },
    Situation("no time in a frame", ["timestamps-missing frames": 1]) {
      try $0.replace("\"time\"", "\"when\"", in: "frame_00004.json")
    },
    Situation("no time in any frame", [:]) { scratch in
      for frame in 0..<10 {
        try scratch.replace("\"time\"", "\"when\"", in: "frame_0000\(frame).json")
      }
    },
    Situation("a time with a decimal comma in every frame", ["timestamps-missing frames": 10]) {
      scratch in
      for frame in 0..<10 {
        try scratch.replace(
          "\"time\" : ", "\"time\" : \"1,5\", \"when\" : ", in: "frame_0000\(frame).json")
      }
    },
    Situation("positions that are none", ["corrupt-record geo": 3]) { scratch in
      try scratch.replace("37.5", "\"37,5\"", in: "info.json")
      for (frame, latitude) in ["\"37,5\"", "97.5", "null"].enumerated() {
        try scratch.replace(
          "\"time\"", "\"hasGPS\" : true, \"latitude\" : \(latitude), \"longitude\" : 8, \"time\"",
          in: "frame_0000\(frame).json")
      }
    },
    Situation(
      "depth of another aspect than color and confidence",
      ["size-mismatch alignment": 1, "size-mismatch confidence": 1]
    ) { scratch in
      var png = PNGWriter(compression: .fast)
      let turned = try png.encode(
        DepthImage(width: 3, height: 4, millimeters: [UInt16](repeating: 1500, count: 12)))
      for frame in 0..<10 { try scratch.write(turned, to: "depth_0000\(frame).png") }
    },
    Situation("intrinsics by columns", ["implausible-unit principalPoint": 1]) {
      try $0.replace(
        "120.0,\n    0,\n    94.5,\n    0,\n    120.0,\n    53.900001525878906,\n    0,\n    0,",
        "120.0,\n    0,\n    0,\n    0,\n    120.0,\n    0,\n    94.5,\n    53.9,",
        in: "frame_00000.json")
    },
    Situation("neither pose nor intrinsics", ["missing-key poses": 1]) {
      try $0.replace("\"intrinsics\"", "\"a\"", in: "frame_00004.json")
      try $0.replace("cameraPoseARFrame", "b", in: "frame_00004.json")
    },
    Situation("fifteen numbers", ["missing-key poses": 1]) {
      try $0.replace("0.0,\n    0.0,\n    0.0,", "0.0,\n    0.0,", in: "frame_00000.json")
    },
    Situation("a pose with inf", ["non-finite-value poses": 1]) {
      try $0.replace("0.07173251360654831", "-INF", in: "frame_00000.json")
    },
    Situation("an intrinsic of nan, which is no number", ["missing-key poses": 1]) {
      try $0.replace("94.5", "NaN", in: "frame_00000.json")
    },
    Situation("a last element of 0", ["non-finite-value poses": 1]) {
      try $0.replace("0.0,\n    1.0\n", "0.0,\n    0.0\n", in: "frame_00000.json")
    },
    Situation("another number inside the file", ["pairing-approximate frames": 1]) {
      try $0.replace("\"frame_index\" : 0", "\"frame_index\" : 7", in: "frame_00000.json")
    },
    Situation(
      "equal times, and a time that goes back",
      ["timestamps-duplicate frames": 1, "timestamps-unordered frames": 1]
    ) { scratch in
      try scratch.replace("942355.64631345856", "942355.846313459", in: "frame_00000.json")
      try scratch.replace("942356.8", "942356.0", in: "frame_00009.json")
    },
    Situation("a jump", ["pose-jump poses": 1]) {
      try $0.replace("-0.519399106502533", "-50.519399106502533", in: "frame_00000.json")
    },
    Situation(
      "no frame file at all",
      ["missing-file poses": 1, "timestamps-missing frames": 10, "calibration-missing color": 1]
    ) { scratch in
      for frame in 0..<10 { try scratch.remove("frame_0000\(frame).json") }
    },
    Situation("a number that is not believed", ["corrupt-record depth": 1]) {
      try $0.write("x", to: "depth_16777216.png")
    },
    Situation("hidden and foreign files", [:]) {
      for name in [
        "._frame_00000.json", "._depth_00000.png", "Thumbs.db", ".DS_Store", "frame_1.json",
        "frame_0000a.jpg", "depth_00000.txt", "__MACOSX/._frame_00000.json",
      ] { try $0.write("x", to: name) }
    },
    Situation("unknown keys", [:]) {
      try $0.replace(
        "\"frame_index\"", "\"new\" : {\"a\" : [1, {}]}, \"frame_index\"",
        in: "frame_00000.json")
    },
  ]

  @Test("Each situation has its codes and no other", arguments: situations)
  func codes(of situation: Situation) throws {
    let scratch = try ThreeDScannerAppScratch(copyOf: situation.copyOf ?? "lidar")
    try situation.change(scratch)
    #expect(try scratch.open().allCounts() == situation.told)
  }

  @Test("The name counts where a frame file states another number")
  func names() throws {
    let scratch = try ThreeDScannerAppScratch(copyOf: "lidar")
    let before = try scratch.open().frames
    try scratch.replace("\"frame_index\" : 0", "\"frame_index\" : 7", in: "frame_00000.json")
    #expect(try scratch.open().frames == before)
  }

  @Test("Numbers may have more than five digits; they sort as numbers")
  func digits() throws {
    let scratch = try ThreeDScannerAppScratch(copyOf: "lidar")
    for name in ["frame_00009.json", "depth_00009.png", "conf_00009.png", "frame_00009.jpg"] {
      try scratch.rename(name, to: name.replacing("00009", with: "000009"))
    }
    let capture = try scratch.open()
    #expect(capture.frames.count == 10)
    #expect(capture.poses.value?.rows.last?.frame == 9)
    #expect(try scratch.open().allCounts().isEmpty)
  }

  @Test("Both keys count without hasGPS unless they are 0; false turns them off")
  func positions() throws {
    func geo(_ keys: String) throws -> GeoStream? {
      let scratch = try ThreeDScannerAppScratch(copyOf: "high")
      for frame in [1, 5] {
        try scratch.replace("\"hasGPS\" : true,", "", in: "frame_0000\(frame).json")
        try scratch.replace("\"latitude\"", "\"x\"", in: "frame_0000\(frame).json")
      }
      try scratch.replace("\"frame_index\"", "\(keys), \"frame_index\"", in: "frame_00002.json")
      return try scratch.open().geo.value
    }
    #expect(try geo("\"latitude\" : 1.5, \"longitude\" : 2")?.coverage == .frames([2]))
    #expect(try geo("\"latitude\" : 0, \"longitude\" : 0") == nil)
    #expect(try geo("\"hasGPS\" : false, \"latitude\" : 1.5, \"longitude\" : 2") == nil)
    let bare = try geo("\"hasGPS\" : true, \"latitude\" : 0, \"longitude\" : 0")
    #expect(bare?.coverage == .frames([2]))
    #expect(bare?.track.positions.first?.accuracy == nil)
  }
}
