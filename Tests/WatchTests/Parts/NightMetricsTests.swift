import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Watch

@Suite("Metrics for Prometheus")
struct NightMetricsTests {
  /// A night as it might be.
  static var night: NightMetrics {
    var metrics = NightMetrics(
      lookTimestampSeconds: 1_795_305_600.25, version: "2.1 \"beta\"\\x\nnext")
    metrics.totals.states = ["done": 44, "queued": 2]
    metrics.totals.unrecognized = 1
    metrics.doneTimestampSeconds = 1_795_300_000
    metrics.queueOldestSeconds = 12.5
    metrics.tally.failures = ["program": 4]
    metrics.tally.frames = 123_456
    metrics.tally.bytesWritten = 9_007_199_254_740_993
    metrics.tally.cpuSeconds = 0.1
    metrics.outputFreeBytes = 1 << 40
    return metrics
  }

  private func lines(_ metrics: NightMetrics) -> [String] {
    metrics.text.lines.map(String.init)
  }

  @Test(
    "Every metric of the contract is there with HELP and TYPE",
    arguments: [
      ("captures", "gauge"), ("unrecognized", "gauge"), ("look_timestamp_seconds", "gauge"),
      ("done_timestamp_seconds", "gauge"), ("queue_oldest_seconds", "gauge"),
      ("failures_total", "counter"), ("frames_total", "counter"),
      ("bytes_written_total", "counter"), ("cpu_seconds_total", "counter"),
      ("output_free_bytes", "gauge"), ("build_info", "gauge"), ("hold", "gauge"),
      ("staging_mounted", "gauge"), ("oldest_waiting_seconds", "gauge"),
      ("workers_stuck_total", "counter"), ("remaining_captures", "gauge"),
      ("remaining_bytes", "gauge"), ("forecast_done_timestamp_seconds", "gauge"),
      ("due_missed", "gauge"),
    ])
  func names(name: String, type: String) throws {
    let lines = lines(NightMetrics(lookTimestampSeconds: 0, version: "1"))
    let help = try #require(lines.firstIndex { $0.hasPrefix("# HELP scanmill_\(name) ") })
    #expect(lines[help + 1] == "# TYPE scanmill_\(name) \(type)")
    #expect(lines[help + 2].hasPrefix("scanmill_\(name)"))
    #expect(lines.count { $0.contains(" scanmill_\(name) ") } == 2)
  }

  @Test(
    "Bytes written are those of all stages that wrote, intermediates and what is made again too")
  func bytesWritten() {
    var report = CaptureReport(id: "a", path: "/s/a", family: nil, outcome: .made)
    report.stages = [RunOutcome.made, .made, .failed, .upToDate, .notPossible].enumerated().map {
      var stage = StageReport(stage: "\($0)", uses: "toy", outcome: $1)
      stage.bytes = 10
      return stage
    }
    report.stages[1].removed = true
    var tally = WatchRecord.Tally()
    for sum: Int64 in [30, 60] {
      tally.add(report)
      #expect(tally.bytesWritten == sum)
    }
    // Another watcher goes on where this one ended.
    var next = tally
    next.add(report)
    #expect(next.bytesWritten == 90)
    var full = tally
    full.bytesWritten = .max
    full.add(report)
    #expect(full.bytesWritten == .max)
  }

  @Test("States and causes without captures are 0, not absent")
  func complete() {
    let lines = lines(NightMetrics(lookTimestampSeconds: 0, version: "1"))
    for state in CaptureState.ofCaptures {
      #expect(lines.contains("scanmill_captures{state=\"\(state.rawValue)\"} 0"))
    }
    for cause in FailureCause.allCases {
      #expect(lines.contains("scanmill_failures_total{cause=\"\(cause.rawValue)\"} 0"))
    }
    #expect(lines.contains("scanmill_done_timestamp_seconds 0"))
  }

