import Captures
import Core
import FoundationEssentials
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
      program: FilePath, folder: FilePath, pipeline: String, repeats: Int, warmups: Int,
      isCold: Bool, jobs: JobNumbers, measuresFloor: Bool, peers: [Peer]?
    ) {
      (self.program, self.folder, self.jobs) = (program, folder, jobs)
      (self.measuresFloor, self.peers) = (measuresFloor, peers)
      settings = BenchmarkReport.Settings(
        pipeline: pipeline, repeats: repeats, warmups: warmups, isCold: isCold)
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
  /// - Throws: `BenchmarkError` when a program cannot be measured; `PeersMissing` before anything is, when none of the
  ///   peers that were named is here.
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
      guard plan.measuresFloor else { return nil }
      let jobs = plan.jobs.largest
      let session = FloorSession(
        program: plan.program, folder: plan.folder.appending("floor-\(index)"),
        settings: plan.settings, jobs: jobs, runner: runner, willRun: willRun)
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
    let known = floor.map { [(jobs: plan.jobs.largest, samples: $0.wholeRuns)] } ?? []
    let others = plan.jobs.numbers.filter { floor == nil || $0 != plan.jobs.largest }
    let all = known + (others.isEmpty ? [] : try session.measure(subject, jobs: others))
    for (jobs, samples) in all.sorted(by: { $0.jobs < $1.jobs }) {
      figures.runs += [
        JobsFigures(
          jobs: JobNumbers.cores(of: jobs), samples: samples, frames: subject.frames,
          inputBytes: figures.inputBytes)
      ].compactMap(\.self)
    }
    return figures
  }
}

/// The type of a folder's file system.
enum FileSystemName {
  /// For example `ext4`, from this process's mount table; `unknown` if not found.
  static func of(_ folder: FilePath) -> String {
    guard let path = PathSafety.resolved(folder) else { return "unknown" }
    return find(path.text, inMounts: MachineDescription.text("/proc/self/mounts")) ?? "unknown"
  }

  /// Searches lines `device place kind options 0 0` for the last one with the longest mount point
  /// that contains the path. Blanks in mount points are written `\040`.
  static func find(_ path: String, inMounts text: String) -> String? {
    var best: (length: Int, kind: String)?
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2 else { continue }
      let place = words[1].split(separator: "\\040", omittingEmptySubsequences: false)
        .joined(separator: " ")
      let isAround = place == "/" || path == place || path.hasPrefix(place + "/")
      if isAround, place.utf8.count >= best?.length ?? 0 {
        best = (place.utf8.count, String(words[2]))
      }
    }
    return best?.kind
  }
}

/// None of the peers that were named is on this machine.
public struct PeersMissing: Error {
  /// Which, and what to do about each.
  public var sentences: [String]
}

/// The peers of this machine, and what to say of the others.
struct FoundPeers {
  let found: [PeerFinder.Found]
  let missing: [PeerFinder.Missing]

  /// By the names of `--compare`.
  var versions: [String: String] {
    Dictionary(firstOf: found.map { ($0.peer.rawValue, $0.version) })
  }

  /// Each command line once: `ffmpeg` stands for both of its.
  var commands: [PeerCommand] {
    found.flatMap(\.commands).reduce(into: []) { all, command in
      if !all.contains(command) { all.append(command) }
    }
  }

  /// Sentences about peers that are not compared, and why.
  var sentences: [String] {
    missing.map { "\($0.peer.rawValue) is not compared: \($0.description)" }
  }

  /// A capture's export against them.
  func comparison(
    of subject: BenchmarkSubject, _ session: BenchmarkSession
  ) throws -> PeerComparison {
    var comparison: PeerComparison
    if found.isEmpty {
      comparison = PeerComparison(note: "nothing is compared: no peer that was named is here")
    } else if let video = subject.video {
      let scriptsApply = WholeJobScript.families.contains(subject.family)
      let applicable = commands.filter { $0.work == .color || scriptsApply }
      comparison =
        applicable.isEmpty
        ? PeerComparison(note: "not compared")
        : try session.compare(subject, video: video, peers: applicable)
      if applicable.count < commands.count {
        comparison.note += "; scripts read only \(WholeJobScript.families.joined(separator: ", "))"
      }
    } else {
      comparison = PeerComparison(
        note: "not compared: the capture's color is not a readable video")
    }
    if !missing.isEmpty { comparison.missing = sentences }
    return comparison
  }
}

extension FoundPeers {
  /// Looks for each. Cost: some starts of programs.
  init(_ peers: [Peer], _ finder: PeerFinder) {
    var found: [PeerFinder.Found] = []
    var missing: [PeerFinder.Missing] = []
    for peer in peers {
      do throws(PeerFinder.Missing) {
        found.append(try finder.find(peer))
      } catch {
        missing.append(error)
      }
    }
    self.init(found: found, missing: missing)
  }
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

/// One digest for all input files of a capture.
enum CaptureDigest {
  /// SHA-256 of one line `SHA256␣␣PATH` per file, in the order of the bytes of the paths, which are
  /// relative to the capture: what `sha256sum` prints. Reads every file. `nil` if one cannot be read,
  /// or without files.
  ///
  /// - Parameter path: the capture: its folder, or one of its files.
  static func hex(of files: [FilePath], in path: FilePath) -> String? {
    let folder = files.contains(path) ? path.removingLastComponent() : path
    var lines: [(name: String, line: String)] = []
    for path in Set(files.map(\.string)).map({ FilePath($0) }) {
      guard let digest = try? Digest(ofFileAt: path) else { return nil }
      var relative = path
      let name = relative.removePrefix(folder) ? relative.string : path.lastComponent?.string ?? ""
      lines.append((name, "\(digest.hex)  \(name)\n"))
    }
    guard !lines.isEmpty else { return nil }
    let sorted = lines.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    return Digest(of: sorted.map(\.line).joined()).hex
  }
}
