import Captures
import Core
import FoundationEssentials
import Synchronization
import SystemPackage

/// The folder of one run: `events.jsonl` while it goes on, `run.json` from its start and again at its end.
public final class RunJournal: EventSink {
  public let id: String
  public let folder: FilePath
  let held: HeldFolder
  private let events: FileDescriptor
  /// How many events could not be written, and why the first of them.
  private let unwritten = Mutex<(count: Int, reason: String)>((0, ""))
  /// When the progress of each job was last written, on the monotonic clock.
  private let lastProgress = Mutex<[String: Double]>([:])
  let clock: RunClock
  let recorded: Mutex<Recorded>

  /// A night of progress four times a second would be all that the journal holds.
  private static let secondsBetweenProgress = 5.0

  /// Makes the run's folder under `root`: one that no other run has made.
  public init(root: FilePath, clock: RunClock) throws(FileError) {
    self.clock = clock
    recorded = Mutex(
      Recorded(started: clock.wallText(), startedSeconds: clock.monotonicSeconds()))
    EnclosedPaths.enclose(root, links: .none)
    let runs = try HeldFolder.making(following: root).makeFolder(OutputNames.runs)
    var made: (String, HeldFolder)?
    while made == nil {
      let id = RunID.new(at: clock).text
      made = try runs.makeNewFolder(id).map { (id, $0) }
    }
    (id, held) = made ?? ("", runs)
    folder = held.path
    events = try held.append(to: OutputNames.events)
  }

  /// Goes on with a run that another process began: events are appended, `run.json` is replaced at its end
  /// and keeps what it said of who began it.
  ///
  /// Throws `DamagedRun` where its `run.json` is missing or cannot be understood.
  ///
  /// - Parameter folder: of the run.
  public init(resuming folder: FilePath, clock: RunClock) throws {
    self.clock = clock
    id = folder.name ?? ""
    self.folder = folder
    held = try HeldFolder.following(folder)
    events = try held.append(to: OutputNames.events)
    let bytes = try held.contents(of: OutputNames.run) ?? []
    do {
      recorded = Mutex(try Recorded(resuming: bytes, nowSeconds: clock.monotonicSeconds()))
    } catch {
      throw DamagedRun(file: folder.appending(OutputNames.run), hasEvents: true)
    }
  }

  deinit {
    try? events.close()
  }

  /// Appends one line; of a job's progress only the first and then one every few seconds. A full disk
  /// must not stop the work that is still possible: what cannot be written here is dropped.
  public func send(_ event: RunEvent) {
    guard let line = try? JSONText.canonical(event) else { return }
    lastProgress.withLock { last in
      if event.kind == .progress {
        let job = "\(event.capture ?? "") \(event.stage ?? "")"
        let now = clock.monotonicSeconds()
        if let before = last[job], now - before < Self.secondsBetweenProgress { return }
        last[job] = now
      }
      do {
        _ = try (line + [UInt8(ascii: "\n")]).withUnsafeBytes { try events.writeAll($0) }
      } catch {
        unwritten.withLock { unwritten in
          if unwritten.count == 0 { unwritten.reason = "\(error)" }
          unwritten.count += 1
        }
      }
    }
  }

  /// How many events are missing in `events.jsonl` because they could not be written, and why; `nil`: none.
  public var lost: String? {
    let (count, reason) = unwritten.withLock { $0 }
    guard count > 0 else { return nil }
    let file = folder.appending(OutputNames.events).shown.onOneLine
    return "\(file): \(Plural.text(count, "event")) could not be written: \(reason)"
  }

}

/// Passes every event on to several sinks.
public struct EventFan: EventSink {
  let sinks: [any EventSink]

  public init(_ sinks: [any EventSink]) {
    self.sinks = sinks
  }

  public func send(_ event: RunEvent) {
    for sink in sinks { sink.send(event) }
  }
}

