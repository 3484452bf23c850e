import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Tables and depth go with the pictures that the video really has", .runsPrograms)
struct VideoFitTests {
  static func rewrite(_ file: FilePath, _ change: (inout Data) throws -> Void) throws {
    let url = URL(filePath: file.string)
    var data = try Data(contentsOf: url)
    try change(&data)
    try data.write(to: url)
  }

  /// States another picture size in a ScanNet capture of 324x242.
  static func state(_ width: Int, _ height: Int, in scene: Scene) throws {
    try rewrite(scene.file("a.txt")) { data in
      let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
      let changed = lines.map { line in
        line.hasPrefix("colorWidth")
          ? "colorWidth = \(width)"
          : line.hasPrefix("colorHeight") ? "colorHeight = \(height)" : String(line)
      }
      data = Data((changed.joined(separator: "\n") + "\n").utf8)
    }
  }

  /// Overwrites pictures of a ScanNet capture of twelve.
  private static func destroy(_ numbers: [Int], in scene: Scene) throws {
    try rewrite(scene.file("a.h264")) { data in
      var slices: [Int] = []
      for index in data.indices.dropLast(4)
      where data[index] == 0 && data[index + 1] == 0 && data[index + 2] == 1
        && [1, 5].contains(data[index + 3] & 0x1f)
      {
        slices.append(index + 3)
      }
      try #require(slices.count == 12)
      for number in numbers {
        let end = number < 11 ? slices[number + 1] - 4 : data.count
        for index in (slices[number] + 1)..<end { data[index] = 0xff }
      }
    }
  }

  static func warnings(_ run: Program.Result) throws -> [String] {
    let warnings = try run.json().capture().objects("warnings")
    // A shortfall follows from them.
    return warnings.filter { $0["code"] as? String != "shortfall" }
      .map { "\($0["code"] ?? "") \($0["subject"] ?? "") \($0["count"] ?? "")" }
  }

  @Test("Pictures of half the stated size: intrinsics, capture.json and aligned follow together")
  func otherSize() throws {
    let scene = try Scene("a", frames: 4)
    try scene.run(to: "before").succeeds()
    let before = try Table(
      scene.folder.path.appending("before/a/tables/intrinsics.csv"))
    try Self.state(648, 484, in: scene)
    let run = try scene.run("--json").succeeds()
    #expect(try Self.warnings(run) == ["size-mismatch color 1"])
    let table = try Table(scene.output.appending("a/tables/intrinsics.csv"))
    #expect(Set(table["width"]) == ["324"])
    #expect(Set(table["height"]) == ["242"])
    let fx = try #require(Double(before["fx"][0]))
    let cx = try #require(Double(before["cx"][0]))
    let halfX = try #require(Double(table["cx"][0]))
    #expect(try #require(Double(table["fx"][0])) == fx / 2)
    #expect(abs(halfX - ((cx + 0.5) / 2 - 0.5)) < 1e-9)
    let record = try JSONSerialization.jsonObject(
      with: scene.output.appending("a/capture.json").data())
    let alignment = (record as? [String: Any])?["alignment"] as? [String: Any]
    let color = try #require(alignment).object("colorIntrinsics")
    #expect(color["width"] as? Int == 324)
    #expect(color["fx"] as? Double == fx / 2)
    let aligned = try JSONSerialization.jsonObject(
      with: scene.output.appending("a/aligned/artifact.json").data())
    let recorded = (aligned as? [String: Any])?["parameters"] as? [String: Any]
    let grid = try #require(recorded).object("outputIntrinsics")
    #expect(grid["width"] as? Int == 324)
    #expect(grid["fx"] as? Double == fx / 2)
  }

  @Test("Pictures of another shape: no intrinsics, no aligned depth, no failure")
  func otherShape() throws {
    let scene = try Scene("a", frames: 4)
    try Self.state(400, 242, in: scene)
    let run = try scene.run("--json").succeeds()
    #expect(try Self.warnings(run) == ["size-mismatch color 1"])
    #expect(!FileSystem.exists(scene.output.appending("a/tables/intrinsics.csv")))
    #expect(!FileSystem.exists(scene.output.appending("a/aligned")))
    #expect(FileSystem.exists(scene.output.appending("a/color/000003.png")))
  }

