import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

@Suite("scanmill bench")
struct BenchTests {
  private static let small = [
    "bench", "--synthesize", "multiscan", "--frames", "3", "--repeat", "2", "--warmup", "0", "-q",
  ]

  @Test("A report has figures per stage and of the whole, and is a baseline that is compared with")
  func baseline() throws {
    let folder = try TemporaryFolder()
    let scratch = ["--scratch", folder.path.string]
    let result = try Program.run(Self.small + scratch + ["--json", "--jobs", "1,2"])
    #expect(result.status == 0, "\(result.errors)")
    var report = try result.json()
    let captures = try #require(report["captures"] as? [[String: Any]])
    let runs = try #require(captures.first?["runs"] as? [[String: Any]])
    #expect(runs.map { $0["jobs"] as? Int } == [1, 2])
    for run in runs {
      let whole = try #require(run["whole"] as? [String: Any])
      #expect(try #require(whole["peakMemoryBytes"] as? Int) > 1 << 20)
      #expect((whole["cpuSeconds"] as? [String: Any])?["median"] is Double)
      let stages = try #require(run["stages"] as? [[String: Any]])
      #expect(stages.contains { $0["name"] as? String == "color" && $0["frames"] as? Int == 3 })
      for stage in stages {
        #expect(try #require(stage["peakMemoryBytes"] as? Int, "\(stage)") > 1 << 20)
      }
    }
    #expect(try FileSystem.names(in: folder.path).isEmpty)

    // Nothing can be a million times worse; everything is when it took no time and no memory before.
    let file = folder.path.appending("baseline.json")
    try OutputFile.write(Array(result.output.utf8), to: file)
    let compare = Self.small + scratch + ["-j", "2", "--baseline", file.string, "--tolerance"]
    #expect(try Program.run(compare + ["1000000%"]).status == 0)
    var capture = try #require(captures.first)
    capture["runs"] = runs.map { run in
      var run = run
      var whole = run["whole"] as? [String: Any] ?? [:]
      whole["peakMemoryBytes"] = 1
      run["whole"] = whole
      return run
    }
    report["captures"] = [capture]
    let better = try JSONSerialization.data(withJSONObject: report)
    try OutputFile.write(Array(better), to: file)
    let worse = try Program.run(compare + ["1000%"])
    #expect(worse.status == 1)
    #expect(worse.output.contains("peakMemoryBytes"))
  }

  @Test("A comparison that was asked for and could not be made is a failure that says why")
  func peerMissing() throws {
    let folder = try TemporaryFolder()
    let words =
      Self.small + ["--repeat", "1", "--scratch", folder.path.string, "--compare", "ffmpeg"]
    let result = try Running(
      "/usr/bin/env", ["PATH=\(folder.path.string)", Program.path.string] + words, in: nil
    ).finish()
    #expect(result.status == 1)
    #expect(result.errors.contains("no ffmpeg in PATH"), "\(result.errors)")
    #expect(result.output.contains("multiscan"), "what was measured is printed all the same")
  }

  @Test(
    "Wrong words and missing captures have their exit codes",
    arguments: [
      (["--jobs", "two"], 64), (["--tolerance", "much"], 64), (["--repeat", "0"], 64),
      (["--synthesize", "nothing"], 64), (["--baseline", "/dev/null"], 64),
      (["--pipeline", "nowhere.yaml"], 78), (["/nowhere"], 65),
    ] as [([String], Int32)])
  func exitCodes(words: [String], status: Int32) throws {
    let result = try Program.run(["bench", "-q"] + words)
    #expect(result.status == status, "\(result.errors)")
    #expect(result.output.isEmpty)
  }
}
