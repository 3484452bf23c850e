import Captures
import Core
import FoundationEssentials
import Glibc
import SystemPackage

/// Journals of runs are read from `run.json`, and from `events.jsonl` what only that tells: when each capture was worked
/// on, and everything about a run that was killed.
extension RunEntry {
  /// Ids of the runs of an output, oldest first: ids begin with their time. Links are not followed.
  ///
  /// Throws where it cannot be listed: that there are none is then not known.
  package static func ids(in root: FilePath) throws(FileError) -> [String] {
    guard try FileSystem.hasFolder(at: root) else { return [] }
    return try (HeldFolder.following(root).folder(OutputNames.runs)?.list() ?? [])
      .filter { $0.kind == .folder && !$0.name.hasPrefix(".") }.map(\.name).sorted()
  }

  /// `nil` when there is nothing in it that is a journal.
  ///
  /// Cost: proportional to the journal; memory to the captures of the run.
  package init?(_ id: String, in root: FilePath) {
    let file = RunFile(id, in: root).flatMap {
      $0.started == nil && $0.captures == nil ? nil : $0
    }
    self.init(
      id: id, started: file?.started ?? RunID.timeText(of: id) ?? "", finished: file?.finished,
      pipeline: file?.pipeline?.name, pipelinePath: file?.pipeline?.path, program: file?.program,
      host: file?.host?.name, user: file?.user, unrecognized: file?.unrecognized ?? [],
      attempts: (file?.captures ?? []).map { Attempt($0) })
    var events = RunEvents(isWhole: file?.finished != nil)
    let hasEvents = events.read(id, in: root)
    events.complete(&self)
    // A foreign folder that holds a file of this name tells no time.
    guard file != nil || (hasEvents && !started.isEmpty) else { return nil }
  }
}

extension RunEntry.Attempt {
  fileprivate init(_ report: CaptureReport) {
    let ran = report.stages.filter { $0.outcome == .made }
    self.init(
      capture: report.id, path: report.path, family: report.family, outcome: report.outcome,
      why: report.why, failures: report.stages.compactMap(\.failure), warnings: report.warnings,
      shortfalls: report.shortfalls, missing: report.missing, altered: report.altered,
      frames: ran.compactMap(\.frames).max() ?? 0,
      bytes: ran.reduce(0) { $0 &+ $1.bytesAdded },
      cpuSeconds: ran.compactMap(\.cpuSeconds).reduce(0, +),
      stageSeconds: report.stages.compactMap(\.seconds).max(), cluster: ClusterTrace(report))
  }
}

/// What the events of a run add to its `run.json`.
struct RunEvents {
  /// Whether `run.json` tells how every capture ended.
  let isWhole: Bool
  private var attempts: [String: RunEntry.Attempt] = [:]
  private var order: [String] = []
  private var last: String?
  private var first: String?

  init(isWhole: Bool) { self.isWhole = isWhole }

  /// `false` when there is no such file. Lines that cannot be read, such as the last one of a killed run, are
  /// left out.
  mutating func read(_ id: String, in root: FilePath) -> Bool {
    let path = OutputLayout.run(id, in: root).appending(OutputNames.events)
    guard let events = HeldFolder.file(path, below: root) else { return false }
    defer { try? events.close() }
    RunEvent.read(events, of: isWhole ? Self.ofCaptures : Self.ofCaptures + Self.ofStages) {
      add($0)
    }
    return true
  }

  /// Kinds that tell of captures and of the run, and of stages; most lines tell of progress.
  private static let ofCaptures: [RunEvent.Kind] = [
    .runStarted, .captureStarted, .captureFinished, .runFinished,
  ]
  private static let ofStages: [RunEvent.Kind] = [.finished, .blocked]

