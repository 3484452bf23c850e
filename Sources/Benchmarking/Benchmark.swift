import Core
import SystemPackage

/// A whole benchmark: all captures against their floors, then each with every number of jobs, then against peers. `bench`
/// makes one and prints its report.
public struct Benchmark: Sendable {
  /// What is measured, and with what.
  public struct Plan: Sendable {
    /// The executable that is measured.
    public var program: FilePath
    /// For everything that is written, on the file system that results would go to. Who calls removes it.
    public var folder: FilePath
    public var settings: BenchmarkReport.Settings
    var jobs: JobNumbers
    var measuresFloor: Bool
    /// `nil`: nothing is compared.
    var peers: [Peer]?
    /// Told in the report: the words of the command, and the time (UTC) whenever it is asked for.
    public var commandLine: [String] = []
    public var now: @Sendable () -> String = { "" }

    public init(
      program: FilePath, folder: FilePath, settings: BenchmarkReport.Settings, jobs: JobNumbers,
      measuresFloor: Bool, peers: [Peer]?
    ) {
      self.program = program
      self.folder = folder
      self.settings = settings
      self.jobs = jobs
      self.measuresFloor = measuresFloor
      self.peers = peers
    }
  }

  private let plan: Plan
  private let runner: ProgramRunner
  private let willRun: @Sendable (String) throws -> Void
  private let warn: @Sendable (String) -> Void

  /// - Parameters:
  ///   - runner: starts all programs.
  ///   - willRun: called with what is about to run; throws to end the benchmark.
  ///   - warn: called with what is wrong with the figures, before anything runs.
  public init(
    _ plan: Plan, runner: ProgramRunner, willRun: @escaping @Sendable (String) throws -> Void,
    warn: @escaping @Sendable (String) -> Void
  ) {
    self.plan = plan
    self.runner = runner
    self.willRun = willRun
    self.warn = warn
  }

  /// Measures everything.
  ///
  /// - Parameters:
  ///   - version: of the program, with what it was built from.
  ///   - subjects: finds or makes the captures; called once, after the first warnings.
  /// - Throws: `BenchmarkError` when a program cannot be measured.
  public func measure(
    version: String, build: BuildDescription?, subjects: () throws -> [BenchmarkSubject]
  ) throws -> BenchmarkReport {
    var report = BenchmarkReport(
      version: version, build: build, machine: .current(), settings: plan.settings)
    report.started = plan.now()
    report.commandLine = plan.commandLine
    report.machine.fileSystem = FileSystemName.of(plan.folder)
    report.warnings = report.problems
    for warning in report.problems { warn(warning) }
    let session = BenchmarkSession(
      program: plan.program, scratch: plan.folder, settings: plan.settings, runner: runner,
      willRun: willRun)
    let subjects = try subjects()
    let peers = plan.peers.map { FoundPeers($0, PeerFinder(runner)) }
    for sentence in peers?.sentences ?? [] { warn(sentence) }
    report.peers = peers?.versions
    let floors = try floors(subjects)
    for (subject, floor) in zip(subjects, floors) {
      var figures = try measure(subject, session, floor)
      figures.comparison = try peers?.comparison(of: subject, session)
      report.captures.append(figures)
    }
    report.machine.loadAfter = MachineDescription.currentLoad()
    report.finished = plan.now()
    // At the very end: reading whole captures changes what is in the page cache.
    for (index, subject) in subjects.enumerated() {
      report.captures[index].digest = CaptureDigest.hex(of: subject.files, in: subject.path)
      report.captures[index].video = subject.video.flatMap { MeasuredFile($0) }
    }
    return report
  }

  /// Every capture against its floor, before anything else is measured: what other runs write is deleted after
  /// each, which would make the creation of files after it expensive.
  ///
  /// - Returns: by capture; `nil` when no floor was asked for.
  private func floors(_ subjects: [BenchmarkSubject]) throws -> [FloorSession.Measured?] {
    try subjects.enumerated().map { index, subject in
      guard plan.measuresFloor, let floor = subject.floor else { return nil }
      let jobs = plan.jobs.largest
      let session = FloorSession(
        program: plan.program, folder: plan.folder.appending("floor-\(index)"),
        settings: plan.settings, jobs: jobs, runner: runner, willRun: willRun)
      return try session.measure(floor, usedJobs: JobNumbers.cores(of: jobs))
    }
  }

  private func measure(
    _ subject: BenchmarkSubject, _ session: BenchmarkSession, _ floor: FloorSession.Measured?
  ) throws -> CaptureFigures {
    var figures = CaptureFigures(
      id: subject.id, family: subject.family, origin: subject.origin, frames: subject.frames,
      inputBytes: FileCost.bytes(of: subject.files))
    figures.floor = floor?.figures
    // What was run against the floor is not run once more.
    let known = floor.map { [(jobs: plan.jobs.largest, samples: $0.wholeRuns)] } ?? []
    let others = plan.jobs.numbers.filter { floor == nil || $0 != plan.jobs.largest }
    let all = known + (others.isEmpty ? [] : try session.measure(subject.measured, jobs: others))
    for (jobs, samples) in all.sorted(by: { $0.jobs < $1.jobs }) {
      figures.runs += [
        JobsFigures(
          jobs: JobNumbers.cores(of: jobs), samples: samples, frames: subject.frames,
          inputBytes: figures.inputBytes,
          stageInputBytes: subject.stageInputBytes(samples.last?.stages ?? []))
      ].compactMap(\.self)
    }
    return figures
  }
}
