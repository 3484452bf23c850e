import ArgumentParser
import Benchmarking
import Captures
import FoundationEssentials
import Pipeline
import Processes
import Runner
import Storage
import SyntheticCaptures
import SystemPackage

/// `scanmill bench`: how fast this machine is at it, and whether that has changed.
struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure frames, bytes, CPU time and memory per stage and of whole runs.",
    discussion: """
      Without a capture one is synthesized, with sensor noise and motion blur. Every run is this \
      program started anew with an empty output folder, so the figures are those of `scanmill run`, \
      start and opening of the capture included. Exit code 1: worse than the baseline.
      """)

  @Argument(help: "Captures, or folders of captures; none: a synthesized one.")
  var captures: [String] = []

  @Option(help: "A pipeline by name, or a pipeline file.")
  var pipeline = PipelineFinder.benchmark

  @Option(
    name: [.customShort("j"), .customLong("jobs")],
    help: "Cores to keep busy; several numbers, as in 1,2,4, show how it scales; 0 = all.")
  var jobs = "0"

  @Option(help: "Measured runs of each kind.")
  var `repeat` = 3

  @Option(help: "Runs before those, which do not count.")
  var warmup = 1

  @Flag(
    help: "Drop the inputs from the page cache before every run (posix_fadvise, needs no root).")
  var cold = false

  @Option(help: "Also run this peer on the same video: ffmpeg.")
  var compare: Peer?

  @Option(help: ArgumentHelp("A report of --json to compare with.", valueName: "file"))
  var baseline: String?

  @Option(help: "How much worse than the baseline is still no regression, as in 10%.")
  var tolerance = "10%"

  @Option(help: ArgumentHelp("The family to synthesize.", valueName: "family"))
  var synthesize = "scannet"

  @Option(help: "Frames to synthesize.")
  var frames = 200

  @Option(help: "What everything random in the synthesized capture comes from.")
  var seed: UInt64 = 1

  @Option(help: "Noise of the synthesized sensors, as in `synthesize`.")
  var noise = 2.0

  @Option(help: "How long the synthesized shutter is open, seconds.")
  var exposure = 1.0 / 60

  @Option(
    help: """
      Constant rate factor of the synthesized video; by default noise and bytes per frame are those of \
      the app's videos, 2 MB per second.
      """)
  var quality = 16

  @Option(
    help: ArgumentHelp(
      "Where outputs go for as long as a run takes; by default the system's folder for temporary files.",
      valueName: "dir"))
  var scratch: String?

  @Flag(help: "Print the report as JSON on standard output.")
  var json = false

  @Flag(name: .short, help: "Do not tell on standard error what runs.")
  var quiet = false

  enum Peer: String, ExpressibleByArgument, CaseIterable {
    case ffmpeg
  }

  func validate() throws {
    guard `repeat` >= 1, warmup >= 0, `repeat` <= 1000, warmup <= 1000 else {
      throw ValidationError("--repeat is at least 1, --warmup at least 0, both at most 1000")
    }
    guard jobNumbers != nil else {
      throw ValidationError("--jobs '\(jobs)' is no list of numbers such as 1,2,4")
    }
    guard toleranceShare != nil else {
      throw ValidationError("--tolerance '\(tolerance)' is no percentage such as 10%")
    }
    guard SyntheticFamilies.names.contains(synthesize) else {
      throw ValidationError(
        "no family '\(synthesize)'; known: \(SyntheticFamilies.names.joined(separator: ", "))")
    }
  }

  func run() throws {
    let definition = try PipelineFinder.load(pipeline)
    let earlier = try baseline.map(Self.report)
    let folder = FilePath(scratch ?? FileManager.default.temporaryDirectory.path)
      .appending("scanmill-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileSystem.makeFolder(folder)
    defer { try? FileSystem.remove(folder) }
    let interruption = Interruption()
    let signals = Signals(interruption, graceSeconds: 60, .system)
    do {
      let report = try measure(definition, in: folder, interruption)
      try conclude(report, earlier)
    } catch let error as BenchmarkError {
      // Of an interrupted run the program that was measured complains, too.
      if let code = signals.exitCode { throw Exit(code: code) }
      throw Failure(code: ExitStatus.jobFailed, text: error.description)
    }
  }

  private func measure(
    _ definition: PipelineDefinition, in folder: FilePath, _ interruption: Interruption
  ) throws -> BenchmarkReport {
    guard let program = ProgramPath.ofThisProgram else {
      throw BenchmarkError("the executable of this program cannot be found")
    }
    var report = BenchmarkReport(
      version: Version.text, machine: .current(),
      settings: BenchmarkReport.Settings(
        pipeline: pipeline, repeats: `repeat`, warmups: warmup, isCold: cold))
    let isQuiet = quiet
    let session = BenchmarkSession(program: program, scratch: folder, settings: report.settings) {
      if interruption.isRequested { throw BenchmarkError("interrupted") }
      if !isQuiet { Console.error("run: " + $0) }
    }
    for subject in try subjects(program, in: folder) {
      report.captures.append(try measure(subject, definition, session, in: folder))
    }
    return report
  }

  private func measure(
    _ subject: BenchSubject, _ definition: PipelineDefinition, _ session: BenchmarkSession,
    in folder: FilePath
  ) throws -> CaptureFigures {
    var figures = CaptureFigures(
      id: subject.summary.id, family: subject.summary.family.rawValue, origin: subject.origin,
      frames: subject.frames, inputBytes: FileCost.bytes(of: subject.files))
    for (jobs, samples) in try session.measure(subject.measured, jobs: jobNumbers ?? [0]) {
      let used = jobs == 0 ? ProcessInfo.processInfo.activeProcessorCount : jobs
      figures.runs += [
        JobsFigures(
          jobs: used, samples: samples, frames: subject.frames, inputBytes: figures.inputBytes,
          stageInputBytes: subject.stageInputBytes(definition, samples.last?.stages ?? []))
      ].compactMap(\.self)
    }
    if compare == .ffmpeg { figures.comparison = try comparison(subject, session) }
    return figures
  }

  private func comparison(
    _ subject: BenchSubject, _ session: BenchmarkSession
  ) throws -> PeerComparison {
    guard let ffmpeg = try? ProgramPath.find("ffmpeg") else {
      return PeerComparison(note: "not compared: there is no ffmpeg in PATH")
    }
    guard let video = subject.video else {
      return PeerComparison(note: "not compared: the capture's color is no video that can be read")
    }
    return try session.compare(
      subject.measured, video: video, compressions: ["fast", "compact"], peers: PeerCommand.all,
      peerProgram: ffmpeg.string)
  }

  private func conclude(_ report: BenchmarkReport, _ earlier: BenchmarkReport?) throws {
    let comparison = toleranceShare.flatMap { tolerance in
      earlier.map { BaselineComparison(now: report, before: $0, tolerance: tolerance) }
    }
    if json {
      Console.print(json: try JSONText.pretty(report))
      if let comparison { Console.error(BenchmarkTable.text(comparison)) }
    } else {
      Console.print(BenchmarkTable.text(report))
      if let comparison { Console.print(BenchmarkTable.text(comparison)) }
    }
    if compare != nil, report.captures.allSatisfy({ $0.comparison?.ratios.isEmpty ?? true }) {
      let why = report.captures.first?.comparison?.note ?? "no capture was measured"
      throw Failure(code: ExitStatus.jobFailed, text: "nothing was compared with a peer: \(why)")
    }
    guard let comparison else { return }
    if comparison.lines.isEmpty {
      throw Failure(
        code: ExitStatus.jobFailed,
        text: "the baseline has nothing that could be compared; measure the same captures and jobs")
    }
    if !comparison.regressions.isEmpty { throw Exit(code: ExitStatus.jobFailed) }
  }

  private static func report(_ file: String) throws -> BenchmarkReport {
    do {
      let bytes = try MappedFile(FilePath(file)).withBytes { $0.withUnsafeBytes { Array($0) } }
      return try BenchmarkReport(json: bytes)
    } catch {
      throw ValidationError("\(file) is no report of scanmill bench --json: \(error)")
    }
  }

  /// Ascending, without repetitions; `nil` for what is no list of numbers.
  private var jobNumbers: [Int]? {
    let numbers = jobs.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    let valid = numbers.compactMap(\.self).filter { (0...4096).contains($0) }
    return valid.count == numbers.count ? Set(valid).sorted() : nil
  }

  private var toleranceShare: Double? {
    let number = tolerance.hasSuffix("%") ? String(tolerance.dropLast()) : tolerance
    return Double(number).flatMap { $0 >= 0 && $0.isFinite ? $0 / 100 : nil }
  }
}
