import FoundationEssentials
import Testing

@testable import Benchmarking

@Suite struct BaselineTests {
  private let before = Samples.report([
    Samples.run(wall: 2, cpu: 4), Samples.run(wall: 2.5, cpu: 4.5),
  ])

  @Test("The same figures are no regression")
  func same() {
    let comparison = BaselineComparison(now: before, before: before, tolerance: 0)
    #expect(comparison.lines.count == 5)
    #expect(comparison.regressions.isEmpty)
    #expect(comparison.notes.isEmpty)
  }

  @Test(
    "More than the tolerance is a regression, of the fastest run only",
    arguments: [
      (Samples.run(wall: 2.3, cpu: 4), "wallSeconds", "whole"),
      (Samples.run(wall: 2, cpu: 4.5), "cpuSeconds", "whole"),
      (Samples.run(wall: 2, cpu: 4, memory: 120 << 20), "peakMemoryBytes", "whole"),
      (Samples.run(wall: 2, cpu: 4, colorCPU: 1.2), "cpuSeconds", "color"),
    ])
  func worse(sample: RunSample, quantity: String, name: String) {
    let now = Samples.report([sample])
    let strict = BaselineComparison(now: now, before: before, tolerance: 0.1)
    #expect(strict.regressions.map(\.quantity) == [quantity])
    #expect(strict.regressions.map(\.name) == [name])
    #expect(BaselineComparison(now: now, before: before, tolerance: 0.25).regressions.isEmpty)
    // One slow run among fast ones is the machine.
    if quantity != "peakMemoryBytes" {
      let mixed = Samples.report([sample, Samples.run(wall: 2, cpu: 4)])
      #expect(BaselineComparison(now: mixed, before: before, tolerance: 0.1).regressions.isEmpty)
    }
    #expect(BenchmarkTable.text(strict).contains("1 worse"))
  }

  @Test("What cannot be compared is said")
  func notes() {
    let run = Samples.run(wall: 2, cpu: 4)
    let other = MachineDescription(
      processor: "B", cores: 2, memoryBytes: 1, system: "Linux", loadBefore: nil)
    #expect(
      BaselineComparison(now: Samples.report([run], machine: other), before: before, tolerance: 1)
        .notes.count == 1)
    let unknown = BaselineComparison(
      now: Samples.report([run], id: "d"), before: before, tolerance: 1)
    #expect(unknown.lines.isEmpty)
    #expect(
      unknown.notes == [
        "d: not in the baseline, or with other content", "c: in the baseline only",
      ])
    let jobs = BaselineComparison(
      now: Samples.report([run], jobs: [1, 2]), before: before, tolerance: 1)
    #expect(jobs.notes.count == 1)
    #expect(!jobs.lines.isEmpty)
  }

  @Test("A report reads back what it wrote")
  func roundTrip() throws {
    var report = before
    report.captures[0].comparison = PeerComparison(
      note: "n", ours: [("scanmill", [Samples.run(wall: 1, cpu: 2)])],
      peers: [("peer", [Samples.run(wall: 8, cpu: 20, bytes: 2_000_000)])], frames: 100,
      inputBytes: 1)
    let json = Array(try JSONEncoder().encode(report))
    #expect(try BenchmarkReport(json: json) == report)
    #expect(throws: (any Error).self) { try BenchmarkReport(json: Array("{}".utf8)) }
    for end in stride(from: 0, to: json.count, by: 97) {
      #expect(throws: (any Error).self) { try BenchmarkReport(json: Array(json[..<end])) }
    }
  }

  @Test("Ratios are of medians, and the table shows them")
  func ratios() throws {
    let comparison = PeerComparison(
      note: "n", ours: [("scanmill, fast", [Samples.run(wall: 1, cpu: 2)])],
      peers: [("peer", [Samples.run(wall: 8, cpu: 20, bytes: 2_000_000)])], frames: 100,
      inputBytes: 1)
    let ratio = try #require(comparison.ratios.first)
    #expect(ratio.cpu == 10)
    #expect(ratio.wall == 8)
    #expect(ratio.size == 0.5)
    var report = Samples.report([Samples.run(wall: 2, cpu: 4)], jobs: [1, 2])
    report.captures[0].comparison = comparison
    let text = BenchmarkTable.text(report)
    #expect(text.contains("10.0×"))
    #expect(text.contains("50 %"))
    #expect(text.contains("times faster"))
    #expect(text.split(separator: "\n").allSatisfy { $0.last != " " })
  }
}
