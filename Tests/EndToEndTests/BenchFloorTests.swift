import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("scanmill bench --floor", .runsPrograms)
struct BenchFloorTests {
  private let folder: TemporaryFolder
  private var scratch: FilePath { folder.path.appending("scratch") }

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeFolder(folder.path.appending("scratch"))
  }

  private func capture(_ family: String, _ more: String...) throws -> String {
    let made = try Program.synthesize(
      "\(family) --frames 4 --width 320 --height 240 \(more)",
      to: folder.path.appending("in"))
    return String(try #require(made.output.lines.first))
  }

  private func bench(_ words: String...) throws -> Program.Result {
    try Program.run("bench --floor --repeat 2 --warmup 0 --scratch \(scratch) \(words)")
  }

  private func floor(_ result: Program.Result) throws -> [String: Any] {
    return try result.json().capture().object("floor")
  }

  private func median(_ stage: [String: Any], _ cost: String, _ time: String = "cpuSeconds")
    throws -> Double
  {
    let cost = try stage.object(cost)
    let distribution = try cost.object(time)
    return try #require(distribution["median"] as? Double)
  }

  @Test("Color, depth and aligned depth each have a floor, and their sum is one of the capture")
  func figures() throws {
    let result = try bench(try capture("scannet"), "--json", "-j", "2")
    try #require(result.status == 0, "\(result.errors)")
    let floor = try floor(result)
    #expect(floor["jobs"] as? Int == 2)
    #expect(floor["rounds"] as? Int == 2)
    let stages = try floor.objects("stages")
    #expect(stages.map { $0["name"] as? String } == ["color", "depth", "aligned"])
    let whole = try floor.object("whole")
    for stage in stages + [whole] {
      let name = "\(stage["name"] ?? "")"
      let least = try #require(stage["floorSeconds"] as? Double)
      #expect(least > 0, "\(name)")
      let converted = stage["convert"] == nil ? "decode" : "convert"
      #expect((stage["convert"] != nil) == ["color", "whole"].contains(name))
      let sum = try median(stage, converted) + median(stage, "copy")
      #expect(abs(sum - least) < 1e-9, "\(name)")
      let ours = try median(stage, "ours")
      #expect(
        abs(try #require(stage["oursByFloor"] as? Double) - ours / least) < 1e-9 * ours / least)
      let megapixels = try #require(stage["megapixels"] as? Double)
      #expect(megapixels > 0.1)
      let above = try #require(stage["aboveFloorMillisecondsPerMegapixel"] as? Double)
      #expect(abs(above - 1000 * (ours - least) / megapixels) < 1e-6 * abs(above))
      #expect(try #require(stage["busyCores"] as? Double) > 0)
      #expect(stage["frames"] as? Int == 4)
      for time in ["userSeconds", "systemSeconds", "wallSeconds"] {
        #expect(try median(stage, "ours", time) >= 0)
      }
    }
    #expect(try FileSystem.names(in: scratch).isEmpty)

    // What was run against the floor is what the other tables show.
    let capture = try result.json().capture()
    let runs = try capture.objects("runs")
    #expect(runs.map { $0["jobs"] as? Int } == [2])
    let cpu = (runs.first?["whole"] as? [String: Any])?["cpuSeconds"] as? [String: Any]
    #expect(cpu?["median"] as? Double == (try median(whole, "ours")))

    // A report compared with itself: nothing is worse.
    let file = folder.path.appending("report.json")
    try OutputFile.write(Array(result.output.utf8), to: file)
    let same = try Program.run("bench --compare-reports \(file) \(file) --tolerance 0%").succeeds()
    #expect(same.output.contains("0 worse"))
  }

  @Test("What cannot be read is left out with its reason; what can has its floor")
  func damaged() throws {
    let capture = FilePath(try capture("multiscan"))
    let video = try #require(
      try FileSystem.names(in: capture).first { $0.hasSuffix(".mp4") })
    try OutputFile.write([1, 2, 3], to: capture.appending(video))
    let result = try bench(capture.string, "--json", "--repeat", "1")
    try #require(result.status == 0, "\(result.errors)")
    let floor = try floor(result)
    let stages = try floor.objects("stages")
    #expect(stages.contains { $0["name"] as? String == "depth" })
    #expect(!stages.contains { $0["name"] as? String == "color" })
    let notes = try #require(floor["notes"] as? [String])
    #expect(notes.contains { $0.hasPrefix("color: left out") }, "\(notes)")
    #expect(try FileSystem.names(in: scratch).isEmpty)
  }

  @Test(
    "An interrupt ends it with its code, and nothing is left",
    arguments: Rounds.some(of: [SIGINT, SIGTERM], 1))
  func interrupt(signal: Int32) throws {
    let capture = try capture("scannet")
    let running = try Program.start("bench --floor \(capture) --repeat 1000 --scratch \(scratch)")
    // In the middle of a round.
    try Waiting.until("a copy") {
      let bench = try FileSystem.names(in: scratch).first.map { scratch.appending($0) }
      let round = bench?.appending("floor-0").appending("round-0").appending("copy-color")
      return round.map(FileSystem.exists) ?? false || !running.process.isRunning
    }
    #expect(running.process.isRunning)
    kill(running.process.processIdentifier, signal)
    let result = try running.finish()
    #expect(result.status == (signal == SIGINT ? 130 : 143), "\(result.errors)")
    #expect(result.output.isEmpty)
    #expect(try FileSystem.names(in: scratch).isEmpty)
  }

  @Test(
    "Wrong words are usage",
    arguments: [
      ["--floor", "--cold"], ["--compare-reports", "one"],
      ["--compare-reports", "a", "b", "--floor"], ["--compare-reports", "/dev/null", "/dev/null"],
    ])
  func usage(words: [String]) throws {
    let result = try Program.run("bench -q \(words)")
    #expect(result.status == 64, "\(result.errors)")
  }

  @Test(
    "The verb behind it says what it cannot measure",
    arguments: [
      (["decode"], 64), (["decode", "a", "b"], 64), (["copy", "a"], 64), (["touch", "much"], 64),
      (["fly", "a"], 64), (["decode", "/nowhere"], 65), (["copy", "/etc", "/etc/b"], 1),
      (["copy", "/nowhere", "/proc/b"], 1),
    ] as [([String], Int32)])
  func parts(words: [String], status: Int32) throws {
    let result = try Program.run("floor \(words)")
    #expect(result.status == status, "\(result.errors)")
    #expect(result.output.isEmpty)
  }
}