extension EventSink {
  /// Sends an event of this moment.
  package func send(
    _ kind: RunEvent.Kind, _ clock: RunClock, capture: String? = nil,
    _ fill: (inout RunEvent) -> Void
  ) {
    var event = RunEvent(kind: kind, time: clock.wallText(), capture: capture)
    fill(&event)
    send(event)
  }
}

/// `run.json`: there from the start of a run, replaced at its end.
extension RunJournal {
  /// What the journal keeps in mind for it.
  struct Recorded {
    var context: RunContext?
    var started: String
    var startedSeconds: Double
    /// Captures that have ended.
    var captures: [CaptureReport] = []
    var isFinished = false
  }

  /// Writes `run.json` of a run that starts, and its pipeline beside it.
  ///
  /// - Parameter pipeline: the text of the pipeline, without secrets.
  public func begin(_ context: RunContext, pipeline: String) throws {
    let bytes = try recorded.withLock { recorded in
      recorded.context = context
      return try JSONText.pretty(record(RunReport(run: id), recorded, isFinished: false))
    }
    try held.replace(OutputNames.pipeline, with: Array(pipeline.utf8))
    try held.replace(OutputNames.run, with: bytes)
  }

  /// Writes `run.json` for the last time. Only the first end counts.
  public func finish(_ report: RunReport) throws {
    let bytes = try recorded.withLock { recorded -> [UInt8]? in
      if recorded.isFinished { return nil }
      recorded.isFinished = true
      return try JSONText.pretty(record(report, recorded, isFinished: true))
    }
    if let bytes { try held.replace(OutputNames.run, with: bytes) }
  }

  /// For an end that cannot wait for the run: writes what has ended so far. Failing to is not reported.
  public func abandon(exit: Int) {
    var report = RunReport(run: id)
    report.exit = exit
    report.captures = recorded.withLock { $0.captures }
    try? finish(report.withoutInnerStages)
  }

  private func record(
    _ report: RunReport, _ recorded: Recorded, isFinished: Bool
  ) -> RunRecord {
    var report = report
    let seconds = clock.monotonicSeconds() - recorded.startedSeconds
    if report.totals == RunTotals() {
      report.totals = RunTotals(
        report.captures, unrecognized: report.unrecognized.count, seconds: seconds)
    }
    return RunRecord(
      report: report, context: recorded.context, started: recorded.started,
      finished: isFinished ? clock.wallText() : nil, seconds: seconds)
  }
}

extension RunJournal.Recorded {
  /// From a `run.json` that another process wrote. Its clock counts from another moment: how long ago the
  /// run began is told by the wall's.
  init(resuming bytes: [UInt8], nowSeconds: Double) throws {
    let file = try RunFile(bytes)
    guard let began = file.started else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "no time of its start"))
    }
    started = began
    // Who ran it counts as a whole.
    context = try? RunContext(json: bytes)
    let age = UTCText.nanoseconds(began).map { FileStamp.nowNanoseconds() &- $0 } ?? 0
    startedSeconds = nowSeconds - max(0, Double(age) / 1e9)
  }
}

/// Hears of captures that have ended, with all that is known of them.
public protocol ReportSink: EventSink {
  func send(_ outcome: CaptureOutcome)
}

extension RunJournal: ReportSink {
  public func send(_ outcome: CaptureOutcome) {
    recorded.withLock { $0.captures.append(outcome.report) }
  }
}

extension EventFan: ReportSink {
  public func send(_ outcome: CaptureOutcome) {
    for case let sink as any ReportSink in sinks { sink.send(outcome) }
  }
}

extension RunID {
  /// A new one, made now.
  public static func new(at clock: RunClock = .system) -> RunID {
    RunID(wallText: clock.wallText())
  }
}

