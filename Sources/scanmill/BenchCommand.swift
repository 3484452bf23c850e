import ArgumentParser
import Benchmarking
import Captures
import Core
import Engine
import FoundationEssentials
import Pages
import SystemPackage

/// `scanmill bench`: measures speed and memory, and compares them with a baseline.
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure frames, bytes, CPU time and memory per stage and of whole runs.",
    discussion: """
      `scanmill synthesize` makes a capture where there is none. Every run is this program started anew with an empty output folder, so the figures are those of `scanmill run`, \
      start and opening of the capture included. Exit code 1: worse than the baseline.
      """)

  @Argument(
    help:
      "Captures, or folders of captures. A path may end in the beginning of a capture's id.",
    completion: Completion.captures)
  var captures: [String] = []

  @OptionGroup var selection: SelectionArguments

  @Option(
    help: ArgumentHelp(
      "Only captures with a file that changed since 2026-11-20, 2026-11-20T22:00 (local time), or 24h ago.",
      valueName: "date"))
  var since: String?

  @Option(help: "A pipeline by name, or a pipeline file.", completion: Completion.pipeline)
  var pipeline = PipelineFinder.benchmark

  @Option(
    name: [.customShort("j"), .customLong("jobs")],
    help: "Cores to keep busy; several numbers, as in 1,2,4, show how it scales; 0 = all.")
  var jobs = "0"

  @Option(help: "Measured runs of each kind.")
  var `repeat` = 3

  @Option(help: "Warm-up runs before those, not counted.")
  var warmup = 1

  @Flag(
    help: "Drop the inputs from the page cache before every run (posix_fadvise, needs no root).")
  var cold = false

  @Option(
    help: ArgumentHelp(
      "Also run these peers on the same video: ffmpeg (two command lines), ffmpeg-tuned (the faster one), opencv; scripts: all by ffmpeg and Python.",
      valueName: "peer,…"), completion: Completion.peers)
  var compare: [String] = []

  @Flag(
    help:
      "Also measure the least that these libraries can do: decoding, conversion, writing the same bytes."
  )
  var floor = false

  @Option(
    help: ArgumentHelp("A report of --json to compare with.", valueName: "file"),
    completion: Completion.jsonFile)
  var baseline: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Measure nothing: compare the second of two reports of --json with the first.",
      valueName: "file"), completion: Completion.jsonFile)
  var compareReports: [String] = []

  @Option(help: "How much worse than the baseline is not yet a regression: a percentage, 10%.")
  var tolerance = "10%"

  @Option(
    help: ArgumentHelp(
      "Where outputs go for as long as a run takes; by default the system's folder for temporary files.",
      valueName: "dir"), completion: Completion.folder)
  var scratch: String?

  @Flag(help: "Print the report as JSON on standard output.")
  var json = false

  @Flag(help: "Print the figures as CSV on standard output: medians, one row for each.")
  var csv = false

  @Flag(name: .short, help: "Nothing unless something failed; --json and --csv are printed.")
  var quiet = false

  func validate() throws {
    guard `repeat` >= 1, warmup >= 0, `repeat` <= 1000, warmup <= 1000 else {
      throw ValidationError("--repeat is at least 1, --warmup at least 0, both at most 1000")
    }
    guard JobNumbers(jobs) != nil else {
      throw ValidationError("--jobs '\(jobs)' is not a list of numbers such as 1,2,4")
    }
    guard Tolerance(tolerance) != nil else {
      throw ValidationError(
        "--tolerance is a percentage with its sign, such as 10%, not '\(tolerance)'")
    }
    guard !floor || !cold else {
      throw ValidationError(
        "--floor compares CPU time with inputs in the page cache; --cold is about the disk")
    }
    guard compareReports.isEmpty || compareReports.count == 2 else {
      throw ValidationError("--compare-reports takes two reports: the earlier, the later")
    }
    guard
      compareReports.isEmpty
        || (captures.isEmpty && baseline == nil && !floor && compare.isEmpty && !isSelecting)
    else {
      throw ValidationError("--compare-reports measures nothing: no captures, no --baseline")
    }
    guard !json || !csv else {
      throw ValidationError("--json and --csv exclude each other: give one of them")
    }
    _ = try peers
    if let since { _ = try DateArgument.nanoseconds(since) }
    guard !captures.isEmpty || !isSelecting else {
      throw ValidationError(
        "--family, --exclude, --since and --id select among the captures named; none is named")
    }
    guard !captures.isEmpty || !compareReports.isEmpty else {
      throw ValidationError(
        "name a capture to measure; `scanmill synthesize scannet --output made --frames 200 --noise 2 --quality 16` makes "
          + "one whose noise and bytes per frame are those of the app")
    }
  }

  private var isSelecting: Bool {
    since != nil || !selection.family.isEmpty || !selection.exclude.isEmpty || !selection.id.isEmpty
  }

  /// The values of `--compare`, each once.
  private var peers: [Peer] {
    get throws {
      let names = Peer.allCases.map(\.rawValue)
      return try SelectionArguments.split(compare).map { name in
        try SelectionArguments.known(name, Peer(rawValue: name), "peer", names)
      }.uniqued
    }
  }

  func run() throws {
    if compareReports.count == 2 {
      return try compare(Self.report(compareReports[0]), with: Self.report(compareReports[1]))
    }
    let definition = try PipelineFinder.load(pipeline)
    let earlier = try baseline.map(Self.report)
    let folder = FilePath(scratch ?? FileManager.default.temporaryDirectory.path)
      .appending("scanmill-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileSystem.makeFolder(folder)
    defer { try? FileSystem.remove(folder) }
    let interruption = Interruption()
    let runner = ProgramRunner(wordsIn: folder)
    let signals = Signals(
      interruption, graceSeconds: 60, .system,
      beforeForcedEnd: { _ in try? FileSystem.remove(folder) }, onRequest: { runner.stop() })
    do {
      let report = try measure(definition, in: folder, runner, interruption, earlier)
      try tell(report, earlier)
    } catch {
      // The measured program also fails when the run is interrupted.
      if let code = signals.exitCode { throw Exit(code: code) }
      if let error = error as? PeersMissing {
        throw CommandFailure(ExitStatus.notInstalled, error.sentences.joined(separator: "; "))
      }
      guard let error = error as? BenchmarkError else { throw error }
      throw CommandFailure(ExitStatus.jobFailed, error.description)
    }
  }

  private func measure(
    _ definition: PipelineDefinition, in folder: FilePath, _ runner: ProgramRunner,
    _ interruption: Interruption, _ earlier: BenchmarkReport?
  ) throws -> BenchmarkReport {
    guard let program = ProgramPath.ofThisProgram else {
      throw CommandFailure(
        ExitStatus.jobFailed, "the executable of this program cannot be found")
    }
    guard let jobs = JobNumbers(jobs) else {
      throw ValidationError("--jobs '\(self.jobs)' is not a list of numbers such as 1,2,4")
    }
    let isQuiet = quiet
    var benchmark = Benchmark(
      program: program, folder: folder, pipeline: pipeline, repeats: `repeat`, warmups: warmup,
      isCold: cold, jobs: jobs, measuresFloor: floor, peers: compare.isEmpty ? nil : try peers,
      runner: runner
    ) {
      if interruption.isRequested {
        throw CommandFailure(ExitStatus.jobFailed, "interrupted")
      }
      if !isQuiet { Console.error("run: " + $0) }
    } warn: {
      if !isQuiet { Console.error("warning: \($0)") }
    }
    benchmark.commandLine = ProgramStart.arguments
    benchmark.now = { RunClock.system.wallText() }
    let finder = BenchSubjectFinder(pipeline: definition, measuresFloor: floor)
    return try benchmark.measure(version: Version.text, build: Version.build) {
      let found = try finder.subjects(captures, selection, since: since)
      if let earlier, !earlier.canBeBaseline(of: found, jobs) {
        throw Self.nothingComparable(earlier)
      }
      return found
    }
  }

  private static func nothingComparable(_ earlier: BenchmarkReport) -> CommandFailure {
    CommandFailure(
      ExitStatus.usage,
      "nothing of the baseline can be compared: it has \(earlier.contents); measure the same captures with the "
        + "same -j")
  }

  // MARK: Printing

  private func tell(_ report: BenchmarkReport, _ earlier: BenchmarkReport?) throws {
    let comparison = Tolerance(tolerance).flatMap { tolerance in
      earlier.map { BaselineComparison(now: report, before: $0, tolerance: tolerance.share) }
    }
    // A requested peer or floor that is unavailable is a failure; the other measurements are printed all the same.
    let problem =
      (compare.isEmpty ? nil : report.peersProblem) ?? (floor ? report.floorProblem : nil)
    if json {
      Console.print(json: try JSONText.pretty(report))
      if let comparison, !quiet { Console.error(BenchmarkTable.text(comparison)) }
    } else if csv {
      Console.print(piece: Array(BenchmarkCSV.text(report).utf8))
      if let comparison, !quiet { Console.error(BenchmarkTable.text(comparison)) }
    } else if !quiet || problem != nil || comparison?.regressions.isEmpty == false {
      Console.print(BenchmarkTable.text(report, quoted: ShellText.command))
      if let comparison { Console.print(BenchmarkTable.text(comparison)) }
    }
    if let problem {
      let isMissing = !compare.isEmpty && report.isPeerMissing
      throw CommandFailure(
        isMissing ? ExitStatus.notInstalled : ExitStatus.jobFailed, problem)
    }
    if let comparison { try judge(comparison) }
  }

  /// Compares two earlier reports.
  private func compare(_ before: BenchmarkReport, with now: BenchmarkReport) throws {
    let comparison = BaselineComparison(
      now: now, before: before, tolerance: Tolerance(tolerance)?.share ?? 0)
    if comparison.lines.isEmpty {
      for note in comparison.notes { Console.error("note: \(note)") }
      throw Self.nothingComparable(before)
    }
    if json {
      Console.print(json: try JSONText.pretty(comparison))
    } else if csv {
      Console.print(piece: Array(BenchmarkCSV.text(comparison).utf8))
    } else {
      Console.print(BenchmarkTable.text(comparison, isWhole: true))
    }
    try judge(comparison)
  }

  private func judge(_ comparison: BaselineComparison) throws {
    if !comparison.regressions.isEmpty { throw Exit(code: ExitStatus.jobFailed) }
  }

  private static func report(_ file: String) throws -> BenchmarkReport {
    do {
      let bytes = try MappedFile(FilePath(file)).withBytes { $0.withUnsafeBytes { Array($0) } }
      return try BenchmarkReport(json: bytes)
    } catch let problem as ReportProblem {
      throw ValidationError("\(file) \(problem); give what `scanmill bench --json` printed")
    } catch {
      throw ValidationError("\(error); give what `scanmill bench --json` printed")
    }
  }
}
