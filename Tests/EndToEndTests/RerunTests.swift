@testable import Media
import Foundation
@testable import Core
@testable import Engine
import SystemPackage
import TestSupport
import Testing

@Suite("Runs, reruns and kills", .runsPrograms)
struct RerunTests {
  private let folder: TemporaryFolder
  private var input: String { folder.path.appending("in").string }

  init() throws {
    folder = try TemporaryFolder()
    try Program.synthesize(
      "scannet --frames 20 --seed 5 --width 324 --height 242 --id scan",
      to: folder.path.appending("in"))
  }

  private func run(_ output: String, _ more: [String] = []) throws -> Program.Result {
    try Program.run("run \(input) --output \(folder.path.appending(output)) \(more)")
  }

  /// Output digest of every stage.
  private func digests(_ output: String) throws -> [String: String] {
    let place = folder.path.appending(output).appending("scan")
    var digests: [String: String] = [:]
    for name in try FileSystem.names(in: place) where !name.hasPrefix(".") {
      let file = place.appending(name).appending("artifact.json")
      guard FileSystem.exists(file) else { continue }
      let record = try JSONSerialization.jsonObject(
        with: file.data())
      digests[name] = (record as? [String: Any])?["outputDigest"] as? String
    }
    return digests
  }

  /// Action or outcome by stage.
  private func stages(_ result: Program.Result, _ key: String) throws -> [String: String] {
    let captures = try result.json().objects("captures")
    let stages = try #require(captures.first).objects("stages")
    return Dictionary(
      uniqueKeysWithValues: stages.map {
        ($0["stage"] as? String ?? "?", $0[key] as? String ?? "")
      })
  }

  @Test("Artifacts are the same with one core and with four")
  func jobs() throws {
    try run("one", ["-j", "1"]).succeeds()
    try run("four", ["-j", "4"]).succeeds()
    let one = try digests("one")
    #expect(Set(one.keys) == ["color", "depth", "aligned", "imu", "preview", "tables"])
    #expect(try digests("four") == one)
  }

  @Test("A changed parameter reruns the stage that has it, with old and new value as the reason")
  func parameter() throws {
    try run("out").succeeds()
    let plan = try run("out", ["--set", "imu.window=20ms", "-n", "--json"])
    let actions = try stages(plan, "action")
    #expect(actions["imu"] == "run")
    #expect(actions.filter { $0.value == "run" }.count == 1)
    #expect(try stages(plan, "reason")["imu"] == "parameters")
    #expect(try stages(plan, "details")["imu"] == "window: 50ms -> 20ms")
    #expect(
      try stages(run("out", ["--set", "imu.window=20ms", "--json"]), "outcome")["imu"] == "made")
  }

  @Test("A depth filter reruns depth and aligned and removes the intermediate again")
  func filter() throws {
    try run("out").succeeds()
    let before = try digests("out")
    let outcomes = try stages(
      run("out", ["--set", "depth.range=1.5m..2.5m", "--json"]), "outcome")
    #expect(outcomes["depth"] == "made" && outcomes["aligned"] == "made")
    #expect(outcomes["color"] == "up-to-date")
    let after = try digests("out")
    #expect(after["depth"] != before["depth"] && after["aligned"] != before["aligned"])
    #expect(after["depth-frames"] == nil)
    let picture = try PNGReader.depth(
      at: folder.path.appending("out/scan/depth/000003.png"))
    #expect(picture.millimeters.allSatisfy { $0 == 0 || (1500...2500).contains($0) })
    #expect(picture.millimeters.contains { $0 != 0 })
  }

  @Test("A forced stage with the same output leaves its dependents alone")
  func cutOff() throws {
    try run("out").succeeds()
    let outcomes = try stages(run("out", ["-R", "depth", "--json"]), "outcome")
    #expect(outcomes["depth"] == "made")
    #expect(outcomes["tables"] == "up-to-date")
  }

  @Test("A killed run loses nothing that was published, and the next one finishes the rest")
  func kill() throws {
    try run("whole").succeeds()
    let whole = try digests("whole")
    func fileCount() -> Int {
      FileManager.default.enumerator(atPath: folder.path.appending("killed").string)?
        .reduce(0) { count, _ in count + 1 } ?? 0
    }
    for more in stride(from: 0, through: 24, by: 2) {
      let output = "killed"
      let running = try Program.start("run \(input) --output \(folder.path.appending(output)) -j 1")
      let before = fileCount()
      _ = try running.kill { fileCount() >= before + more }
      // Whatever is in place is complete and right.
      if FileSystem.isFolder(folder.path.appending(output).appending("scan")) {
        for (stage, digest) in try digests(output)
        where stage != "depth-frames" && stage != "tables" {
          #expect(digest == whole[stage])
        }
      }
    }
    try run("killed").succeeds()
    #expect(try digests("killed") == whole)
    #expect(!FileSystem.exists(folder.path.appending("killed/scan/.staging")))
    #expect(try run("killed").errors.contains("nothing to do"))
  }

  @Test("Color pictures are those of the ffmpeg command line, pixel for pixel")
  func ffmpeg() throws {
    try run("out").succeeds()
    let peer = folder.path.appending("peer")
    try FileSystem.makeFolder(peer)
    try Running(
      "/usr/bin/ffmpeg",
      [
        "-loglevel", "error", "-i", folder.path.appending("in/scan/scan.h264").string, "-fps_mode",
        "passthrough", "-start_number", "0", peer.appending("%06d.png").string,
      ], in: nil
    ).finish().succeeds()
    let names = try FileSystem.names(in: peer)
    #expect(names.count == 20)
    for name in names {
      let ours = try PNGReader.color(at: folder.path.appending("out/scan/color").appending(name))
      #expect(ours == (try PNGReader.color(at: peer.appending(name))), "\(name)")
    }
  }
}