/// What has become of the captures of a run so far: every one ends in exactly one entry, in the order in
/// which they were given, whatever the order in which they end.
package struct RunReportBuilder {
  private var targets: [CaptureTarget]
  private let clock: RunClock
  private let events: any EventSink
  private let run: String
  private let declined: [CaptureReport]
  private let startSeconds: Double
  private var reports: [Int: CaptureReport] = [:]
  /// Exit codes that single captures ask for.
  private var codes: Set<Int> = []
  private var unreadable = 0
  private var notStarted = 0
  private var marks: MarkBook?
  package private(set) var hasFailed: Bool

  package init(
    _ targets: [CaptureTarget], declined: [CaptureFinder.Finding], run: String, clock: RunClock,
    events: any EventSink
  ) {
    self.targets = targets
    self.run = run
    self.clock = clock
    self.events = events
    startSeconds = clock.monotonicSeconds()
    self.declined = declined.map {
      CaptureReport(
        id: $0.path.shownName, path: $0.path.shown, family: nil, outcome: .failed,
        why: Failure(message: $0.declined))
    }
    hasFailed = !declined.isEmpty
    events.send(.runStarted, clock) { $0.total = targets.count }
  }

  /// One more, which came while the run went on.
  package mutating func append(_ target: CaptureTarget) { targets.append(target) }

  /// How many captures have ended, without those that are not started.
  private var ended: Int { reports.count - notStarted }

  package func start(_ index: Int) {
    let target = targets[index]
    events.send(.captureStarted, clock, capture: target.layout.name) {
      $0.message = target.recognition.path.shown
    }
  }

  /// Why a capture is not started.
  package enum SkipReason {
    case interrupted, failFast
  }

  package mutating func skip(_ index: Int, _ why: SkipReason) {
    if reports[index] == nil { notStarted += 1 }
    reports[index] =
      switch why {
      case .interrupted: targets[index].report(.interrupted, Failure(message: "not started"))
      case .failFast: targets[index].skipped("--fail-fast")
      }
  }

  package mutating func finish(_ index: Int, _ ended: CaptureOutcome) {
    let outcome = know(index, ended)
    let report = outcome.report
    events.send(.captureFinished, clock, capture: targets[index].layout.name) {
      $0.message = report.outcome.rawValue
      ($0.cause, $0.detail) = (report.why.cause, report.why.detail)
      $0.warnings = report.warnings.isEmpty ? nil : report.warnings
      $0.missing = report.missing.isEmpty ? nil : report.missing
      ($0.done, $0.total) = (self.ended, targets.count)
    }
    (events as? any ReportSink)?.send(outcome)
  }

  /// Adds an outcome that an earlier supervisor of the run has reported already.
  @discardableResult
  package mutating func know(_ index: Int, _ outcome: CaptureOutcome) -> CaptureOutcome {
    var outcome = outcome
    if !outcome.report.reasons.isEmpty {
      let target = targets[index]
      let marks = marks ?? MarkBook(ofOutput: target.layout.root)
      self.marks = marks
      outcome.report.mark = marks.mark(
        of: target.layout, at: CaptureLocation(resolving: target.recognition))
    }
    codes.formUnion(outcome.codes)
    unreadable += outcome.isUnreadable ? 1 : 0
    hasFailed = hasFailed || outcome.report.outcome == .failed
    reports[index] = outcome.report
    return outcome
  }

  /// The report of the run, which is over now.
  package func close() -> RunReport {
    var report = RunReport(run: run)
    report.captures =
      declined + targets.indices.map { reports[$0] ?? targets[$0].skipped("not started") }
    report.totals = RunTotals(
      report.captures, unrecognized: 0, seconds: clock.monotonicSeconds() - startSeconds)
    report.exit = ExitStatus.of(report, codes)
    // A capture that cannot be opened is 65 when it is all that was given.
    if report.exit == ExitStatus.jobFailed, unreadable == 1, report.captures.count == 1 {
      report.exit = ExitStatus.noCapture
    }
    events.send(.runFinished, clock) { $0.exit = report.exit }
    return report
  }
}
