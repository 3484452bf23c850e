import Captures
import Core
import FoundationEssentials
import SystemPackage

/// A whole benchmark: all captures against their floors, then each with every number of jobs, then against peers. `bench`
/// makes one and prints its report.
public struct Benchmark: Sendable {
  /// The executable that is measured.
  private let program: FilePath
  /// For everything that is written, on the file system that results would go to. Who calls removes it.
  private let folder: FilePath
  private let settings: BenchmarkReport.Settings
  private let jobs: JobNumbers
  private let measuresFloor: Bool
  /// `nil`: nothing is compared.
  private let peers: [Peer]?
  /// Told in the report: the words of the command, and the time (UTC) whenever it is asked for.
  public var commandLine: [String] = []
  public var now: @Sendable () -> String = { "" }
  private let runner: ProgramRunner
  private let willRun: @Sendable (String) throws -> Void
  private let warn: @Sendable (String) -> Void

  /// - Parameters:
  ///   - runner: starts all programs.
  ///   - willRun: called with what is about to run; throws to end the benchmark.
  ///   - warn: called with what is wrong with the figures, before anything runs.
  public init(
    program: FilePath, folder: FilePath, pipeline: String, repeats: Int, warmups: Int,
    isCold: Bool, jobs: JobNumbers, measuresFloor: Bool, peers: [Peer]?, runner: ProgramRunner,
    willRun: @escaping @Sendable (String) throws -> Void, warn: @escaping @Sendable (String) -> Void
  ) {
    (self.program, self.folder, self.jobs) = (program, folder, jobs)
    (self.measuresFloor, self.peers) = (measuresFloor, peers)
    (self.runner, self.willRun, self.warn) = (runner, willRun, warn)
    settings = BenchmarkReport.Settings(
      pipeline: pipeline, repeats: repeats, warmups: warmups, isCold: isCold)
  }

  /// Measures everything.
  ///
  /// - Parameters:
  ///   - version: of the program, with what it was built from.
  ///   - subjects: finds or makes the captures; called once, after the first warnings.
  /// - Throws: `BenchmarkError` when a program cannot be measured; `PeersMissing` before anything is, when none of the
  ///   peers that were named is here.
  public func measure(
    version: String, build: BuildDescription?, subjects: () throws -> [BenchmarkSubject]
  ) throws -> BenchmarkReport {
    var report = BenchmarkReport(
      version: version, build: build, machine: .current(), settings: settings)
    report.started = now()
    report.commandLine = commandLine
    report.machine.fileSystem = MachineDescription.fileSystem(of: folder)
    report.warnings = report.problems
    for warning in report.problems { warn(warning) }
    let session = BenchmarkSession(
      program: program, scratch: folder, settings: settings, runner: runner,
      willRun: willRun)
    let subjects = try subjects()
    let peers = peers.map { FoundPeers($0, runner) }
    if let peers, peers.found.isEmpty { throw PeersMissing(sentences: peers.sentences) }
    for sentence in peers?.sentences ?? [] { warn(sentence) }
    report.peers = peers?.versions
    let floors = try floors(subjects)
    for (subject, floor) in zip(subjects, floors) {
      var figures = try measure(subject, session, floor)
      figures.comparison = try peers?.comparison(of: subject, session)
      report.captures.append(figures)
    }
    report.machine.loadAfter = MachineDescription.currentLoad()
    report.finished = now()
    // At the very end: reading whole captures changes what is in the page cache.
    for (index, subject) in subjects.enumerated() {
      report.captures[index].digest = CaptureFigures.digest(of: subject.files, in: subject.path)
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
      guard measuresFloor else { return nil }
      let jobs = jobs.largest
      let session = FloorSession(
        program: program, folder: folder.appending("floor-\(index)"),
        settings: settings, jobs: jobs, runner: runner, willRun: willRun)
      return try session.measure(subject, usedJobs: JobNumbers.cores(of: jobs))
    }
  }

  private func measure(
    _ subject: BenchmarkSubject, _ session: BenchmarkSession, _ floor: FloorSession.Measured?
  ) throws -> CaptureFigures {
    var figures = CaptureFigures(
      id: subject.id, family: subject.family, frames: subject.frames,
      inputBytes: FileCost.bytes(of: subject.files))
    figures.floor = floor?.figures
    // What was run against the floor is not run once more.
    let known = floor.map { [(jobs: jobs.largest, samples: $0.wholeRuns)] } ?? []
    let others = jobs.numbers.filter { floor == nil || $0 != jobs.largest }
    let all = known + (others.isEmpty ? [] : try session.measure(subject, jobs: others))
    for (jobs, samples) in all.sorted(by: { $0.jobs < $1.jobs }) {
      let run = JobsFigures(
        jobs: JobNumbers.cores(of: jobs), samples: samples, frames: subject.frames,
        inputBytes: figures.inputBytes)
      if let run { figures.runs.append(run) }
    }
    return figures
  }
}

/// None of the peers that were named is on this machine.
public struct PeersMissing: Error {
  /// Which, and what to do about each.
  public var sentences: [String]
}

/// Numbers of jobs that are measured one after the other, as in `1,2,4`; 0 stands for all cores.
public struct JobNumbers: Hashable, Sendable {
  /// Ascending, without repetitions; at least one.
  public let numbers: [Int]

  private static let allowed = 0...4096

  /// Fails if the text is no list of numbers from 0 to 4096.
  public init?(_ text: String) {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    let valid = numbers.compactMap(\.self).filter(Self.allowed.contains)
    guard !valid.isEmpty, valid.count == numbers.count else { return nil }
    self.numbers = Set(valid).sorted()
  }

  /// Cores that a number of jobs stands for.
  public static func cores(of jobs: Int) -> Int {
    jobs == 0 ? ProcessInfo.processInfo.activeProcessorCount : jobs
  }

  /// The number of jobs that uses the most cores.
  var largest: Int { numbers.max { Self.cores(of: $0) < Self.cores(of: $1) } ?? 0 }
}

/// A file of a measured capture, by which others can tell that theirs is the same.
public struct MeasuredFile: Hashable, Sendable, Codable {
  public var name: String
  public var bytes: Int64
  public var sha256: String

  /// Reads the whole file. `nil` if it cannot be read.
  init?(_ path: FilePath) {
    guard let name = path.lastComponent?.string, let digest = try? Digest(ofFileAt: path),
      let bytes = try? FileIdentity(of: path).bytes
    else { return nil }
    self.name = name
    self.bytes = bytes
    sha256 = digest.hex
  }
}
