import Core
import FoundationEssentials
import SystemPackage

/// Everything that a benchmark measured: the output of `bench --json`, and the baseline of later
/// ones.
public struct BenchmarkReport: Hashable, Sendable, Codable {
  public var schema = 1
  /// Begin and end of the measurement, UTC, as `2026-11-20T21:04:05Z`.
  public var started: String?
  public var finished: String?
  /// The words of the command, from which the measurement can be repeated.
  var commandLine: [String]?
  /// Version of the program.
  public var version: String
  /// How the program was built.
  public var build: BuildDescription?
  /// Versions of the compared programs, by their names in `--compare`.
  var peers: [String: String]?
  var machine: MachineDescription
  public var settings: Settings
  /// `problems` at the time of measurement.
  public var warnings: [String]?
  public var captures: [CaptureFigures] = []

  /// Settings of the measurement.
  public struct Settings: Hashable, Sendable, Codable {
    public var pipeline: String
    var repeats: Int
    var warmups: Int
    /// Whether the input files were dropped from the page cache before every run.
    var isCold: Bool
  }

  /// Problems that affect all figures, one sentence each.
  var problems: [String] {
    (build?.configuration == "debug"
      ? ["this is a debug build: its times say nothing about the program"] : []) + machine.warnings
  }

  /// The figures of a capture with this content; `nil` if it was not measured.
  func figures(of id: String, _ inputBytes: Int64) -> CaptureFigures? {
    captures.first { $0.id == id && $0.inputBytes == inputBytes }
  }

  /// Whether anything that is to be measured can be compared with this earlier report: the same capture with one of
  /// these numbers of cores.
  public func canBeBaseline(of subjects: [BenchmarkSubject], _ jobs: JobNumbers) -> Bool {
    let cores = Set(jobs.numbers.map(JobNumbers.cores))
    return subjects.contains { subject in
      figures(of: subject.id, FileCost.bytes(of: subject.files))?.runs
        .contains { cores.contains($0.jobs) } ?? false
    }
  }

  /// What was measured, for who has a baseline of something else: five captures at most, and how many more.
  public var contents: String {
    let most = 5
    let some = captures.prefix(most).map { capture in
      "\(capture.id) (\(capture.inputBytes) bytes, -j "
        + capture.runs.map { "\($0.jobs)" }.joined(separator: ",") + ")"
    }
    let more = captures.count - some.count
    guard !some.isEmpty else { return "no capture" }
    return (some + (more > 0 ? ["\(more) more"] : [])).joined(separator: ", ")
  }

  /// Why a comparison with peers that was asked for says nothing, or not all; `nil`: every peer was compared with.
  public var peersProblem: String? {
    let comparisons = captures.compactMap(\.comparison)
    let missing = Set(comparisons.flatMap { $0.missing ?? [] }).sorted()
    if !missing.isEmpty { return missing.joined(separator: "; ") }
    if comparisons.contains(where: { !$0.ratios.isEmpty }) { return nil }
    return comparisons.first?.note ?? "no capture was measured"
  }

  /// Whether a peer that was asked for is not installed.
  public var isPeerMissing: Bool {
    captures.contains { $0.comparison?.missing?.isEmpty == false }
  }

  /// Why there is no floor, if one was asked for; `nil`: there is one.
  public var floorProblem: String? {
    guard captures.allSatisfy({ $0.floor?.stages.isEmpty ?? true }) else { return nil }
    let why = captures.first?.floor?.notes.joined(separator: "; ") ?? "no capture"
    return "no stage has a floor here: \(why)"
  }
}

extension BenchmarkReport {
  /// Throws `ReportProblem` if the bytes are not a report.
  public init(json: [UInt8]) throws(ReportProblem) {
    do {
      self = try JSONDecoder().decode(BenchmarkReport.self, from: Data(json))
    } catch {
      throw ReportProblem(of: json, error)
    }
    guard schema == 1 else { throw ReportProblem.later(schema: schema) }
  }
}

/// The figures of one capture.
public struct CaptureFigures: Hashable, Sendable, Codable {
  public var id: String
  public var family: String
  public var frames: Int
  var inputBytes: Int64
  /// SHA-256 over all input files (`digest(of:in:)`); `nil` if a file could not be read.
  public var digest: String?
  /// The video that peers decode; `nil` without one.
  public var video: MeasuredFile?
  /// One entry per number of jobs.
  var runs: [JobsFigures] = []
  var comparison: PeerComparison?
  /// Comparison with the floor, if measured: the least possible work with the same libraries.
  var floor: FloorFigures?
}

extension CaptureFigures {
  /// One digest for all input files of a capture: SHA-256 of one line `SHA256␣␣PATH` per file, in
  /// the order of the bytes of the paths, which are relative to the capture: what `sha256sum` prints.
  /// Reads every file. `nil` if one cannot be read, or without files.
  ///
  /// - Parameter path: the capture: its folder, or one of its files.
  static func digest(of files: [FilePath], in path: FilePath) -> String? {
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

/// The figures of runs with the same number of jobs.
public struct JobsFigures: Hashable, Sendable, Codable {
  var jobs: Int
  public var whole: Figures
  public var stages: [Figures]

  /// `nil` without samples.
  init?(
    jobs: Int, samples: [RunSample], frames: Int, inputBytes: Int64
  ) {
    guard let whole = Figures(samples, frames: frames, inputBytes: inputBytes) else { return nil }
    self.jobs = jobs
    self.whole = whole
    stages = Figures.ofStages(samples)
  }
}
