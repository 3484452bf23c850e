@testable import Captures
@testable import Core
import SystemPackage
import Testing

@Suite("Side files of ARKit-Scanner captures that lost entries")
struct ARKitScannerLostEntriesTests {
  private static let count = 12
  private static let names = ["trans.json", "intri.json", "offset.json", "imu.json"]

  private static func key(_ frame: Int) -> String { "\(5000 + Double(frame) / 4)" }

  /// A table in an order that is not that of the frames, as the app writes it.
  private static func table(_ keys: [String], _ value: String) -> String {
    let shuffled = keys.indices.sorted { ($0 * 7 % 12) < ($1 * 7 % 12) }
    return "{" + shuffled.map { "\"\(keys[$0])\":\"\(value)\"" }.joined(separator: ",") + "}"
  }

  /// Twelve frames a quarter of a second apart; `keys` of each table, `change` of its text.
  private func open(
    keys: [String: [String]] = [:], _ change: (String, String) -> String? = { $1 }
  ) throws -> (capture: Capture, warnings: [String: Int]) {
    let folder = try ARKitScannerFolder()
    let whole = (0..<Self.count).map(Self.key)
    let values = [
      "trans.json": "[1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.5,0.25,0.0,1.0]",
      "intri.json": "[1500.5,0.0,0.0,0.0,1500.25,0.0,960.125,720.5,1.0]", "offset.json": "0.25",
      "imu.json": "[\((1...15).map { "\($0).0" }.joined(separator: ","))]",
    ]
    for name in Self.names {
      if let text = change(name, Self.table(keys[name] ?? whole, values[name] ?? "")) {
        try folder.write(text, to: name)
      }
    }
    let record = ARKitScannerDepth.framed(ARKitScannerDepth.lz4(ARKitScannerDepth.picture(0)))
    try folder.write((0..<Self.count).flatMap { _ in record }, to: "depth.bin")
    try folder.write("{}", to: "exif.json")
    try folder.write("{\"scene_name\":\"x\"}", to: "metadata.json")
    let capture = try folder.open()
    // The motion is the numbers 1 to 15.
    let warnings = capture.warnings.filter { $0.subject != "color" && $0.code != .implausibleUnit }
    return (capture, warnings.countsBySubject)
  }

  private var times: [Int64?] {
    (0..<Self.count).map { 5_000_000_000_000 + Int64($0) * 250_000_000 }
  }

  private func cut(_ text: String, to share: Double) -> String {
    String(text.prefix(Int(Double(text.count) * share)))
  }

