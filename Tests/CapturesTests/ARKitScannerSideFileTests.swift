@testable import Captures
@testable import Core
import FoundationEssentials
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
    #expect(capture.warnings.countsBySubject == ["missing-file color": 1])
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
    #expect(try open { try $0.remove("imu.json") }.warnings.countsBySubject["imu-missing imu"] == 1)
    #expect(
      try open { try $0.write("{}", to: "imu.json") }.warnings.countsBySubject["imu-missing imu"]
        == 1)
    #expect(try open { try $0.write("{", to: "imu.json") }.imu.error != nil)
    let numbers = (1...15).map { $0 == 4 ? "nan" : $0 == 15 ? "-inf" : "\($0).0" }
    let list = "[\(numbers.joined(separator: ","))]"
    let damaged = try open {
      try $0.write(#"{"1.5":"\#(list)","2.5":"[1.0]","x":"\#(list)"}"#, to: "imu.json")
    }
    #expect(damaged.imu.value?.samples.count == 3)
    #expect(damaged.warnings.countsBySubject["non-finite-value imu"] == 2)
    #expect(damaged.warnings.countsBySubject["corrupt-record imu"] == 1)
    #expect(damaged.warnings.countsBySubject["unknown-key imu.json"] == 1)
    let twice = try open {
      let list = "[\((1...15).map { "\($0)" }.joined(separator: ","))]"
      try $0.write(#"{"1.5":"\#(list)","1.50":"\#(list)"}"#, to: "imu.json")
    }
    #expect(twice.imu.value?.samples.count == 5)
    #expect(twice.warnings.countsBySubject["timestamps-duplicate gravity"] == 1)
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
    #expect(capture.warnings.countsBySubject["non-finite-value poses"] == 1)
    #expect(capture.warnings.countsBySubject["corrupt-record poses"] == 1)
    // 7 m in 2.1 s is no jump; in 0.1 s it is.
    #expect(capture.warnings.countsBySubject["pose-jump poses"] == nil)
    let jump = try open {
      let far = Self.identity.replacing("0.5,", with: "7.5,")
      try $0.write(#"{"1.0":"\#(Self.identity)","1.1":"\#(far)"}"#, to: "trans.json")
    }
    #expect(jump.warnings.countsBySubject["pose-jump poses"] == 1)
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
    #expect(capture.warnings.countsBySubject["non-finite-value intrinsics"] == 1)
    #expect(capture.warnings.countsBySubject["missing-key intri.json"] == 1)
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
    #expect(capture.warnings.countsBySubject["timestamps-missing frames"] == 11)
    #expect(capture.intrinsics.value?.count == 4)
    // Framed LZ4 with frame numbers is none of the known combinations; the bytes decide the layout.
    #expect(capture.depth.value?.description.encoding == "lz4-u16")
    // Which of the records of eleven frames were never written is not recorded.
    #expect(capture.depth.value?.description.pairing?.isDoubtful == true)
  }

  struct NumberedCase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var keys: ClosedRange<Int>
    var without: Set<Int> = []
    var records: Int
    var frames: [Int]
    var told: [String: Int] = [:]
  }

  @Test(
    "Numbers of keys that begin with 0 or 1 and lack an end are told, and records that numbers say are missing",
    arguments: [
      NumberedCase(testDescription: "from 0", keys: 0...3, records: 4, frames: [0, 1, 2, 3]),
      NumberedCase(testDescription: "from 1", keys: 1...4, records: 4, frames: [0, 1, 2, 3]),
      NumberedCase(
        testDescription: "from 0 without the last", keys: 0...3, records: 5, frames: [0, 1, 2, 3]),
      NumberedCase(
        testDescription: "the first of 0 or the last of 1 is lost", keys: 1...4, records: 5,
        frames: [1, 2, 3, 4], told: ["frames": 4]),
      NumberedCase(
        testDescription: "a key and a record are lost", keys: 0...4, without: [3], records: 4,
        frames: [0, 1, 2, 4], told: ["depth": 4]),
    ])
  func bases(_ expected: NumberedCase) throws {
    let keys = expected.keys.filter { !expected.without.contains($0) }
    let capture = try open(keys: keys.map { "\($0)" }) {
      try $0.remove("exif.json")
      try $0.remove("intri.json")
      try $0.write(#"{"intrinsic":"[1.0,0.0,0.0,0.0,2.0,0.0,3.0,4.0,1.0]"}"#, to: "metadata.json")
      let record = ARKitScannerDepth.lz4(ARKitScannerDepth.picture(0))
      try $0.write(
        (0..<expected.records).flatMap { _ in ARKitScannerDepth.framed(record) }, to: "depth.bin")
    }
    #expect(capture.poses.value?.rows.map(\.frame) == expected.frames)
    let told = capture.warnings.filter { $0.code == .pairingApproximate }
    #expect(told.reduce(into: [:]) { $0[$1.subject, default: 0] += $1.count } == expected.told)
  }

  @Test("A gap is a step above one and a half median steps")
  func gaps() throws {
    let even = try open(keys: ["1.0", "1.1", "1.2", "1.35", "1.45"])
    #expect(even.warnings.countsBySubject["frame-gap frames"] == nil)
    let gap = try open(keys: ["1.0", "1.1", "1.2", "1.3501", "1.45"])
    #expect(gap.warnings.countsBySubject["frame-gap frames"] == 1)
    #expect(gap.depth.value?.description.gaps == 1)
  }

  @Test("Streams of other lengths are counted against the keys")
  func lengths() throws {
    let capture = try open {
      let depth = try $0.bytes(of: "depth.bin")
      try $0.write(depth + depth, to: "depth.bin")
    }
    #expect(capture.frames.count == 6)
    #expect(capture.warnings.countsBySubject["frame-count-mismatch depth"] == 3)
    #expect(capture.frames.map { $0.timestamp != nil } == [true, true, true, false, false, false])
    #expect(capture.warnings.countsBySubject["timestamps-missing frames"] == nil)
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
      cut.warnings.countsBySubject
        == files.merging([
          "truncated-stream exif": 1, "pairing-approximate frames": 2,
          "timestamps-missing frames": 1,
        ]) { $1 })
    let dense = try kill("{\"1.0\": {\"ISOSpeedRatings\":[64]},\n\"1.1\": {},\n\"1.2\": {\"ISO")
    #expect(dense.frames == cut.frames)
    #expect(dense.warnings == cut.warnings)
    #expect(cut.cameraSettings.value == nil)
    #expect(cut.poses.value == nil)
    #expect(!cut.completeness.isWhole)
    let closed = try kill("{\n\"1.0\": {},\n\"1.1\": {},\n\"1.2\": {},\n\"1.3\": {}\n}")
    #expect(
      closed.warnings.countsBySubject == files.merging(["pairing-approximate frames": 3]) { $1 })
    #expect(closed.frames.count == 3)
    let none = try kill(nil)
    #expect(none.warnings.countsBySubject == files.merging(["timestamps-missing frames": 3]) { $1 })
    let empty = try kill("")
    #expect(
      empty.warnings.countsBySubject
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
    #expect(
      capture.warnings.countsBySubject == ["missing-file color": 1, "corrupt-record exif": 1])
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
      #expect(capture.warnings.countsBySubject["size-mismatch color"] == (isWrong ? 1 : nil))
      #expect(capture.alignment?.colorIntrinsics?.width == (isWrong ? nil : 1920))
    }
    let broken = try open { try $0.write("{", to: "metadata.json") }
    #expect(broken.warnings.countsBySubject["corrupt-record metadata.json"] == 1)
  }
}

