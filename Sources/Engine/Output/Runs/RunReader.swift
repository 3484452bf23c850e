import Captures
import Core
import SystemPackage

/// Reads journals of runs: `run.json`, and what only `events.jsonl` tells: when each capture was worked on,
/// and everything about a run that was killed.
package enum RunReader {
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
  package static func read(_ id: String, in root: FilePath) -> RunEntry? {
    let file = RunFile(id, in: root).flatMap {
      $0.started == nil && $0.captures == nil ? nil : $0
    }
    var entry = RunEntry(id: id, started: file?.started ?? RunID.timeText(of: id) ?? "")
    entry.finished = file?.finished
    entry.pipeline = file?.pipeline?.name
    entry.pipelinePath = file?.pipeline?.path
    entry.program = file?.program
    entry.host = file?.host?.name
    entry.user = file?.user
    entry.unrecognized = file?.unrecognized ?? []
    entry.attempts = (file?.captures ?? []).map(attempt)
    var events = RunEvents(isWhole: file?.finished != nil)
    let hasEvents = events.read(id, in: root)
    events.complete(&entry)
    // A foreign folder that holds a file of this name tells no time.
    guard file != nil || (hasEvents && !entry.started.isEmpty) else { return nil }
    return entry
  }

  private static func attempt(_ report: CaptureReport) -> RunEntry.Attempt {
    var attempt = RunEntry.Attempt(capture: report.id)
    attempt.path = report.path
    attempt.family = report.family
    attempt.outcome = report.outcome
    attempt.why = report.why
    attempt.failures = report.stages.compactMap(\.failure)
    attempt.shortfalls = report.shortfalls
    attempt.warnings = report.warnings
    attempt.missing = report.missing
    attempt.altered = report.altered
    let ran = report.stages.filter { $0.outcome == .made }
    attempt.frames = ran.compactMap(\.frames).max() ?? 0
    attempt.bytes = ran.reduce(0) { $0 &+ $1.bytesAdded }
    attempt.cpuSeconds = ran.compactMap(\.cpuSeconds).reduce(0, +)
    attempt.stageSeconds = report.stages.compactMap(\.seconds).max()
    attempt.cluster = ClusterTrace(report)
    return attempt
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
    RunEventReader.read(events, of: isWhole ? Self.ofCaptures : Self.ofCaptures + Self.ofStages) {
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
