import FoundationEssentials
import TestSupport
import Testing

@testable import Benchmarking

@Suite struct ReportDifferencesTests {
  private static func report(_ change: (inout BenchmarkReport) -> Void = { _ in })
    -> BenchmarkReport
  {
    var report = Samples.report([
      Samples.run(wall: 2, cpu: 4), Samples.run(wall: 2.5, cpu: 4.5),
      Samples.run(wall: 2.2, cpu: 4.1),
    ])
    report.build = BuildDescription(
      commit: "abc", swift: "6.3", configuration: "release", libraries: ["libavcodec": "59.1"])
    report.peers = ["ffmpeg": "5.1"]
    report.machine.governor = "performance"
    report.machine.fileSystem = "ext4"
    change(&report)
    return report
  }

  /// What differs, and the sentence about it.
  private static let table: [(change: @Sendable (inout BenchmarkReport) -> Void, words: String)] = [
    ({ $0.build?.commit = "def" }, "another program: commit abc → def"),
    ({ $0.build?.commit = nil }, "another program: commit abc → unknown"),
    ({ $0.version = "2" }, "another program: version 1 → 2"),
    ({ $0.build?.swift = "6.4" }, "another program: Swift 6.3 → 6.4"),
    ({ $0.build?.libraries = ["libavcodec": "60.2"] }, "another program: libavcodec 59.1 → 60.2"),
    ({ $0.build?.libraries = [:] }, "another program: libavcodec 59.1 → none"),
    ({ $0.peers = ["ffmpeg": "6.0"] }, "another program: ffmpeg 5.1 → 6.0"),
    ({ $0.machine.processor = "Z" }, "another machine: times say little (processor A → Z)"),
    ({ $0.machine.cores = 64 }, "another machine: times say little (cores 2 → 64)"),
    (
      { $0.machine.governor = "powersave" },
      "another state: times may differ because of it (governor"
    ),
    ({ $0.machine.system = "Linux 7" }, "kernel Linux 6 x86_64 → Linux 7"),
    ({ $0.machine.fileSystem = "nfs4" }, "file system ext4 → nfs4"),
    ({ $0.settings.pipeline = "q" }, "measured in another way: pipeline p → q"),
    ({ $0.settings.repeats = 9 }, "measured in another way: runs 3 → 9"),
    ({ $0.settings.isCold = true }, "one of the two was measured with a cold cache"),
    ({ $0.machine.loadBefore = 7 }, "the later report: the machine was busy"),
    ({ $0.build?.configuration = "debug" }, "build release → debug"),
    ({ $0.captures[0].runs = [] }, "c: runs with -j 2 are in the baseline only"),
    ({ $0.captures = [] }, "c: in the baseline only"),
    ({ $0.captures[0].runs[0].stages = [] }, "stage color is in the baseline only"),
  ]

  @Test("Each difference is reported, and the figures are compared anyway", arguments: 0..<20)
  func told(index: Int) throws {
    #expect(Self.table.count == 20)
    let (change, words) = Self.table[index]
    let comparison = BaselineComparison(
      now: Self.report(change), before: Self.report(), tolerance: 0.1)
    #expect(comparison.notes.contains { $0.contains(words) }, "\(comparison.notes)")
    #expect(BenchmarkTable.text(comparison).contains("note: "))
    if index < 15 { #expect(comparison.lines.count == 5) }
  }

  @Test("The same circumstances are not mentioned")
  func same() {
    #expect(
      BaselineComparison(now: Self.report(), before: Self.report(), tolerance: 0).notes.isEmpty)
  }

  @Test("A stage too short to be compared is named")
  func short() {
    let quick = Samples.report([Samples.run(wall: 2, cpu: 4, colorCPU: 0.01)])
    let comparison = BaselineComparison(now: quick, before: quick, tolerance: 0)
    #expect(
      comparison.notes == ["c, -j 2: CPU time below 0.05 s is not compared: color"])
  }

  @Test(
    "Ratio, interval and verdict of a figure",
    arguments: [
      (1.0, BaselineComparison.Verdict.uncertain), (1.05, .uncertain), (1.2, .uncertain),
      (3, .worse),
      (0.3, .better), (0.8, .uncertain),
    ])
  func verdict(scale: Double, verdict: BaselineComparison.Verdict) throws {
    let now = Self.report { report in
      let samples = [4, 4.5, 4.1].map { Samples.run(wall: 2, cpu: $0 * scale) }
      report.captures[0].runs = Samples.report(samples).captures[0].runs
    }
    let comparison = BaselineComparison(now: now, before: Self.report(), tolerance: 0.1)
    let line = try #require(
      comparison.lines.first { $0.name == "whole" && $0.quantity == "cpuSeconds" })
    let ratio = try #require(line.nowByBefore)
    let interval = try #require(line.interval)
    #expect(abs(ratio - scale) < 1e-9 && line.verdict == verdict)
    #expect(interval[0] <= ratio && ratio <= interval[1])
    let text = BenchmarkTable.text(comparison, isWhole: true)
    let row = try #require(
      text.lines.first { $0.hasPrefix("c, -j 2, whole, cpuSeconds") })
    #expect(row.hasSuffix(verdict.rawValue), "\(row)")
    // What is the same in every run has a ratio, and no interval.
    let bytes = try #require(comparison.lines.first { $0.quantity == "outputBytes" })
    #expect(bytes.nowByBefore == 1 && bytes.interval == nil && bytes.verdict == .same)
  }
}
