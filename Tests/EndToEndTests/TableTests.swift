import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Tables of damaged captures", .runsPrograms)
struct TableTests {
  private struct Outcome {
    var status: Int32
    /// Lines without header, by table.
    var rows: [String: Int]
    var stage: Any?
  }

  /// Synthesizes a capture, damages it and writes the tables of a stage, twice.
  private func run(
    _ family: [String], stage: String = "tables", damage: (FilePath) throws -> Void
  ) throws -> Outcome {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in")
    let output = folder.path.appending("out")
    try Program.synthesize("\(family) --frames 8 --width 320 --height 240 --id a", to: input)
    try damage(input.appending("a"))
    var outcome = Outcome(status: 0, rows: [:])
    for _ in 0..<2 {
      let result = try Program.run(
        "run \(input.appending("a")) --output \(output) --until \(stage) --json")
      outcome.status = result.status
      let captures = try result.json()["captures"] as? [[String: Any]]
      let stages = captures?.first?["stages"] as? [[String: Any]]
      outcome.stage = stages?.first { $0["stage"] as? String == stage }?["outcome"]
    }
    let tables = output.appending("a").appending(stage)
    for name in try FileSystem.names(in: tables) where name.hasSuffix(".csv") {
      let text = try tables.appending(name).text()
      outcome.rows[String(name.dropLast(4))] = text.lines.count - 1
    }
    return outcome
  }

  private func cut(_ path: FilePath, to share: Double) throws {
    let url = URL(filePath: path.string)
    let data = try Data(contentsOf: url)
    try data.prefix(Int(Double(data.count) * share)).write(to: url)
  }

  @Test("A pose file that cannot be read empties its own table; the others are there; exit 1")
  func unreadablePoses() throws {
    let outcome = try run(["arkit-scanner"]) {
      try $0.appending("trans.json").write("{")
    }
    #expect(outcome.status == 1)
    #expect(outcome.stage as? String == "failed")
    #expect(outcome.rows == ["frames": 8, "poses": 0, "intrinsics": 8, "camera_settings": 8])
  }

  @Test("Of a pose file that breaks off the complete poses are there; exit 0")
  func cutPoses() throws {
    let outcome = try run(["arkit-scanner"]) {
      try cut($0.appending("trans.json"), to: 0.6)
    }
    #expect(outcome.status == 0)
    #expect(outcome.stage as? String == "up-to-date")
    #expect(outcome.rows["frames"] == 8 && outcome.rows["intrinsics"] == 8)
    #expect((1..<8).contains(outcome.rows["poses"] ?? 0))
  }

  @Test(
    "Geo data that cannot be read empty their table; where they are empty the capture's own position is held",
    arguments: [("{", 1, 0), ("", 0, 8)])
  func unreadableGeo(text: String, status: Int32, rows: Int) throws {
    let outcome = try run(["strabo"]) { folder in
      let names = try FileSystem.names(in: folder)
      let geo = try #require(names.first { $0.hasSuffix(".json") && $0 != "capture-info.json" })
      try folder.appending(geo).write(text)
    }
    #expect(outcome.status == status)
    #expect(outcome.rows == ["frames": 8, "geo": rows])
  }

  @Test("A frame table without its time column: no frame has a row, on any clock")
  func unreadableFrames() throws {
    let outcome = try run(["vi-slam"]) { folder in
      let path = folder.appending("frame_metadata.csv")
      try path.write("frame_number,iso\n1,2\n")
    }
    #expect(outcome.status == 1)
    #expect(outcome.stage as? String == "failed")
    #expect(outcome.rows["frames"] == 0)
  }

  @Test("A frame table without its time column takes no sample of the IMU away; exit 1")
  func samplesWithoutFrames() throws {
    let outcome = try run(["vi-slam"], stage: "imu") { folder in
      try folder.appending("frame_metadata.csv").write("frame_number,iso\n1,2\n")
    }
    #expect(outcome.status == 1)
    #expect(outcome.stage as? String == "failed")
    #expect(try #require(outcome.rows["imu"]) > 0)
    #expect(outcome.rows["frame_imu"] ?? 0 == 0)
  }
}