  @Test("Numbers are exact, labels escaped")
  func values() {
    let lines = lines(Self.night)
    for line in [
      "scanmill_captures{state=\"done\"} 44", "scanmill_captures{state=\"queued\"} 2",
      "scanmill_captures{state=\"failed\"} 0", "scanmill_unrecognized 1",
      "scanmill_look_timestamp_seconds 1795305600.25", "scanmill_done_timestamp_seconds 1795300000",
      "scanmill_queue_oldest_seconds 12.5", "scanmill_failures_total{cause=\"program\"} 4",
      "scanmill_frames_total 123456", "scanmill_bytes_written_total 9007199254740993",
      "scanmill_cpu_seconds_total 0.1", "scanmill_output_free_bytes 1099511627776",
      #"scanmill_build_info{version="2.1 \"beta\"\\x\nnext"} 1"#,
    ] {
      #expect(lines.contains(line), "\(line)")
    }
  }

  @Test("Odd numbers are written as Prometheus reads them")
  func odd() {
    var metrics = Self.night
    metrics.tally.cpuSeconds = .nan
    metrics.queueOldestSeconds = .infinity
    #expect(lines(metrics).contains("scanmill_cpu_seconds_total NaN"))
    #expect(lines(metrics).contains("scanmill_queue_oldest_seconds +Inf"))
  }

  @Test(
    "A strict reader of Prometheus takes it as it is",
    .enabled(if: OtherPrograms.hasParser), arguments: [0, 1])
  func strict(empty: Int) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("scanmill.prom")
    let metrics = empty == 0 ? NightMetrics(lookTimestampSeconds: 0, version: "") : Self.night
    try metrics.write(to: file)
    let output = try OtherPrograms.run(
      "python3",
      [
        "-c",
        """
        import sys
        from prometheus_client.parser import text_fd_to_metric_families
        for family in text_fd_to_metric_families(open(sys.argv[1])):
            assert family.documentation, family
            for sample in family.samples:
                print(family.type, sample.name, *sorted(sample.labels.items()), sample.value)
        """, file.string,
      ])
    #expect(
      output.count { $0 == "\n" }
        == metrics.text.lines.count { !$0.hasPrefix("#") })
    #expect(output.contains("gauge scanmill_captures ('state', 'quarantined') 0.0"))
    #expect(output.contains("counter scanmill_failures_total ('cause', 'machine') 0.0"))
    if empty == 1 { #expect(output.contains(#"('version', '2.1 "beta"\\x\nnext') 1.0"#)) }
  }

  // MARK: The file

  @Test("The file is replaced in one step, and nothing is left beside it")
  func file() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("scanmill.prom")
    try Data("left by a kill".utf8).write(
      to: URL(filePath: folder.path.string + "/.scanmill.prom.scanmill-new"))
    for _ in 0..<2 {
      try Self.night.write(to: file)
      #expect(
        try file.text() == Self.night.text)
      #expect(
        try FileSystem.names(in: folder.path)
          == ["scanmill.prom"])
    }
  }

  @Test("Everybody may read the file, whatever the umask says")
  func mode() async {
    await #expect(processExitsWith: .success) {
      umask(0o077)
      let folder = try TemporaryFolder()
      let file = folder.path.appending("scanmill.prom")
      try NightMetricsTests.night.write(to: file)
      var status = stat()
      exit(stat(file.string, &status) == 0 && status.st_mode & 0o777 == 0o644 ? 0 : 1)
    }
  }

  @Test("Links, devices, folders and absent folders are errors, and stay", arguments: 0..<5)
  func refused(kind: Int) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("m.prom")
    switch kind {
    case 0:
      try file.link(to: "/dev/null")
    case 1: try #require(mkfifo(file.string, 0o600) == 0)
    case 2: try FileSystem.makeFolder(file)
    default: break
    }
    let place =
      switch kind {
      case 3: file.appending("inner.prom")
      case 4: folder.path.appending("..")
      default: file
      }
    #expect(throws: FileError.self) { try Self.night.write(to: place) }
    #expect(
      try FileSystem.names(in: folder.path)
        == (kind < 3 ? ["m.prom"] : []))
  }
}
