import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("scanmill bench", .runsPrograms)
struct BenchTests {
  private static let small = ["--repeat", "2", "--warmup", "0", "-q"]

  /// `bench` over a capture of three frames in `folder`.
  private static func words(
    in folder: TemporaryFolder, family: String = "multiscan"
  ) throws -> [String] {
    let made = folder.path.appending("in")
    try Program.synthesize(
      "\(family) --frames 3 --width 160 --height 120", to: made)
    let scratch = folder.path.appending("scratch")
    try FileSystem.makeFolder(scratch)
    return ["bench", made.string, "--scratch", scratch.string] + small
  }

  @Test("A report has figures per stage and of the whole, and is a baseline that is compared with")
  func baseline() throws {
    let folder = try TemporaryFolder()
    let words = try Self.words(in: folder)
    let result = try Program.run("\(words) --json --jobs 1,2").succeeds()
    var report = try result.json()
    let captures = try report.objects("captures")
    let runs = try #require(captures.first).objects("runs")
    #expect(runs.map { $0["jobs"] as? Int } == [1, 2])
    for run in runs {
      let whole = try run.object("whole")
      #expect(try #require(whole["peakMemoryBytes"] as? Int) > 1 << 20)
      #expect(whole["cpuSeconds", "median"] is Double)
      let stages = try run.objects("stages")
      #expect(stages.contains { $0["name"] as? String == "color" && $0["frames"] as? Int == 3 })
      #expect(try #require(whole["inputBytes"] as? Int) > 0)
      #expect(stages.allSatisfy { $0["inputBytes"] == nil })
      for stage in stages {
        #expect(try #require(stage["peakMemoryBytes"] as? Int, "\(stage)") > 1 << 20)
      }
    }
    #expect(try FileSystem.names(in: folder.path.appending("scratch")).isEmpty)

    // Nothing can be a million times worse; everything is when it took no time and no memory before.
    let file = folder.path.appending("baseline.json")
    try OutputFile.write(Array(result.output.utf8), to: file)
    let compare = words + ["-j", "2", "--baseline", file.string, "--tolerance"]
    try Program.run("\(compare) 1000000%").succeeds()
    var capture = try #require(captures.first)
    capture["runs"] = runs.map { run in
      var run = run
      var whole = run["whole"] as? [String: Any] ?? [:]
      whole["peakMemoryBytes"] = 1
      whole["peakMemory"] = nil
      run["whole"] = whole
      return run
    }
    report["captures"] = [capture]
    let better = try JSONSerialization.data(withJSONObject: report)
    try OutputFile.write(Array(better), to: file)
    let worse = try Program.run("\(compare) 1000%")
    #expect(worse.status == 1)
    #expect(worse.output.contains("peakMemoryBytes"))
  }

  @Test(
    "A comparison for which no peer is here is refused with the reason before anything is measured")
  func peerMissing() throws {
    let folder = try TemporaryFolder()
    let words =
      try Self.words(in: folder) + ["--repeat", "1", "--compare", "ffmpeg"]
    let result = try Running(
      "/usr/bin/env", ["PATH=\(folder.path.string)", Program.path.string] + words, in: nil
    ).finish()
    #expect(result.status == 69)
    #expect(result.errors.contains("no ffmpeg in PATH"), "\(result.errors)")
    #expect(result.output.isEmpty && !result.errors.contains("run: "), "\(result.errors)")
  }

  #if DEBUG
    private let isDebug = true
  #else
    private let isDebug = false
  #endif

  /// A python3 that has OpenCV is that of the readers.
  private static let hasOpenCV = ReaderScript.absence(
    of: "cv2", for: "bench --compare opencv is not tried"
  ).isEmpty

  private func bench(
    path: String, _ words: [String], in folder: TemporaryFolder, family: String = "multiscan"
  ) throws -> Program.Result {
    var environment = ProcessInfo.processInfo.environment
    environment["PATH"] = path
    return try Program.run(
      Self.words(in: folder, family: family)
        + [
          "--repeat", "1", "--pipeline",
          Fixtures.projectRoot.appending("Benchmarks/color.yaml").string,
        ]
        + words, environment: environment)
  }

