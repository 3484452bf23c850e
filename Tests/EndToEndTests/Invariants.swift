import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

/// What must hold of the results of any capture of any family, whatever was wrong with it. No truth of
/// the capture is needed: files, tables, counts and records are held against each other.
struct Invariants {
  let folder: FilePath
  private let document: [String: Any]
  private let frames: Table?

  /// - Parameter folder: the capture's folder in the output.
  init(_ folder: FilePath) throws {
    self.folder = folder
    document = try Self.object(folder.appending("capture.json"))
    frames = try Self.table(folder.appending("tables").appending("frames.csv"))
  }

  /// Checks all of them.
  func check() throws {
    try checkArtifacts()
    try checkColorCount()
    try checkFramesTable()
    try checkSizes()
    for name in ["poses", "intrinsics", "camera_settings", "geo"] { try checkFrameColumn(name) }
    try checkIMU()
  }

  /// Every artifact holds exactly what its record lists, byte for byte.
  private func checkArtifacts() throws {
    for stage in try FileSystem.names(in: folder) where !stage.hasPrefix(".") {
      let place = folder.appending(stage)
      guard FileSystem.isFolder(place) else { continue }
      let record = try Self.object(place.appending("artifact.json"))
      let outputs = try record.objects("outputs")
      var listed: Set<String> = ["artifact.json"]
      for output in outputs {
        let path = try #require(output["path"] as? String)
        #expect(listed.insert(path).inserted, "\(stage) lists \(path) once")
        let file = place.appending(FilePath(path).components)
        #expect(try Digest(ofFileAt: file).hex == output["sha256"] as? String, "\(stage)/\(path)")
      }
      #expect(try Set(Self.files(in: place)) == listed, "\(stage) holds what it lists")
    }
  }

