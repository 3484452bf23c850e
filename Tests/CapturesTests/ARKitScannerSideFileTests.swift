@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import Testing

@Suite("Side files of ARKit-Scanner captures")
struct ARKitScannerSideFileTests {
  private static let identity =
    "[1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.5,0.25,-2e-05,1.0]"

  /// A current capture of `count` frames with times 1/60 s apart, changed by `change`, and opened.
  private func open(
    keys: [String] = ["99999.9", "100000.1", "99999.95"],
    _ change: (ARKitScannerFolder) throws -> Void = { _ in }
  ) throws -> Capture {
    let folder = try ARKitScannerFolder()
    func table(_ value: String) -> String {
      "{" + keys.map { "\"\($0)\":\"\(value)\"" }.joined(separator: ",") + "}"
    }
    try folder.write(table(Self.identity), to: "trans.json")
    try folder.write(table("[1500.5,0.0,0.0,0.0,1500.25,0.0,960.125,720.5,1.0]"), to: "intri.json")
    try folder.write(table("0.25"), to: "offset.json")
    let motion = (1...15).map { "\($0).0" }.joined(separator: ",")
    try folder.write("{\"99999.93\":\"[\(motion)]\"}", to: "imu.json")
    let record = ARKitScannerDepth.lz4(ARKitScannerDepth.picture(0))
    try folder.write(
      keys.flatMap { _ in ARKitScannerDepth.framed(record) }, to: "depth.bin")
    try folder.write(
      "{\n"
        + keys.map { "\"\($0)\": {\"ExposureTime\":0.01,\"ISOSpeedRatings\":[64]}" }
        .joined(separator: ",\n") + "\n}", to: "exif.json")
    try folder.write(
      #"{"scene_name":"a \/ \"b\"","scene_type":"x","color_width":"1920","color_height":"1440","#
        + #""depth_width":"256","depth_height":"192"}"#, to: "metadata.json")
    try change(folder)
    return try folder.open()
  }

  private func counts(_ capture: Capture) -> [String: Int] {
    capture.warnings.reduce(into: [:]) { $0["\($1.code.rawValue) \($1.subject)"] = $1.count }
  }

  @Test(
    "A side file of bytes that are no text costs itself alone",
    arguments: [
      Array("{".utf8) + [0xC3] + Array(#"a":"1"}"#.utf8), Array(#"{"a":-,"b":+"#.utf8),
      [0x7B, 0xFF, 0xFF],
    ])
  func noText(bytes: [UInt8]) throws {
    let capture = try open { try $0.write(bytes, to: "intri.json") }
    #expect(capture.intrinsics.error != nil)
    #expect(capture.poses.value?.rows.count == 3)
  }

  @Test("Keys sort as numbers and give exact nanoseconds")
  func keys() throws {
    let capture = try open()
    #expect(
      capture.frames.map(\.timestamp?.nanoseconds)
        == [99_999_900_000_000, 99_999_950_000_000, 100_000_100_000_000])
    #expect(capture.clock == CaptureClock(.uptime, unit: "s"))
    #expect(capture.scene.label == "a / \"b\"")
    #expect(capture.scene.type == "x")
    #expect(capture.intrinsics.value?.map(\.width) == [1920, 1920, 1920])
    #expect(counts(capture) == ["missing-file color": 1])
    let tie = try open(keys: ["5.0000000005", "1e1", "12.0000000014999"])
    #expect(
      tie.frames.map(\.timestamp?.nanoseconds) == [5_000_000_001, 10_000_000_000, 12_000_000_001])
  }