@Suite("Released ScanNet++ folders")
struct ARKitScannerReleaseTests {
  private static let rows = "[[1,0,0,0.5],[0,1,0,0.25],[0,0,1,-2],[0,0,0,1]]"
  private static let motion =
    #"{"rotate_rate":[1,2,3],"acceleration":[1,0,0],"gravity":[0,-1,0],"magnet":[9,9,9]}"#

  private func open(_ json: String, exif: String? = nil) throws -> Capture {
    let folder = try ARKitScannerFolder(named: "iphone")
    try folder.write(json, to: "pose_intrinsic_imu.json")
    if let exif { try folder.write(exif, to: "exif.json") }
    let record = ARKitScannerDepth.lz4(ARKitScannerDepth.picture(0))
    try folder.write(
      ARKitScannerDepth.framed(record) + ARKitScannerDepth.framed(record), to: "depth.bin")
    return try folder.open()
  }

  private func frame(_ number: Int, _ fields: String) -> String {
    let digits = String(number)
    return "\"frame_" + String(repeating: "0", count: 6 - digits.count) + digits + "\":{\(fields)}"
  }

  @Test("Aligned poses are used as they are, intrinsics by rows, times digit by digit")
  func aligned() throws {
    let first = frame(
      0,
      #""timestamp":24680.12500166628,"pose":\#(Self.rows),"aligned_pose":\#(Self.rows),"#
        + #""intrinsic":[[1500.5,0,960.25],[0,1500.75,720.5],[0,0,1]],"imu":\#(Self.motion)"#)
    let second = frame(10, #""timestamp":24680.3,"aligned_pose":\#(Self.rows)"#)
    let capture = try open("{\(second),\(first)}")
    #expect(
      capture.frames.map(\.timestamp?.nanoseconds) == [24_680_125_001_666]
        + [Int64?](repeating: nil, count: 9) + [24_680_300_000_000])
    let pose = try #require(capture.poses.value?.rows.first?.pose)
    #expect(pose.position == [0.5, 0.25, -2])
    #expect(pose.orientation.w == 1)
    let row = try #require(capture.intrinsics.value?.first)
    #expect([row.fx, row.fy, row.cx, row.cy] == [1500.5, 1500.75, 960.25, 720.5])
    #expect(capture.imu.value?.sensors == ["userAcceleration", "rotationRate", "gravity"])
    #expect(capture.imu.value?.samples.map(\.x) == [9.80665, 1, 0])
    #expect(capture.generation == "scannetpp")
    #expect(capture.warnings.countsBySubject["unknown-key"] == nil)
  }

  @Test("The app's own poses count only where no aligned one exists, and then by rows")
  func ownPoses() throws {
    let own = try open("{\(frame(0, #""timestamp":1,"pose":\#(Self.rows)"#))}")
    let pose = try #require(own.poses.value?.rows.first?.pose)
    #expect(pose.position == [0.5, 0.25, -2])
    // ARKit's axes: half a turn about x.
    #expect(pose.orientation.x == 1)
    let both = try open(
      "{" + frame(0, #""timestamp":1,"pose":\#(Self.rows)"#) + ","
        + frame(1, #""timestamp":2,"aligned_pose":\#(Self.rows)"#) + "}")
    #expect(both.poses.value?.rows.map(\.frame) == [1])
  }

  @Test("Python's NaN is read; such a pose has no row")
  func pythonNaN() throws {
    let rows = Self.rows.replacing("0.25", with: "NaN")
    let capture = try open(
      "{" + frame(0, #""timestamp":1,"aligned_pose":\#(rows)"#) + ","
        + frame(1, #""timestamp":2,"aligned_pose":\#(Self.rows)"#) + "}")
    #expect(capture.poses.value?.rows.map(\.frame) == [1])
    #expect(capture.warnings.countsBySubject["non-finite-value poses"] == 1)
  }

  @Test("Members of another shape cost only themselves")
  func oddShapes() throws {
    let capture = try open(
      "{" + frame(0, #""timestamp":"x","aligned_pose":[[1]],"intrinsic":5,"imu":[]"#) + ","
        + frame(1, #""timestamp":2,"aligned_pose":\#(Self.rows)"#) + ","
        + frame(2, #""timestamp":"3.5","aligned_pose":[1,0,0,0.5]"#) + ","
        + frame(3, #""timestamp":4,"aligned_pose":null"#) + #","other":{}}"#)
    #expect(
      capture.frames.map { $0.timestamp?.nanoseconds }
        == [nil, 2_000_000_000, 3_500_000_000, 4_000_000_000])
    #expect(capture.poses.value?.rows.map(\.frame) == [1])
    #expect(capture.warnings.countsBySubject["corrupt-record poses"] == 2)
    #expect(capture.warnings.countsBySubject["unknown-key pose_intrinsic_imu.json"] == 1)
    #expect(capture.warnings.countsBySubject["timestamps-missing frames"] == 1)
  }

  @Test(
    "Entries without a time that can be read are told",
    arguments: [
      #""timestamp":"24680,5""#, #""timestamp":null"#, #""timestamp":NaN"#, #""other":5"#,
    ])
  func timesThatCannotBeRead(time: String) throws {
    let entries = (0..<3).map { frame($0, time + #","aligned_pose":\#(Self.rows)"#) }
    let capture = try open("{" + entries.joined(separator: ",") + "}")
    #expect(capture.frames.allSatisfy { $0.timestamp == nil })
    #expect(capture.warnings.countsBySubject["timestamps-missing frames"] == 3)
    #expect(capture.poses.value?.rows.map(\.frame) == [0, 1, 2])
  }

  @Test(
    "Exposures are keyed by frame name, or in frame order",
    arguments: [
      #"{"frame_000001":{"ISOSpeedRatings":[50]},"frame_000000":{"ISOSpeedRatings":[64]}}"#,
      #"[{"ISOSpeedRatings":["64"]},{"ISOSpeedRatings":[50]}]"#,
      "{\n\"99999.9\": {\"ISOSpeedRatings\":[64]},\n\"100000.1\": {\"ISOSpeedRatings\":[50]}\n}",
    ])
  func exposures(exif: String) throws {
    let capture = try open(
      "{" + frame(0, #""timestamp":1"#) + "," + frame(1, #""timestamp":2"#) + "}", exif: exif)
    #expect(capture.cameraSettings.value?.rows.map(\.iso) == [64, 50])
  }
}

@Suite("Property lists of the first ARKit-Scanner generations")
struct ARKitScannerPropertyListTests {
  private func list(_ numbers: [String]) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <array>
    \(numbers.map { "\t<real>\($0)</real>" }.joined(separator: "\n"))
    </array>
    </plist>

    """
  }

  private let pose = [
    "1", "0", "0", "0", "0", "1", "0", "0", "0", "0", "1", "0", "0.5", "0.25", "-2e-05", "1",
  ]

  private func folder() throws -> ARKitScannerFolder {
    let folder = try ARKitScannerFolder()
    for time in ["99999.9", "100000.1"] {
      try folder.write(list(pose), to: "\(time)_trans.xml")
      try folder.write("0.25\n", to: "\(time)_offset.txt")
    }
    try folder.write(list((1...15).map { "\($0).5" }), to: "99999.95_imu.xml")
    try folder.write(list(["7.5", "0", "0", "0", "8.5", "0", "9.5", "10.5", "1"]), to: "intri.xml")
    try folder.write("0.016666666666666666", to: "dura.txt")
    try folder.write(
      ARKitScannerDepth.meters(ARKitScannerDepth.picture(0)), to: "depthBufferSequence.bin")
    return folder
  }

  @Test(
    "A list of bytes that are no text costs itself alone", arguments: [UInt8(0xF9), 0xC3, 0x80])
  func noText(byte: UInt8) throws {
    let folder = try folder()
    let list = "<plist version=\"1.0\"><array><integer>"
    try folder.write(
      Array(list.utf8) + [byte] + Array("1</integer></array></plist>".utf8), to: "intri.xml")
    let capture = try folder.open()
    #expect(capture.intrinsics.error != nil)
    #expect(capture.poses.value?.rows.count == 2)
  }

  @Test("One file per frame and value makes the same tables")
  func whole() throws {
    let capture = try folder().open()
    #expect(capture.generation == "g1")
    #expect(
      capture.frames.map(\.timestamp?.nanoseconds) == [99_999_900_000_000, 100_000_100_000_000])
    #expect(
      capture.poses.value?.rows.map(\.pose.position) == [
        [0.5, 0.25, -2e-05], [0.5, 0.25, -2e-05],
      ])
    #expect(capture.intrinsics.value?.map(\.cx) == [9.5, 9.5])
    #expect(capture.cameraSettings.value?.rows.map(\.exposureOffsetEV) == [0.25, 0.25])
    #expect(capture.imu.value?.samples.count == 5)
    #expect(capture.imu.value?.samples.first?.timestamp.nanoseconds == 99_999_950_000_000)
    #expect(capture.files[.poses]?.count == 2)
    #expect(
      capture.warnings.countsBySubject == [
        "missing-file color": 1, "frame-count-mismatch depth": 1,
      ])
  }

  @Test(
    "Files whose names are no times are counted, some of them and all", arguments: [false, true])
  func otherNames(areAll: Bool) throws {
    let folder = try folder()
    if areAll {
      for time in ["99999.9", "100000.1"] {
        try FileManager.default.removeItem(
          atPath: folder.path.appending("\(time)_trans.xml").string)
      }
    }
    for name in ["first", "second"] { try folder.write(list(pose), to: "\(name)_trans.xml") }
    let told = try folder.open().warnings.countsBySubject
    #expect(told["unknown-key _trans.xml"] == (areAll ? nil : 2))
    #expect(told["corrupt-record poses"] == (areAll ? 2 : nil))
  }

  @Test("Non-finite and malformed lists cost their own row")
  func damaged() throws {
    let folder = try folder()
    try folder.write(list(pose.map { $0 == "0.25" ? "nan" : $0 }), to: "99999.9_trans.xml")
    try folder.write("<plist><array><real>1</real>", to: "100000.1_trans.xml")
    try folder.write("not a number", to: "99999.9_offset.txt")
    let capture = try folder.open()
    #expect(capture.poses.value?.rows.isEmpty ?? false)
    #expect(capture.warnings.countsBySubject["non-finite-value poses"] == 1)
    #expect(capture.warnings.countsBySubject["corrupt-record poses"] == 1)
    #expect(capture.cameraSettings.value?.rows.map(\.exposureOffsetEV) == [nil, 0.25])
  }

  @Test("Tags nested without end do not exhaust the stack, other forms are not read")
  func hostile() throws {
    for text in [
      String(repeating: "<array>", count: 9000),
      "<plist>" + String(repeating: "<array>", count: 9000),
      "<plist>" + String(repeating: "<dict>", count: 9000), "bplist00", "(1, 2, 3)",
      "<plist>" + String(repeating: "x", count: 70_000), "",
    ] {
      let folder = try folder()
      try folder.write(text, to: "99999.9_trans.xml")
      let code = text.isEmpty ? "empty-record" : "corrupt-record"
      #expect(try folder.open().warnings.countsBySubject["\(code) poses"] == 1)
    }
  }

  @Test("Absent side files are named")
  func missing() throws {
    let folder = try folder()
    for name in folder.names where name.hasSuffix(".xml") || name.hasSuffix(".txt") {
      try folder.remove(name)
    }
    let capture = try folder.open()
    #expect(
      capture.warnings.countsBySubject == [
        "missing-file trans.xml": 1, "missing-file offset.txt": 1, "missing-file intri.xml": 1,
        "missing-file color": 1, "imu-missing imu": 1, "calibration-missing color": 1,
        "timestamps-missing frames": 1,
      ])
  }
}