  private mutating func add(_ event: RunEvent) {
    if first == nil { first = event.time }
    last = event.time
    guard let capture = event.capture else { return }
    if attempts[capture] == nil { order.append(capture) }
    var attempt = attempts[capture] ?? RunEntry.Attempt(capture: capture)
    switch event.kind {
    case .captureStarted:
      // The last of several attempts in one run counts.
      attempt = RunEntry.Attempt(capture: capture)
      attempt.started = event.time
      attempt.path = event.message
    case .captureFinished:
      attempt.finished = event.time
      attempt.outcome = event.message.flatMap(RunOutcome.init(rawValue:))
      (attempt.why.cause, attempt.why.detail) = (event.cause, event.detail)
      attempt.warnings = event.warnings ?? []
      attempt.missing = event.missing ?? []
    case .finished where event.outcome == .failed, .blocked:
      var failure = event.why
      (failure.stage, failure.message) = (event.stage, event.message ?? event.kind.rawValue)
      attempt.failures.append(failure)
    case .finished where event.outcome == .made:
      attempt.frames = max(attempt.frames, event.frames ?? 0)
    default: break
    }
    attempts[capture] = attempt
  }

  func complete(_ entry: inout RunEntry) {
    if entry.started.isEmpty { entry.started = first ?? "" }
    entry.lastEvent = last
    var known: Set<String> = []
    for index in entry.attempts.indices {
      let capture = entry.attempts[index].capture
      known.insert(capture)
      guard let found = attempts[capture] else { continue }
      entry.attempts[index].started = found.started
      entry.attempts[index].finished = found.finished
    }
    if !isWhole {
      entry.attempts += order.filter { !known.contains($0) }.compactMap { attempts[$0] }
    }
  }
}

/// The one reader of `events.jsonl`.
extension RunEvent {
  /// Longer lines are none of ours.
  private static let mostLineBytes = 1 << 22