  @Test("An undecodable picture is a hole that is named; the others keep their index")
  func hole() throws {
    let scene = try Scene("a", frames: 12)
    try scene.run("--only color", to: "before").succeeds()
    try Self.destroy([11], in: scene)
    let run = try scene.run("--json").succeeds()
    #expect(try Self.warnings(run) == ["corrupt-record color 1"])
    #expect(run.output.contains("holes: 11"))
    let names = try FileSystem.names(in: scene.output.appending("a/color"))
      .filter { $0.hasSuffix(".png") }
    #expect(names.count == 11)
    for name in names {
      let before = scene.folder.path.appending("before/a/color").appending(name)
      #expect(
        FileManager.default.contentsEqual(
          atPath: before.string, andPath: scene.output.appending("a/color").appending(name).string))
    }
    #expect(try Table(scene.output.appending("a/tables/frames.csv"))["color"].last == "")
  }

  @Test(
    "Destroyed pictures add none: what inspect counts is written or reported",
    arguments: Rounds.every(2, of: [[5, 6], [4, 7], [1, 2], [10, 11]]))
  func destroyed(numbers: [Int]) throws {
    let scene = try Scene("a", frames: 12)
    try Self.destroy(numbers, in: scene)
    let inspection = try Program.run("inspect \(scene.input.appending("a")) --json")
      .json()
    #expect(inspection["frames"] as? Int == 12)
    let color = inspection["streams", "color"] as? [String: Any]
    #expect(color?["frames"] as? Int == 12)
    let run = try scene.run("--json").succeeds()
    let codes = try Self.warnings(run)
    #expect(codes.allSatisfy { $0.hasPrefix("corrupt-record color ") } && codes.count == 1)
    let written = try FileSystem.names(in: scene.output.appending("a/color"))
      .filter { $0.hasSuffix(".png") }.compactMap { Int($0.dropLast(4)) }
    #expect(Set(0..<12).subtracting(written).isSubset(of: numbers))
    let table = try Table(scene.output.appending("a/tables/frames.csv"))
    #expect(table.rows.count == 12 && table["depth"].allSatisfy { $0 != "" })
  }

  @Test("A turned video turns poses, intrinsics and aligned depth with it")
  func turned() throws {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in")
    try Program.synthesize("arkit-scanner --frames 3 --width 320 --height 240 --id a", to: input)
    func run(_ output: String) throws -> FilePath {
      let place = folder.path.appending(output)
      try Program.run("run \(input) --output \(place)").succeeds()
      return place.appending("a")
    }
    let stored = try run("stored")
    try Self.rewrite(input.appending("a/rgb.mp4")) { data in
      let head = try #require(data.range(of: Data("tkhd".utf8))).upperBound
      let matrix = head + (data[head] == 1 ? 52 : 40)
      let quarter: [Int32] = [0, 65_536, 0, -65_536, 0, 0, 0, 0, 1 << 30]
      var bytes: [UInt8] = []
      for value in quarter { withUnsafeBytes(of: value.bigEndian) { bytes += $0 } }
      data.replaceSubrange(matrix..<(matrix + 36), with: bytes)
    }
    let upright = try run("upright")
    let poses = (
      try Table(stored.appending("tables/poses.csv")),
      try Table(upright.appending("tables/poses.csv"))
    )
    try #require(poses.0.rows.count == 3)
    for column in ["frame", "timestamp_ns", "tx", "ty", "tz"] {
      #expect(poses.0[column] == poses.1[column])
    }
    func orientation(_ table: Table, _ row: Int) throws -> [Double] {
      let q = try ["qx", "qy", "qz", "qw"].map { try #require(Double(table[$0][row])) }
      #expect(q[3] >= 0)
      return Quaternion(x: q[0], y: q[1], z: q[2], w: q[3]).rotation
    }
    for row in 0..<3 {
      let (old, new) = (try orientation(poses.0, row), try orientation(poses.1, row))
      for line in 0..<3 {
        // Clockwise: right is what was up, down is what was right.
        #expect(abs(new[line * 3] + old[line * 3 + 1]) < 1e-9)
        #expect(abs(new[line * 3 + 1] - old[line * 3]) < 1e-9)
        #expect(abs(new[line * 3 + 2] - old[line * 3 + 2]) < 1e-9)
      }
    }
    let cameras = (
      try Table(stored.appending("tables/intrinsics.csv")),
      try Table(upright.appending("tables/intrinsics.csv"))
    )
    #expect(cameras.0["width"] == cameras.1["height"])
    #expect(cameras.0["cx"] == cameras.1["cy"])
  }
}
