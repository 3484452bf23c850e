import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Benchmarking

@Suite struct BaselineTests {
  private static func runs(_ change: (inout RunSample) -> Void = { _ in }) -> BenchmarkReport {
    Samples.report(
      [1.0, 1.004, 0.996, 1.002, 0.998].map { jitter in
        var run = Samples.run(wall: 2 * jitter, cpu: 4 * jitter, colorCPU: jitter)
        change(&run)
        return run
      })
  }

  private let before = Self.runs()

  @Test("The same figures are no difference, as far as the runs show it")
  func same() throws {
    let comparison = BaselineComparison(now: before, before: before, tolerance: 0.05)
    #expect(comparison.lines.count == 5)
    #expect(comparison.verdict == .same && comparison.regressions.isEmpty)
    #expect(comparison.notes.isEmpty)
    #expect(BenchmarkTable.text(comparison).hasSuffix("\nno difference"))
    // One percent of tolerance does not allow them.
    let strict = BaselineComparison(now: before, before: before, tolerance: 0.01)
    #expect(strict.verdict == .uncertain && strict.regressions.isEmpty)
    #expect(strict.lines.first { $0.quantity == "outputBytes" }?.verdict == .same)
  }

  @Test("A figure is the same only where the whole interval of its ratio is within the tolerance")
  func within() throws {
    for spread in [0.002, 0.01, 0.03, 0.1, 0.3] {
      for factor in [0.7, 0.95, 1, 1.05, 1.3] {
        func report(_ factor: Double) -> BenchmarkReport {
          Samples.report(
            [1 - spread, 1 + spread, 1, 1 - spread / 2, 1 + spread / 2].map {
              Samples.run(wall: 2 * $0 * factor, cpu: 4 * $0 * factor, colorCPU: $0 * factor)
            })
        }
        let comparison = BaselineComparison(
          now: report(factor), before: report(1), tolerance: 0.1)
        for line in comparison.lines {
          let interval = line.interval ?? [1, 1]
          let (low, high) = try (#require(interval.first), #require(interval.last))
          let expected: BaselineComparison.Verdict =
            low > 1.1
            ? .worse : high < 1 / 1.1 ? .better : low >= 1 / 1.1 && high <= 1.1 ? .same : .uncertain
          #expect(line.verdict == expected, "\(spread), \(factor): \(line)")
        }
      }
    }
    // Three runs, as by default, show no tenth.
    let three = Samples.report([1.0, 1, 1].map { Samples.run(wall: 2 * $0, cpu: 4) })
    let comparison = BaselineComparison(now: three, before: three, tolerance: 0.1)
    #expect(comparison.verdict == .uncertain)
    #expect(
      BenchmarkTable.text(comparison).contains(
        "\nuncertain: the runs do not show whether figures differ by more than the tolerance"))
  }

  @Test("A report is a baseline of the same captures with the same number of cores")
  func suitable() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("input")
    try OutputFile.write([1, 2, 3], to: file)
    let subject = BenchmarkSubject(
      path: folder.path, id: "c", family: "scannet", frames: 1, files: [file],
      video: nil, stages: [])
    var report = Samples.report([Samples.run(wall: 1, cpu: 1)], jobs: [1, 2])
    report.captures[0].inputBytes = 3
    let (two, three) = try (#require(JobNumbers("2,3")), #require(JobNumbers("3")))
    #expect(report.canBeBaseline(of: [subject], two))
    #expect(!report.canBeBaseline(of: [subject], three))
    #expect(!report.canBeBaseline(of: [], two))
    #expect(report.contents == "c (3 bytes, -j 1,2)")
    report.captures[0].inputBytes = 4
    #expect(!report.canBeBaseline(of: [subject], two))
  }

  private static let changes:
    [(quantity: String, name: String, change: @Sendable (inout RunSample) -> Void)] = [
      ("wallSeconds", "whole", { $0.wallSeconds *= 1.15 }),
      ("cpuSeconds", "whole", { $0.cpuSeconds *= 1.15 }),
      ("peakMemoryBytes", "whole", { $0.peakMemoryBytes = 120 << 20 }),
      (
        "cpuSeconds", "color",
        { $0.stages[0].cpuSeconds = $0.stages[0].cpuSeconds.map { $0 * 1.15 } }
      ),
      ("outputBytes", "color", { $0.stages[0].bytes = 1_050_000 }),
    ]