  /// Calls `body` with every event of one of `kinds`, in the order of the file. Lines that cannot be read, such
  /// as the last one of a killed run, are left out.
  ///
  /// Cost: one pass over the file; only lines of these kinds are decoded. Memory: the longest line.
  package static func read(
    _ events: FileDescriptor, of kinds: [Kind], _ body: (RunEvent) -> Void
  ) {
    let values = kinds.map { Array(#"\#($0.rawValue)""#.utf8) }
    let decoder = JSONDecoder()
    func take(_ line: ArraySlice<UInt8>) {
      guard isOne(of: values, line),
        let event = try? decoder.decode(RunEvent.self, from: Data(line))
      else { return }
      body(event)
    }
    let file = events.rawValue
    var rest: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      var start = 0
      while let end = buffer[start..<count].firstIndex(of: UInt8(ascii: "\n")) {
        if rest.isEmpty {
          take(buffer[start..<end])
        } else {
          rest += buffer[start..<end]
          take(rest[...])
          rest.removeAll(keepingCapacity: true)
        }
        start = end + 1
      }
      if rest.count < mostLineBytes { rest += buffer[start..<count] }
    }
  }

  private static let key = Array(#""kind":""#.utf8)

  /// Whether the kind of an event is one of `values`, each with the quotation mark behind it: many times as fast
  /// as decoding the line.
  private static func isOne(of values: [[UInt8]], _ line: ArraySlice<UInt8>) -> Bool {
    line.withUnsafeBytes { line in
      guard let start = line.baseAddress else { return false }
      var at = 0
      while let quote = memchr(start + at, Int32(UInt8(ascii: "\"")), line.count - at) {
        at = quote - UnsafeMutableRawPointer(mutating: start)
        // In a message the quotation marks around a key are escaped.
        if line[at...].starts(with: key) {
          let value = line[(at + key.count)...]
          return values.contains { value.starts(with: $0) }
        }
        at += 1
      }
      return false
    }
  }
}

/// `run.json` as it is read: the one reader of it. `RunRecord` is how it is written.
///
/// Journals of runs that go on have less.
package struct RunFile: Sendable, Decodable {
  package struct Named: Sendable, Decodable {
    package var name: String?
    package var path: String?
  }

  /// The start in UTC (ISO 8601).
  package var started: String?
  /// `nil` while the run goes on, and where it was killed.
  package var finished: String?
  package var pipeline: Named?
  package var program: ProgramIdentity?
  var host: Named?
  var user: String?
  package var captures: [CaptureReport]?
  var unrecognized: [RunReport.Unrecognized]?

  /// Throws for what is no JSON, and where a value has another type.
  package init(_ bytes: [UInt8]) throws {
    self = try Self(json: bytes)
  }

  /// The file of a run of an output; `nil` where there is none that can be understood. No link is followed
  /// below `root`. Cost: proportional to the file, which grows with the captures of the run.
  package init?(_ run: String, in root: FilePath) {
    let path = OutputLayout.run(run, in: root).appending(OutputNames.run)
    guard let bytes = HeldFolder.contents(of: path, below: root), let file = try? RunFile(bytes)
    else { return nil }
    self = file
  }
}

/// A run whose `run.json` is there and cannot be understood: cut, overwritten, or written by a build with other
/// ideas of it.
public struct DamagedRun: Error, Hashable, CustomStringConvertible {
  /// Path of the run's `run.json`.
  public let file: FilePath
  /// Whether `events.jsonl` is beside it.
  let hasEvents: Bool
}

extension DamagedRun {
  /// `nil` where the file is absent or understood, and for what is no run of ours. Cost: one `run.json`.
  init?(_ run: String, in root: FilePath) {
    guard RunID(run) != nil,
      let folder = HeldFolder(root)?.below(OutputNames.runs)?.below(run),
      folder.stamp(of: OutputNames.run) != nil, RunFile(run, in: root) == nil
    else { return nil }
    file = OutputLayout.run(run, in: root).appending(OutputNames.run)
    hasEvents = folder.stamp(of: OutputNames.events) != nil
  }

  /// The damaged runs of an output, oldest first.
  ///
  /// - Parameter known: its runs as they were read. The file of one that is known to have ended is understood.
  ///
  /// Cost: `run.json` of every run that is not known to have ended.
  public static func all(
    in root: FilePath, known: [RunEntry]
  ) throws(FileError) -> [DamagedRun] {
    let whole = Set(known.lazy.filter { $0.finished != nil }.map(\.id))
    return try RunEntry.ids(in: root).filter { !whole.contains($0) }
      .compactMap { DamagedRun($0, in: root) }
  }

  /// The damaged runs that are newer than every run whose file is understood, oldest first. Cost: their files and one
  /// more.
  public static func newest(in root: FilePath) throws(FileError) -> [DamagedRun] {
    var found: [DamagedRun] = []
    for id in try RunEntry.ids(in: root).reversed() {
      if let damaged = DamagedRun(id, in: root) {
        found.append(damaged)
      } else if RunFile(id, in: root) != nil {
        break
      }
    }
    return found.reversed()
  }

  /// What is not known because of it, and what to do.
  public var note: String {
    "\(file.shown.onOneLine) is damaged: "
      + (hasEvents
        ? "of this run only its events are known, not its pipeline, its host and its messages"
        : "nothing of this run is known")
      + "; restore the file, or remove the folder of the run, which holds no results"
  }

  /// One line for each of `damaged`, at most five of them, the newest, and how many more there are.
  public static func notes(_ damaged: [DamagedRun]) -> [String] {
    let most = 5
    let rest = damaged.count - most
    return damaged.suffix(most).map(\.note)
      + (rest > 0 ? ["\(rest) older files run.json are damaged, too"] : [])
  }

  /// For those who want to go on with the run.
  public var description: String {
    "\(file.shown.onOneLine) is missing or damaged: the run cannot be continued; restore the file, or cancel "
      + "its jobs on the cluster, remove its folder and run again: what is published is kept"
  }
}