  @Test("Motion: five samples an entry, accelerations times standard gravity")
  func motion() throws {
    let stream = try #require(try open().imu.value)
    #expect(
      stream.sensors == ["magnetometer", "userAcceleration", "rotationRate", "gravity", "attitude"])
    let values = stream.samples.map { [$0.x, $0.y, $0.z] }
    let g = 9.80665
    #expect(
      values == [
        [7, 8, 9], [4 * g, 5 * g, 6 * g], [1, 2, 3], [13 * g, 14 * g, 15 * g], [10, 11, 12],
      ])
    #expect(stream.samples.allSatisfy { $0.timestamp.nanoseconds == 99_999_930_000_000 })
  }

  @Test("Motion that is missing, empty or damaged")
  func motionDamage() throws {
    #expect(counts(try open { try $0.remove("imu.json") })["imu-missing imu"] == 1)
    #expect(counts(try open { try $0.write("{}", to: "imu.json") })["imu-missing imu"] == 1)
    #expect(try open { try $0.write("{", to: "imu.json") }.imu.error != nil)
    let numbers = (1...15).map { $0 == 4 ? "nan" : $0 == 15 ? "-inf" : "\($0).0" }
    let list = "[\(numbers.joined(separator: ","))]"
    let damaged = try open {
      try $0.write(#"{"1.5":"\#(list)","2.5":"[1.0]","x":"\#(list)"}"#, to: "imu.json")
    }
    #expect(damaged.imu.value?.samples.count == 3)
    #expect(counts(damaged)["non-finite-value imu"] == 2)
    #expect(counts(damaged)["corrupt-record imu"] == 1)
    #expect(counts(damaged)["unknown-key imu.json"] == 1)
    let twice = try open {
      let list = "[\((1...15).map { "\($0)" }.joined(separator: ","))]"
      try $0.write(#"{"1.5":"\#(list)","1.50":"\#(list)"}"#, to: "imu.json")
    }
    #expect(twice.imu.value?.samples.count == 5)
    #expect(counts(twice)["timestamps-duplicate gravity"] == 1)
  }

  @Test("Poses: stored decimals, OpenCV axes, no row for what is not finite")
  func poses() throws {
    let capture = try open {
      let bad = Self.identity.replacing("0.25", with: "nan")
      let far = Self.identity.replacing("0.5,", with: "7.5,")
      try $0.write(
        #"{"1.0":"\#(Self.identity)","2.0":"\#(bad)","3.0":"[1.0]","3.1":"\#(far)"}"#,
        to: "trans.json")
    }
    let rows = try #require(capture.poses.value?.rows)
    #expect(rows.map(\.frame) == [0, 3])
    #expect(rows[0].pose.position == [0.5, 0.25, -2e-05])
    let q = rows[0].pose.orientation
    #expect([q.x, q.y, q.z, q.w] == [1, 0, 0, 0])
    #expect(capture.frames.count == 4)
    #expect(counts(capture)["non-finite-value poses"] == 1)
    #expect(counts(capture)["corrupt-record poses"] == 1)
    // 7 m in 2.1 s is no jump; in 0.1 s it is.
    #expect(counts(capture)["pose-jump poses"] == nil)
    let jump = try open {
      let far = Self.identity.replacing("0.5,", with: "7.5,")
      try $0.write(#"{"1.0":"\#(Self.identity)","1.1":"\#(far)"}"#, to: "trans.json")
    }
    #expect(counts(jump)["pose-jump poses"] == 1)
  }

  @Test("Other tables join by key")
  func join() throws {
    let capture = try open {
      try $0.write(#"{"100000.10":"-1.5","99999.9":"nan"}"#, to: "offset.json")
      try $0.write(
        "{\n\"99999.95\": {},\n\"99999.9\": {\"ExposureTime\":0.02}\n}", to: "exif.json")
      try $0.write(
        #"{"99999.95":"[1.0,0.0,0.0,0.0,2.0,0.0,3.0,inf,1.0]","100000.1":"[4,0,0,0,5,0,6,7,1]"}"#,
        to: "intri.json")
    }
    let settings = try #require(capture.cameraSettings.value?.rows)
    #expect(settings.map(\.frame) == [0, 1, 2])
    #expect(settings.map(\.exposureOffsetEV) == [nil, nil, -1.5])
    #expect(settings.map(\.exposureSeconds) == [0.02, nil, nil])
    #expect(settings.map(\.iso) == [nil, nil, nil])
    #expect(capture.intrinsics.value?.map(\.frame) == [2])
    #expect(capture.intrinsics.value?.map(\.cy) == [7])
    #expect(counts(capture)["non-finite-value intrinsics"] == 1)
    #expect(counts(capture)["missing-key intri.json"] == 1)
  }

  @Test("Frame numbers are at k/60 s on a nominal clock")
  func frameNumbers() throws {
    let capture = try open(keys: ["10", "9", "0", "1"]) {
      try $0.remove("exif.json")
      try $0.remove("intri.json")
      let motion = (1...15).map { "\($0).0" }.joined(separator: ",")
      try $0.write(#"{"9":"[\#(motion)]"}"#, to: "imu.json")
      try $0.write(#"{"intrinsic":"[1.0,0.0,0.0,0.0,2.0,0.0,3.0,4.0,1.0]"}"#, to: "metadata.json")
    }
    #expect(
      capture.frames.map(\.timestamp?.nanoseconds) == [0, 16_666_667]
        + [Int64?](repeating: nil, count: 7) + [150_000_000, 166_666_667])
    #expect(capture.clock.base == .nominal)
    #expect(capture.imu.value?.samples.first?.timestamp.nanoseconds == 150_000_000)
    #expect(counts(capture)["timestamps-missing frames"] == 11)
    #expect(capture.intrinsics.value?.count == 4)
    // Framed LZ4 with frame numbers is none of the known combinations; the bytes decide the layout.
    #expect(capture.depth.value?.description.encoding == "lz4-u16")
  }

  @Test("A gap is a step above one and a half median steps")
  func gaps() throws {
    let even = try open(keys: ["1.0", "1.1", "1.2", "1.35", "1.45"])
    #expect(counts(even)["frame-gap frames"] == nil)
    let gap = try open(keys: ["1.0", "1.1", "1.2", "1.3501", "1.45"])
    #expect(counts(gap)["frame-gap frames"] == 1)
    #expect(gap.depth.value?.description.gaps == 1)
  }

  @Test("Streams of other lengths are counted against the keys")
  func lengths() throws {
    let capture = try open {
      let depth = try $0.read("depth.bin")
      try $0.write(depth + depth, to: "depth.bin")
    }
    #expect(capture.frames.count == 6)
    #expect(counts(capture)["frame-count-mismatch depth"] == 3)
    #expect(capture.frames.map { $0.timestamp != nil } == [true, true, true, false, false, false])
    #expect(counts(capture)["timestamps-missing frames"] == nil)
  }

  @Test("A killed recording has the times of exif.json, by order")
  func killed() throws {
    func kill(_ exif: String?) throws -> Capture {
      try open {
        for name in ["trans.json", "intri.json", "offset.json", "imu.json", "metadata.json"] {
          try $0.remove(name)
        }
        if let exif { try $0.write(exif, to: "exif.json") } else { try $0.remove("exif.json") }
      }
    }
    let files = [
      "missing-file metadata.json": 1, "missing-file trans.json": 1, "missing-file intri.json": 1,
      "missing-file offset.json": 1, "imu-missing imu": 1, "calibration-missing color": 1,
      "missing-file color": 1,
    ]
    let cut = try kill("{\n\"1.0\": {\"ISOSpeedRatings\":[64]},\n\"1.1\": {},\n\"1.2\": {\"ISO")
    #expect(cut.frames.map(\.timestamp?.nanoseconds) == [1_000_000_000, 1_100_000_000, nil])
    #expect(
      counts(cut)
        == files.merging([
          "truncated-stream exif": 1, "pairing-approximate frames": 2,
          "timestamps-missing frames": 1,
        ]) { $1 })
    #expect(cut.cameraSettings.value == nil)
    #expect(cut.poses.value == nil)
    #expect(!cut.completeness.isWhole)
    let closed = try kill("{\n\"1.0\": {},\n\"1.1\": {},\n\"1.2\": {},\n\"1.3\": {}\n}")
    #expect(counts(closed) == files.merging(["pairing-approximate frames": 3]) { $1 })
    #expect(closed.frames.count == 3)
    let none = try kill(nil)
    #expect(counts(none) == files.merging(["timestamps-missing frames": 3]) { $1 })
    let empty = try kill("")
    #expect(
      counts(empty)
        == files.merging(["truncated-stream exif": 1, "timestamps-missing frames": 3]) { $1 })
  }

  @Test("Damaged lines of exif.json cost only themselves")
  func exifLines() throws {
    let capture = try open {
      try $0.write(
        "{\r\n\"99999.9\": {\"ISOSpeedRatings\":[64]},\r\n\"99999.95\": {#},\r\n"
          + "\"100000.1\": {\"ISOSpeedRatings\":50, \"ExposureTime\":\"x\"}\r\n}\r\n",
        to: "exif.json")
    }
    #expect(capture.cameraSettings.value?.rows.map(\.iso) == [64, nil, 50])
    #expect(counts(capture) == ["missing-file color": 1, "corrupt-record exif": 1])
  }

  @Test("An unreadable pose file fails the poses; the times come from another file")
  func unreadablePoses() throws {
    let capture = try open { try $0.write("{\"99999.9\":\"[", to: "trans.json") }
    #expect(capture.poses.error?.file.lastComponent?.string == "trans.json")
    #expect(capture.frames.count == 3)
    #expect(capture.frames.allSatisfy { $0.timestamp != nil })
    #expect(capture.cameraSettings.value?.rows.count == 3)
    #expect(!capture.completeness.isWhole)
  }

  @Test("Color sizes of the metadata are not checked without a video")
  func colorSize() throws {
    for (text, isWrong) in [("0", true), ("1920.0", false), ("x", true)] {
      let capture = try open {
        try $0.write(#"{"color_width":"\#(text)","color_height":"1440"}"#, to: "metadata.json")
      }
      #expect(counts(capture)["size-mismatch color"] == (isWrong ? 1 : nil))
      #expect(capture.alignment?.colorIntrinsics?.width == (isWrong ? nil : 1920))
    }
    let broken = try open { try $0.write("{", to: "metadata.json") }
    #expect(counts(broken)["corrupt-record metadata.json"] == 1)
  }
}