  @Test("More than the tolerance is a regression where the runs agree", arguments: 0..<5)
  func worse(index: Int) {
    let (quantity, name, change) = Self.changes[index]
    let now = Self.runs(change)
    let strict = BaselineComparison(now: now, before: before, tolerance: 0.1)
    #expect(strict.regressions.map(\.quantity) == [quantity])
    #expect(strict.regressions.map(\.name) == [name])
    #expect(BenchmarkTable.text(strict).contains("1 worse"))
    #expect(BenchmarkTable.text(strict).hasSuffix("\nworse"))
    let other = BaselineComparison(now: before, before: now, tolerance: 0.1)
    #expect(other.verdict == .better)
    #expect(BaselineComparison(now: now, before: before, tolerance: 0.25).verdict == .same)
  }

  @Test("A single run that is slower is no evidence")
  func single() {
    let now = Samples.report([Samples.run(wall: 2.3, cpu: 4)])
    let comparison = BaselineComparison(now: now, before: before, tolerance: 0.1)
    #expect(comparison.verdict == .uncertain && comparison.regressions.isEmpty)
    #expect(BenchmarkTable.text(comparison).contains("\nuncertain: "))
    // Three times as slow is.
    let slow = Samples.report([Samples.run(wall: 6, cpu: 4)])
    #expect(
      BaselineComparison(now: slow, before: before, tolerance: 0.1).regressions.map(\.quantity)
        == ["wallSeconds"])
  }

  @Test("The same runs on a machine that was busy are uncertain")
  func busy() {
    var now = Self.runs { $0.wallSeconds *= 1.3 }
    #expect(BaselineComparison(now: now, before: before, tolerance: 0.1).verdict == .worse)
    now.machine.loadBefore = 1.8
    for (now, before) in [(now, before), (before, now)] {
      let comparison = BaselineComparison(now: now, before: before, tolerance: 0.1)
      #expect(comparison.verdict == .uncertain && comparison.busyShare == 0.8)
    }
  }

  @Test("Peak memory of reports without that of each run varies by a quarter")
  func memoryOfOlderReports() {
    func report(_ bytes: Int64) -> BenchmarkReport {
      var report = Self.runs()
      report.captures[0].runs[0].whole.peakMemory = nil
      report.captures[0].runs[0].whole.peakMemoryBytes = bytes
      return report
    }
    let verdicts = [110, 120, 150].map { megabytes in
      BaselineComparison(now: report(megabytes << 20), before: report(100 << 20), tolerance: 0.1)
        .lines.first { $0.quantity == "peakMemoryBytes" }?.verdict
    }
    #expect(verdicts == [.uncertain, .uncertain, .worse])
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
    let others: [(text: String, says: String)] = [
      ("", "is empty"), ("{}", "is an empty JSON object"), ("[1]", "is JSON, but no JSON object"),
      ("no", "is not JSON, or was cut off"),
      (#"{"run":"x","captures":[]}"#, "is the result of a run, not a report"),
      (#"{"lines":[],"tolerance":0}"#, "is the comparison of two reports, not a report"),
      (#"{"fingerprint":"x"}"#, "is the record of an artifact, not a report"),
      (#"{"streams":{}}"#, "is the description of a capture, not a report"),
      (#"{"b":1,"a":1}"#, "has none of the keys of a report (it begins with 'a', 'b')"),
      (#"{"machine":{},"version":"1"}"#, "is no whole report: the key "),
    ]
    for (text, says) in others {
      let problem = #expect(throws: ReportProblem.self) {
        try BenchmarkReport(json: Array(text.utf8))
      }
      #expect(
        problem?.description.hasPrefix(says) == true, "\(text): \(String(describing: problem))")
    }
    var later = report
    later.schema = 2
    let newer = Array(try JSONEncoder().encode(later))
    let problem = #expect(throws: ReportProblem.self) { try BenchmarkReport(json: newer) }
    #expect(problem?.description.contains("schema 2") == true)
    for end in stride(from: 0, to: json.count, by: 97) {
      #expect(throws: (any Error).self) { try BenchmarkReport(json: Array(json[..<end])) }
    }
  }

  @Test(
    "As CSV, every figure is a row under the names of the JSON, and empty where a kind has none")
  func csv() throws {
    var report = Samples.report([Samples.run(wall: 2, cpu: 4)], jobs: [1, 2])
    report.captures[0].comparison = PeerComparison(
      note: "n", ours: [("scanmill, fast", [Samples.run(wall: 1, cpu: 2)])],
      peers: [("peer", [Samples.run(wall: 8, cpu: 20, bytes: 2_000_000)])], frames: 100,
      inputBytes: 1)
    let lines = BenchmarkCSV.text(report).lines.map(String.init)
    let rows = lines.map {
      $0.replacing("\"scanmill, fast\"", with: "fast").split(
        separator: ",", omittingEmptySubsequences: false)
    }
    #expect(Set(rows.map(\.count)).count == 1)
    #expect(
      rows.dropFirst().map { $0[3] } == [
        "stage", "whole", "stage", "whole", "ours", "peer", "ratio",
      ])
    let header = try #require(rows.first)
    let ratio = try #require(rows.last)
    let values = Dictionary(
      uniqueKeysWithValues: zip(header.map(String.init), ratio.map(String.init)))
    #expect(
      values["theirsByOurs.cpuSeconds"] == "10.0" && values["theirsByOurs.outputBytes"] == "2.0")
    #expect(values["peer"] == "peer" && values["wallSeconds"] == "")
    #expect(values["oursByFloor"] == "" && values["ratio"] == nil)
    #expect(values["runs"] == "" && values["machine.processor"] == "A")
    let whole = Dictionary(uniqueKeysWithValues: zip(header, rows[2])).mapValues(String.init)
    #expect(whole["runs"] == "1" && whole["machine.cores"] == "2" && whole["version"] == "1")
    #expect(whole["wallSeconds.percentile10"] == "2.0" && whole["cpuSeconds.percentile90"] == "4.0")
    #expect(values["machine.loadBefore"] == "0.5" && values["machine.name"] == "")
    #expect(values["commit"] == report.build?.commit ?? "")
    let comparison = BaselineComparison(now: report, before: report, tolerance: 9)
    let compared = BenchmarkCSV.text(comparison).lines
    #expect(compared.count == comparison.lines.count + 1)
    #expect(compared.dropFirst().allSatisfy { $0.hasSuffix(",same") })
    #expect(compared.first?.contains(",before,now,nowByBefore,") == true)
  }

  @Test("Ratios are of medians, and the table shows them")
  func ratios() throws {
    let comparison = PeerComparison(
      note: "n", ours: [("scanmill, fast", [Samples.run(wall: 1, cpu: 2)])],
      peers: [("peer", [Samples.run(wall: 8, cpu: 20, bytes: 2_000_000)])], frames: 100,
      inputBytes: 1)
    let ratio = try #require(comparison.ratios.first)
    // Above 1 the peer needs more, in each of them.
    #expect(ratio.theirsByOurs.cpuSeconds == 10)
    #expect(ratio.theirsByOurs.wallSeconds == 8)
    #expect(ratio.theirsByOurs.outputBytes == 2)
    let keys = try JSONEncoder().encode(ratio).json()
    #expect(keys.keys.sorted() == ["ours", "peer", "theirsByOurs"])
    var report = Samples.report([Samples.run(wall: 2, cpu: 4)], jobs: [1, 2])
    report.captures[0].comparison = comparison
    let text = BenchmarkTable.text(report) { $0.joined(separator: "|") }
    #expect(text.contains("10.0×") && text.contains("2.00×") && text.contains("theirs ÷ ours"))
    #expect(text.contains("times faster"))
    #expect(text.lines.allSatisfy { $0.last != " " })
  }
}