  @Test(
    "The keys of a pose file that breaks off are those of the other files",
    arguments: [
      0.05, 0.2, 0.5, 0.9, 0.999,
    ])
  func cutPoses(share: Double) throws {
    let (capture, warnings) = try open { name, text in
      name == "trans.json" ? cut(text, to: share) : text
    }
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == times)
    #expect(capture.intrinsics.value?.count == Self.count)
    #expect(capture.cameraSettings.value?.rows.count == Self.count)
    if capture.poses.error == nil {
      let poses = try #require(capture.poses.value)
      #expect(!poses.rows.isEmpty && poses.rows.count <= Self.count)
      #expect(warnings == ["truncated-stream poses": 1])
    } else {
      #expect(share < 0.1)
    }
  }

  @Test(
    "Any other file that breaks off keeps its complete entries at their frames",
    arguments: [
      ("intri.json", "truncated-stream intrinsics"),
      ("offset.json", "truncated-stream cameraSettings"),
      ("imu.json", "truncated-stream imu"),
    ])
  func cutOthers(name: String, warning: String) throws {
    let (capture, warnings) = try open { $0 == name ? cut($1, to: 0.6) : $1 }
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == times)
    #expect(warnings == [warning: 1])
    #expect(capture.poses.value?.rows.count == Self.count)
    #expect(!capture.completeness.isWhole)
  }

  @Test("A pose file alone that breaks off: which entries are lost is not known, and it is said")
  func cutAlone() throws {
    let (capture, warnings) = try open { name, text in
      name == "trans.json" ? cut(text, to: 0.5) : name == "imu.json" ? text : nil
    }
    let poses = try #require(capture.poses.value)
    #expect(warnings["truncated-stream poses"] == 1)
    #expect(warnings["pairing-approximate frames"] == poses.rows.count)
  }

  @Test("A key of another time moves no frame", arguments: ["7", "-5", "99999999.5", "9e8"])
  func farOffPose(key: String) throws {
    var keys = (0..<Self.count).map(Self.key)
    keys[4] = key
    let (capture, warnings) = try open(keys: ["trans.json": keys])
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == times)
    #expect(capture.poses.value?.rows.map(\.frame) == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11])
    #expect(warnings == ["corrupt-record poses": 1])
  }

  @Test("A key that is of another time in every file leaves its place empty")
  func farOffEverywhere() throws {
    var keys = (0..<Self.count).map(Self.key)
    keys[4] = "7.25"
    let (capture, warnings) = try open(
      keys: ["trans.json": keys, "intri.json": keys, "offset.json": keys, "imu.json": keys])
    var expected = times
    expected[4] = nil
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == expected)
    #expect(
      warnings == [
        "corrupt-record poses": 1, "corrupt-record intrinsics": 1,
        "corrupt-record cameraSettings": 1, "corrupt-record imu": 1, "missing-key intri.json": 1,
      ])
    #expect(capture.imu.value?.samples.count == 11 * 5)
  }

  @Test(
    "A table of which nothing can be read is told, and counted as lost",
    arguments: [
      ("trans.json", "poses"), ("intri.json", "intrinsics"), ("offset.json", "cameraSettings"),
      ("imu.json", "imu"),
    ])
  func noKeys(name: String, stream: String) throws {
    let unreadable = (0..<Self.count).map { "frame \($0)" }
    let (keyless, told) = try open(keys: [name: unreadable])
    #expect(told["corrupt-record \(stream)"] == Self.count)
    #expect(keyless.warnings.withoutNotes.contains { $0.code == .corruptRecord })
    let (valueless, _) = try open {
      $0 == name ? Self.table((0..<Self.count).map(Self.key), "x") : $1
    }
    for capture in [keyless, valueless] {
      #expect(capture.claims.lacking.first { $0.stream == stream }?.held == 0)
    }
  }

  @Test(
    "Where no side file has a key that can be read the poses are lost, and no message says killed")
  func noKeysAnywhere() throws {
    let unreadable = (0..<Self.count).map { "frame \($0)" }
    let keys = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, unreadable) })
    let (capture, warnings) = try open(keys: keys)
    for stream in ["poses", "intrinsics", "cameraSettings", "imu"] {
      #expect(warnings["corrupt-record \(stream)"] == Self.count)
    }
    #expect(capture.claims.lacking.first { $0.stream == "poses" }?.lost == Self.count)
    #expect(!capture.warnings.contains { $0.message.contains("killed") })
  }

  @Test(
    "A pose that mirrors, or is written by rows, is no pose",
    arguments: [
      "[-1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.0,0.0,0.0,1.0,0.0,0.5,0.25,0.0,1.0]",
      "[1.0,0.0,0.0,0.5,0.0,1.0,0.0,0.25,0.0,0.0,1.0,0.0,0.0,0.0,0.0,1.0]",
    ])
  func noRotation(matrix: String) throws {
    let (capture, warnings) = try open { name, text in
      name == "trans.json" ? Self.table((0..<Self.count).map(Self.key), matrix) : text
    }
    #expect(capture.poses.value?.rows.isEmpty == true)
    #expect(warnings == ["corrupt-record poses": 12])
  }

  @Test(
    "Color depends on the other streams where the counter of its pictures does not tell their frames"
  )
  func parts() throws {
    let whole = MadeCapture(family: "arkit-scanner", generation: "g6")
    let scratch = try ScratchCapture(copyOf: try whole.folder())
    #expect(
      try scratch.open().files[.color]?.compactMap { $0.lastComponent?.string } == ["rgb.mp4"])
    let uneven = MadeCapture(family: "multiscan", generation: "ios-lidar", faults: ["gap"])
    let other = try ScratchCapture(copyOf: try uneven.folder())
    let movie = try #require(other.names.first { $0.hasSuffix(".mp4") })
    try scratch.write(try other.bytes(of: movie), to: "rgb.mp4")
    let files = try scratch.open().files
    #expect(files[.color] == files[.frames])
  }

  @Test(
    "Frames depend on the file whose keys number them where there are no poses",
    arguments: [nil, "{}"])
  func keysOfOtherTables(poses: String?) throws {
    let whole = MadeCapture(family: "arkit-scanner", generation: "g3")
    let scratch = try ScratchCapture(copyOf: try whole.folder())
    if let poses {
      try scratch.write(poses, to: "trans.json")
    } else {
      try scratch.remove("trans.json")
    }
    let names = try scratch.open().files[.frames]?.compactMap { $0.lastComponent?.string } ?? []
    #expect(names.contains("offset.json"))
  }
}