  @Test(
    "Peers are compared with by name, their pictures are counted, and the report says what was measured on what",
    .enabled(if: hasOpenCV, "needs OpenCV in .build/readers"))
  func peers() throws {
    let folder = try TemporaryFolder()
    let python = FilePath(ReaderScript.python).removingLastComponent().string
    let path = "\(python):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
    let result = try bench(
      path: path, ["--compare", "ffmpeg,ffmpeg-tuned,opencv", "--json"], in: folder
    ).succeeds()
    let report = try result.json()
    let comparison = try report.capture().object("comparison")
    let peers = try comparison.objects("peers")
    let names = ["ffmpeg, default", "ffmpeg, level 1, up", "opencv"]
    #expect(peers.map { $0["name"] as? String } == names)
    let checks = try comparison.objects("checks")
    #expect(checks.map { $0["name"] as? String } == names)
    for check in checks {
      #expect(check["pictures"] as? Int == 3 && check["ourPictures"] as? Int == 3, "\(check)")
      #expect(check["comparedPictures"] as? Int == 3, "\(check)")
    }
    let commands = try comparison.objects("commands")
    #expect(commands.suffix(3).map { $0["name"] as? String } == names)
    // Ours are ffmpeg's to the pixel.
    #expect(checks[0]["differingShare"] as? Double == 0)
    #expect(checks[1]["differingShare"] as? Double == 0)
    let versions = try #require(report["peers"] as? [String: String])
    #expect(versions.keys.sorted() == ["ffmpeg", "ffmpeg-tuned", "opencv"])
    #expect(!versions.values.contains("unknown"))
    let warnings = try #require(report["warnings"] as? [String])
    #expect(warnings.contains { $0.contains("debug build") } == isDebug)
    let build = try report.object("build")
    #expect(build["swift"] is String && build["configuration"] is String)
    let libraries = try #require(build["libraries"] as? [String: String])
    #expect(["libavcodec", "libavformat", "libswscale"].allSatisfy { libraries[$0] != nil })
    let machine = try report.object("machine")
    for key in ["processor", "system", "governor", "fileSystem"] {
      #expect((machine[key] as? String)?.isEmpty == false, "\(key)")
    }
    for key in ["cores", "loadBefore", "loadAfter"] { #expect(machine[key] is NSNumber, "\(key)") }
    #expect(try FileSystem.names(in: folder.path.appending("scratch")).isEmpty)
  }

  private static let hasLZ4 = ReaderScript.absence(
    of: "lz4.block", for: "bench --compare scripts is not tried"
  ).isEmpty

  @Test(
    "Scripts for the whole work make the same pictures and as many inertial rows, or have no ratio",
    .enabled(if: hasOpenCV && hasLZ4, "needs OpenCV and LZ4 in .build/readers"))
  func scripts() throws {
    let folder = try TemporaryFolder()
    let python = FilePath(ReaderScript.python).removingLastComponent().string
    let path = "\(python):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
    let result = try bench(
      path: path, ["--compare", "scripts", "--json"], in: folder, family: "arkit-scanner"
    ).succeeds()
    let comparison = try result.json().capture()
      .object("comparison")
    let ratios = try comparison.objects("ratios").map {
      [$0["ours"] as? String, $0["peer"] as? String]
    }
    #expect(
      ratios == [
        ["scanmill, whole, PNG", "scripts, PNG"],
        ["scanmill, whole, PNG", "scripts, PNG level 1, up"],
        ["scanmill, whole, JPEG", "scripts, JPEG"],
      ], "\(comparison)")
    let checks = try comparison.objects("checks")
    #expect(checks.count == 12)
    for check in checks {
      let name = try #require(check["name"] as? String)
      #expect(check["pictures"] as? Int == check["ourPictures"] as? Int, "\(check)")
      #expect(try #require(check["ourPictures"] as? Int) >= 3, "\(check)")
      let isExact =
        name.hasSuffix("depth") || name.hasPrefix("scripts, PNG") && name.hasSuffix("color")
      if isExact { #expect(check["differingShare"] as? Double == 0, "\(check)") }
    }
  }

  @Test(
    "A peer that is not there is a sentence with its remedy and exit 69; without another nothing is measured"
  )
  func peerWithoutOpenCV() throws {
    let folder = try TemporaryFolder()
    let bin = folder.path.appending("bin")
    try FileSystem.makeFolder(bin)
    let python = bin.appending("python3")
    try ShellScript.write("#!/bin/sh\nexit 1\n", to: python)
    let result = try bench(path: bin.string, ["--compare", "opencv"], in: folder)
    #expect(result.status == 69)
    #expect(result.errors.contains("pip install opencv-python-headless"), "\(result.errors)")
    #expect(result.errors.contains("opencv is not compared"), "\(result.errors)")
    #expect(result.output.isEmpty && !result.errors.contains("run: "), "\(result.errors)")
    #expect(try FileSystem.names(in: folder.path.appending("scratch")).isEmpty)
  }

  @Test(
    "Wrong words and missing captures have their exit codes",
    arguments: [
      ([], 64), (["/nowhere", "--jobs", "two"], 64), (["/nowhere", "--tolerance", "much"], 64),
      (["/nowhere", "--repeat", "0"], 64), (["/nowhere", "--baseline", "/dev/null"], 64),
      (["/nowhere", "--pipeline", "nowhere.yaml"], 78), (["/nowhere"], 65),
      (["/nowhere", "--compare", "ffmpg"], 64), (["/nowhere", "--compare", "ffmpeg,"], 64),
    ] as [([String], Int32)])
  func exitCodes(words: [String], status: Int32) throws {
    let result = try Program.run("bench -q \(words)")
    #expect(result.status == status, "\(result.errors)")
    #expect(result.output.isEmpty)
  }
}

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
      #expect((stage["convert"] != nil) == ["color", "whole"].contains(name))
      for figure in ["oursByFloor", "megapixels", "aboveFloorMillisecondsPerMegapixel"] {
        #expect(stage[figure] is Double, "\(name): \(figure)")
      }
      #expect(try #require(stage["busyCores"] as? Double) > 0)
      #expect(stage["frames"] as? Int == 4)
      for time in ["userSeconds", "systemSeconds", "wallSeconds"] {
        #expect(stage["ours", time] is [String: Any], "\(name): \(time)")
      }
    }
    #expect(try FileSystem.names(in: scratch).isEmpty)

    // What was run against the floor is what the other tables show.
    let capture = try result.json().capture()
    let runs = try capture.objects("runs")
    #expect(runs.map { $0["jobs"] as? Int } == [2])
    let cpu = (runs.first?["whole"] as? [String: Any])?["cpuSeconds"] as? [String: Any]
    let ours = try whole.object("ours").object("cpuSeconds")
    #expect(cpu?["median"] as? Double == ours["median"] as? Double && cpu?["median"] is Double)

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