  /// Pictures written = pictures counted, less those reported as lost. A picture that was patched up is
  /// reported and kept: reports bound the difference.
  private func checkColorCount() throws {
    guard FileSystem.exists(folder.appending("color").appending("artifact.json")),
      let color = document["streams", "color"] as? [String: Any],
      let counted = color["frames"] as? Int,
      try isComplete("color")
    else { return }
    let record = try Self.object(folder.appending("color").appending("artifact.json"))
    let written = try pictures("color").count
    let reported = ["corrupt-record", "empty-record", "size-mismatch"].reduce(0) {
      $0 + Self.count($1, subject: "color", in: [document, record])
    }
    #expect(written <= counted)
    #expect(
      written >= counted - reported, "\(counted) pictures counted, \(reported) reported as damaged")
  }

  /// One row per canonical frame in order; path cells name exactly the pictures that exist.
  private func checkFramesTable() throws {
    guard let frames else { return }
    #expect(frames["frame"] == (0..<frames.rows.count).map(String.init))
    for stage in ["color", "depth", "confidence", "aligned"] {
      let named = frames[stage].filter { !$0.isEmpty }
      #expect(Set(named).count == named.count, "\(stage) names each picture once")
      let there = try pictures(stage).map { "\(stage)/\($0)" }
      #expect(named.sorted() == there, "frames.csv names the pictures in \(stage)/")
      for (row, cell) in frames[stage].enumerated() where !cell.isEmpty {
        #expect(Self.number(cell) == row, "\(cell) stands in row \(row)")
      }
    }
  }

  /// Pictures, tables and description agree on sizes.
  private func checkSizes() throws {
    let changes = Self.count("size-mismatch", subject: "color", in: [document])
    let sizes = try Dictionary(
      grouping: pictures("color").filter { $0.hasSuffix(".png") }
        .map { try Self.size(ofPNG: folder.appending("color").appending($0)) }, by: { $0 }
    ).mapValues(\.count)
    if changes == 0 { #expect(sizes.count <= 1, "one size of pictures unless reported") }
    guard let usual = sizes.max(by: { $0.value < $1.value })?.key else { return }
    if changes == 0, let color = document["streams", "color"] as? [String: Any] {
      #expect([color["width"] as? Int, color["height"] as? Int] == usual.map(Optional.init))
    }
    if let intrinsics = try Self.table(
      folder.appending("tables").appending("intrinsics.csv")), changes == 0
    {
      for (width, height) in zip(intrinsics["width"], intrinsics["height"]) where !width.isEmpty {
        #expect([Int(width), Int(height)] == usual.map(Optional.init))
      }
    }
    let record = try? Self.object(folder.appending("aligned").appending("artifact.json"))
    let grid = (record?["parameters"] as? [String: Any])?["grid"] as? String
    for name in try pictures("aligned").prefix(1) where changes == 0 && grid != "depth" {
      #expect(try Self.size(ofPNG: folder.appending("aligned").appending(name)) == usual)
    }
    for name in try pictures("confidence").prefix(1) {
      guard let depth = try pictures("depth").first else { continue }
      #expect(
        try Self.size(ofPNG: folder.appending("confidence").appending(name))
          == Self.size(ofPNG: folder.appending("depth").appending(depth)))
    }
  }

  /// Rows of a table by frame ascend and name canonical frames.
  private func checkFrameColumn(_ name: String) throws {
    guard let frames,
      let table = try Self.table(folder.appending("tables").appending("\(name).csv"))
    else { return }
    let numbers = table["frame"].compactMap { Int($0) }
    #expect(numbers.count == table.rows.count)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(name) ascends")
    #expect(numbers.allSatisfy { (0..<frames.rows.count).contains($0) }, "\(name) in range")
    for row in table.rows {
      #expect(!row.contains { ["nan", "inf", "-nan", "-inf"].contains($0.lowercased()) })
      #expect(row.count == table.columns.count)
    }
    guard table.columns.contains("timestamp_ns") else { return }
    for (frame, time) in zip(numbers, table["timestamp_ns"]) {
      #expect(time == frames["timestamp_ns"][frame], "\(name) of frame \(frame)")
    }
  }

  /// Samples ascend in time; rows and counts of each frame agree.
  private func checkIMU() throws {
    let place = folder.appending("imu")
    guard let samples = try Self.table(place.appending("imu.csv")) else { return }
    let times = samples["timestamp_ns"].compactMap { Int64($0) }
    #expect(times.count == samples.rows.count)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }, "imu.csv ascends")
    let kinds = Set(samples["sensor_type"])
    let keys = zip(samples["timestamp_ns"], samples["sensor_type"]).map { "\($0) \($1)" }
    #expect(Set(keys).count == keys.count, "one sample per sensor and time")
    guard let counts = try Self.table(place.appending("frame_imu_counts.csv")),
      let matches = try Self.table(place.appending("frame_imu.csv"))
    else { return }
    var found: [String: Int] = [:]
    for row in matches.rows { found["\(row[0]) \(row[4])", default: 0] += 1 }
    var told: [String: Int] = [:]
    for row in counts.rows {
      #expect(kinds.contains(row[2]))
      told["\(row[0]) \(row[2])"] = Int(row[3])
    }
    #expect(told.filter { $0.value > 0 } == found, "counts are those of the rows")
    if let frames {
      let timed = frames["timestamp_ns"].filter { !$0.isEmpty }.count
      #expect(told.count == timed * kinds.count, "one count per timed frame and sensor")
    }
  }

  // MARK: Reading

  /// Whether a stage made all pictures: no selection of frames.
  private func isComplete(_ stage: String) throws -> Bool {
    guard let record = try? Self.object(folder.appending(stage).appending("artifact.json")) else {
      return false
    }
    let parameters = record["parameters"] as? [String: Any] ?? [:]
    let every = parameters["every"] as? Int ?? 1
    return every == 1 && !(parameters["first"] is Int && parameters["first"] as? Int != 0)
      && !(parameters["last"] is Int)
  }

  private func pictures(_ stage: String) throws -> [String] {
    let place = folder.appending(stage)
    guard FileSystem.isFolder(place) else { return [] }
    return try FileSystem.names(in: place).filter { $0.hasSuffix(".png") || $0.hasSuffix(".jpg") }
      .sorted()
  }

  private static func number(_ cell: String) -> Int? {
    cell.split(separator: "/").last?.split(separator: ".").first.flatMap { Int($0) }
  }

  private static func count(
    _ code: String, subject: String, in objects: [[String: Any]]
  ) -> Int {
    objects.map { object in
      (object["warnings"] as? [[String: Any]] ?? [])
        .filter { $0["code"] as? String == code && $0["subject"] as? String == subject }
        .reduce(0) { $0 + ($1["count"] as? Int ?? 0) }
    }.max() ?? 0
  }

  private static func object(_ file: FilePath) throws -> [String: Any] {
    let data = try file.data()
    return try data.json()
  }

  private static func table(_ file: FilePath) throws -> Table? {
    FileSystem.exists(file) ? try Table(file) : nil
  }

  /// Width and height, from the head of the file.
  private static func size(ofPNG file: FilePath) throws -> [Int] {
    let handle = try FileHandle(forReadingFrom: URL(filePath: file.string))
    defer { try? handle.close() }
    let head = try [UInt8](#require(try handle.read(upToCount: 24)))
    try #require(head.count == 24)
    return [16, 20].map { at in head[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
  }

  private static func files(in folder: FilePath, under prefix: String = "") throws -> [String] {
    try FileSystem.names(in: folder).flatMap { name in
      let path = folder.appending(name)
      return FileSystem.isFolder(path)
        ? try files(in: path, under: prefix + name + "/") : [prefix + name]
    }
  }
}

@Suite("Exports of fixtures of all families", .runsPrograms, .enabled(if: Fixtures.arePresent))
struct ExportFixtureTests {
  @Test(
    "Every case gives a right export of what is left, with counts, or a reason",
    arguments: Rounds.every(5, of: FixtureTests.all))
  func everyCase(_ fixture: FixtureCase) throws {
    let output = try TemporaryFolder()
    let arguments = [
      "run", fixture.input.string, "--output", output.path.string, "--pipeline", "exports",
    ]
    let result = try Program.run("\(arguments) --json")
    let capture = try result.json().capture()
    let stages = try capture.objects("stages")
    let folder = output.path.appending(try #require(capture["id"] as? String))
    var failed: Set<String> = []
    for stage in stages {
      let name = stage["stage"] as? String ?? ""
      let message = stage["message"] as? String ?? ""
      let isThere = FileSystem.exists(folder.appending(name).appending("artifact.json"))
      switch stage["outcome"] as? String {
      case "made": break
      case "not-possible":
        #expect(!message.isEmpty, "\(name) says why")
        #expect(!FileSystem.exists(folder.appending(name)), "\(name) has no folder")
      case "failed", "blocked":
        failed.insert(name)
        #expect(!message.isEmpty, "\(name) says why")
        if name.hasPrefix("export-") { #expect(!isThere, "\(name): \(message)") }
      default: Issue.record("\(name): \(stage["outcome"] ?? "")")
      }
    }
    // Exports fail only where a stream is there that cannot be read.
    let exports = failed.filter { $0.hasPrefix("export-") }
    let streams = try folder.appending("capture.json").json()["errors"] as? [Any] ?? []
    #expect(exports.isEmpty || !streams.isEmpty || failed.contains("color"), "\(exports)")
    try Invariants(folder).check()
    try ExportInvariants(capture: folder).check()
    #expect(
      !FileSystem.exists(folder.appending("jpeg-pictures")) || !exports.isEmpty,
      "shared pictures are removed")
    if result.status == 0, FixtureTests.repeated.contains(fixture.folder) {
      let again = try Program.run(arguments).succeeds()
      #expect(again.errors.contains("nothing to do"), "\(again.errors)")
    }
  }
}

@Suite(
  "Fixtures of all families through the built binary", .runsPrograms,
  .enabled(if: Fixtures.arePresent))
struct FixtureTests {
  static let families = [
    "scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo", "stray-scanner", "3d-scanner-app",
    "record3d",
  ]

  static let all = families.flatMap { family in Fixtures.cases(of: family) }
  /// Those that are inspected as well, and run a second time.
  static let repeated = Set(Rounds.every(4, of: all).map(\.folder))

  @Test("Every case comes out as its truth says", arguments: all)
  func everyCase(_ fixture: FixtureCase) throws {
    let expected = try Expectation(fixture)
    let output = try TemporaryFolder()
    let arguments = ["run", fixture.input.string, "--output", output.path.string]
    let result = try Program.run("\(arguments) --json")
    #expect(result.status == expected.exitCode, "\(result.errors)")
    let capture = try expected.onlyCapture(of: result.json())
    let folder = output.path.appending(try #require(capture["id"] as? String))
    try expected.checkFailures(in: capture)
    try expected.checkWarnings(in: capture)
    try expected.checkPictures("depth", in: folder)
    try expected.checkPictures("confidence", in: folder)
    try expected.checkFrameTimes(in: folder)
    try expected.checkColorCount(in: folder)
    try expected.checkColorIndices(in: folder)
    try expected.checkPlanes(in: folder)
    try expected.checkIMU(in: folder)
    try expected.checkThumbnail(in: folder)
    try Invariants(folder).check()

    guard Self.repeated.contains(fixture.folder) else { return }
    let inspection = try Program.run("inspect \(fixture.input) --json").json()
    try expected.checkWarnings(in: inspection)
    let document = try folder.appending("capture.json").json()
    #expect(
      inspection as NSDictionary == document as NSDictionary, "capture.json is the inspection")
    if expected.exitCode == 0 {
      let again = try Program.run(arguments).succeeds()
      #expect(again.errors.contains("nothing to do"))
    }
  }
}

extension FixtureCase {
  private struct Named: Decodable { var input: String? }

  /// The capture's folder, under whatever name the case keeps it.
  var input: FilePath {
    if let named = try? json(Named.self, from: "expected.json").input {
      return folder.pushing(FilePath(named))
    }
    if FileSystem.isFolder(capture) { return capture }
    let names = (try? FileSystem.names(in: folder)) ?? []
    return names.map { folder.appending($0) }.first(where: FileSystem.isFolder) ?? folder
  }
}

@Suite("What results say about themselves", .runsPrograms)
struct ConfidenceHoleTests {
  @Test(
    "A depth frame without a confidence frame is a hole where confidence decides, and is counted")
  func confidenceHole() throws {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in").string
    try Program.synthesize(
      """
      multiscan --id scan --frames 12 --seed 4 --generation ios-lidar --width 320 --height 240 \
      --fault short-confidence
      """, to: input)
    let output = folder.path.appending("out")
    let result = try Program.run(
      "run \(input) --output \(output) --set depth.minimumConfidence=1 --json"
    ).succeeds()
    let place = output.appending("scan")
    for stage in ["depth", "aligned"] {
      let pictures = try FileSystem.names(in: place.appending(stage)).filter {
        $0.hasSuffix(".png")
      }
      #expect(pictures == (0..<10).map { "00000\($0).png" }, "\(stage)")
    }
    let warnings = try result.json().capture().objects("warnings")
    let counts = warnings.filter { $0["code"] as? String == "confidence-missing" }
      .map { $0["count"] as? Int }
    #expect(counts == [2])
    try Invariants(place).check()
  }

  @Test("A cloud says in its header in which camera's axes it is", arguments: ["scannet"])
  func cloudHeader(family: String) throws {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in").string
    try Program.synthesize(
      "\(family) --id scan --frames 3 --seed 4 --width 324 --height 242", to: input)
    let output = folder.path.appending("out")
    try Program.run("run \(input) --output \(output) --pipeline point-cloud").succeeds()
    var clouds: [FilePath] = []
    for stage in try FileSystem.names(in: output.appending("scan")) where !stage.hasPrefix(".") {
      let place = output.appending("scan").appending(stage)
      guard FileSystem.isFolder(place) else { continue }
      clouds += try FileSystem.names(in: place).filter { $0.hasSuffix(".ply") }
        .map { place.appending($0) }
    }
    #expect(!clouds.isEmpty)
    for cloud in clouds {
      let bytes = try #require(cloud.contents)
      let header = String(decoding: bytes.prefix(2000), as: UTF8.self)
        .components(separatedBy: "end_header")[0]
      let comments = header.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("comment") }
      #expect(comments.contains { $0.contains("camera") && $0.contains("axes") }, "\(comments)")
    }
  }
}
