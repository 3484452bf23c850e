import Captures
import Core
import Engine
import Synchronization

/// Displays the events of a run: on a terminal a redrawn line per running capture, else a line per
/// minute; and a permanent short line for each capture that has ended. For work of under two
/// seconds only the outcome is displayed.
///
/// A run over several captures also gets a line for all of them, and every line names its capture.
/// The size of the terminal is read at every redraw, because windows can be resized.
public final class ProgressDisplay: EventSink {
  public enum Style: Sendable {
    case terminal(@Sendable () -> TerminalSize)
    case plain
  }

  private struct State {
    var board: ProgressBoard
    let short: ShortIDs
    var named: Set<String> = []
    var lastDrawnSeconds: Double
    var open = TerminalLines()

    /// The name of a capture: in full the first time, short afterward.
    mutating func name(_ id: String) -> String { named.insert(id).inserted ? id : short[id] }
  }

  private let style: Style
  private let isVerbose: Bool
  private let write: @Sendable (String) -> Void
  private let nowSeconds: @Sendable () -> Double
  private let state: Mutex<State>

  /// - Parameters:
  ///   - ids: all captures of the run: each is named in full once, then by its short id.
  ///   - work: amount of work of a capture, in any unit; `nil` if unknown. The basis of the time
  ///     estimate.
  ///   - isVerbose: whether to report every stage, with its reason, and every warning.
  ///   - write: receives text for standard error.
  public init(
    style: Style, ids: [String] = [], work: @escaping @Sendable (String) -> Double? = { _ in nil },
    isVerbose: Bool, nowSeconds: @escaping @Sendable () -> Double,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.style = style
    self.isVerbose = isVerbose
    self.nowSeconds = nowSeconds
    self.write = write
    let start = nowSeconds()
    state = Mutex(
      State(
        board: ProgressBoard(startSeconds: start, names: ids, work: work),
        short: ShortIDs(ids), lastDrawnSeconds: start))
  }

  public func send(_ event: RunEvent) {
    state.withLock { state in
      let now = nowSeconds()
      let seconds = state.board.elapsedSeconds(of: event.capture ?? "", at: now)
      state.board.apply(event, atSeconds: now)
      let lines = lines(about: event, seconds, &state)
      if !lines.isEmpty { put(lines, &state) }
      switch event.kind {
      case .progress, .cluster: draw(&state, now)
      case .captureFinished: if !lines.isEmpty { draw(&state, now, isDue: true) }
      case .runFinished: put([], &state)
      default: break
      }
    }
  }

  /// Prints a permanent line from elsewhere. Written directly, it would end up inside the display.
  public func say(_ line: String) {
    state.withLock { put([line], &$0) }
  }

  /// The permanent lines for an event.
  ///
  /// - Parameter seconds: how long the capture has been running.
  private func lines(
    about event: RunEvent, _ seconds: Double?, _ state: inout State
  ) -> [String] {
    let capture = event.capture ?? ""
    let stage = event.stage ?? ""
    let hasSeveral = state.board.hasSeveral
    func named(_ text: String) -> String {
      (hasSeveral ? state.name(capture) + " " : "  ") + text
    }
    switch event.kind {
    case .captureStarted: return hasSeveral ? [] : [state.name(capture)]
    case .waiting: return [named("waiting: \(event.message ?? "")")]
    case .locksNotShared: return [named("warning: \(event.message ?? "")")]
    case .retried: return [named("\(stage): trying again after: \(event.message ?? "")")]
    case .stopping: return [named("\(stage): stopping: \(event.message ?? "")")]
    case .finished, .blocked:
      // With several captures, a short line states each outcome; reasons follow after the run.
      if case .terminal = style, hasSeveral, !isVerbose { return [] }
      return Self.ended(event, isVerbose: isVerbose).map { [named($0)] } ?? []
    case .captureFinished:
      let warnings = event.warnings ?? []
      // For many captures only the number; the texts are in `status` and `capture.json`.
      let lines = (isVerbose || !hasSeveral ? warnings : []).map { warning in
        named(
          "\(warning.severity.rawValue): \(warning.code.rawValue) ×\(warning.count) "
            + "(\(warning.subject.onOneLine)): \(warning.message.onOneLine)")
      }
      guard hasSeveral else { return lines }
      let outcome = RunOutcome(rawValue: event.message ?? "").map {
        OutcomeWords.text(
          $0, warnings: warnings.counted, missing: event.missing ?? [])
      }
      var text =
        "[\(state.board.ended)/\(state.board.total)] \(state.name(capture)) "
        + (outcome ?? event.message ?? "")
      if let seconds, seconds >= 1 { text += " in \(DurationText.text(seconds.rounded()))" }
      return lines + [text]
    case .elementRetried, .elementLost:
      let place = [event.job.map { "job \($0)" }, event.node].compactMap { $0 }
      return [
        "element \(event.element ?? 0) (\(place.joined(separator: ", "))): \(event.message ?? "")"
      ]
    case .runStarted, .planned, .started, .progress, .cluster, .elementStarted, .elementEnded,
      .runFinished:
      return []
    }
  }

  /// Redraws ten times a second on a terminal, else prints once a minute.
  private func draw(_ state: inout State, _ now: Double, isDue: Bool = false) {
    switch style {
    case .terminal(let size):
      guard isDue || now - state.lastDrawnSeconds >= 0.1 else { return }
      let size = size()
      let lines = state.board.lines(
        atSeconds: now, size, name: { [short = state.short] in short[$0] })
      guard !lines.isEmpty else { return }
      state.lastDrawnSeconds = now
      write(state.open.drawing(lines, size))
    case .plain:
      guard now - state.lastDrawnSeconds >= 60,
        let text = state.board.plainLine(
          atSeconds: now, name: { [short = state.short] in short[$0] })
      else { return }
      state.lastDrawnSeconds = now
      write(text + "\n")
    }
  }

  /// Replaces the redrawn lines by permanent ones.
  private func put(_ lines: [String], _ state: inout State) {
    var text = ""
    if case .terminal(let size) = style { text = state.open.clearing(size()) }
    text += lines.map { $0.shown + "\n" }.joined()
    if !text.isEmpty { write(text) }
  }

  /// A line about a stage's end; successes are reported only if requested.
  private static func ended(_ event: RunEvent, isVerbose: Bool) -> String? {
    guard let stage = event.stage, let outcome = event.outcome else { return nil }
    switch outcome {
    case .made:
      guard isVerbose else { return nil }
      var text = "\(stage): \(Plural.text(event.frames ?? 0, "frame"))"
      if let seconds = event.seconds, seconds > 0 {
        text += " in \(NumberText.short(seconds)) s"
        if let frames = event.frames, frames > 0 {
          text += ", \(NumberText.short(Double(frames) / seconds)) frames/s"
        }
      }
      return text + (event.reason.map { " (\($0.rawValue))" } ?? "")
    case .failed, .blocked, .interrupted:
      return "\(stage): \(outcome.rawValue): \(event.message ?? "")"
    case .upToDate: return isVerbose ? "\(stage): up to date" : nil
    case .notPossible:
      return isVerbose ? "\(stage): not possible: \(event.message ?? "")" : nil
    case .skipped: return nil
    }
  }
}

/// Formats the lines of the live display for a given width.
extension ProgressBoard {
  /// A line per capture that has worked for more than two seconds, as many as fit, and one for all of a run that has.
  func lines(
    atSeconds now: Double, _ size: TerminalSize, name: (String) -> String
  ) -> [String] {
    // The frames of a run on a batch system are known only when they are done.
    if let clusterState = clusterState { return [clusterState.onOneLine] }
    let shown = working.filter { now - $0.startSeconds > 2 && !$0.stages.isEmpty }
    let all = hasSeveral
    // Of many short captures none may ever be shown, and how far the run is counts all the more.
    guard !shown.isEmpty || all && isOpen && elapsedSeconds(at: now) > 2 else {
      return []
    }
    // One row is for the line of totals, and one for the cursor of the next permanent line.
    let most = max(1, size.rows - (all ? 2 : 1))
    let names = shown.prefix(most).map { all ? name($0.capture).onOneLine : "" }
    let nameColumns = min(
      names.map { TextWidth.columns($0) }.max() ?? 0, max(8, size.columns / 3))
    var lines = zip(shown, names).map { progress, name in
      let head = all ? TextWidth.fit(name, to: nameColumns) + " " : "  "
      return head
        + Self.text(progress, columns: size.columns - TextWidth.columns(head), isAlone: !all)
    }
    if all {
      let more = shown.count > most ? " · \(shown.count - most) more at work" : ""
      let text = overall(atSeconds: now) + more
      // The remaining time is more useful than the rate.
      let fits = TextWidth.columns(text) <= TerminalLines.lastColumns(size)
      lines.append(fits ? text : overall(atSeconds: now, hasRate: false) + more)
    }
    return lines
  }

  /// `[====>     ]  52 %  aligned 25/70, 2.7 frames/s · depth 33/70`; without the bar if the width
  /// is too small.
  ///
  /// - Parameter isAlone: whether to include the remaining time, because there is no line for all
  ///   captures.
  private static func text(_ progress: CaptureProgress, columns: Int, isAlone: Bool) -> String {
    var parts: [String] = []
    let percent = Int((progress.fraction * 100).rounded(.down))
    if columns >= 44 {
      parts.append("[\(bar(progress.fraction, columns: columns >= 64 ? 16 : 8))]")
    }
    parts.append((percent < 10 ? "  " : percent < 100 ? " " : "") + "\(percent) %")
    let stages = progress.stagesByWork.enumerated().map { place, stage in
      var text = stage.name
      if stage.rate.done > 0 || stage.rate.total != nil {
        text += " \(stage.rate.done)" + (stage.rate.total.map { "/\($0)" } ?? "")
      }
      if place == 0, let rate = stage.rate.framesPerSecond {
        text += ", \(NumberText.short(rate)) frames/s"
        if isAlone, let left = stage.rate.secondsLeft {
          text += ", \(DurationText.text(left)) left"
        }
      }
      return text
    }
    parts.append(stages.joined(separator: " · "))
    return parts.joined(separator: " ")
  }

  private static func bar(_ fraction: Double, columns: Int) -> String {
    let done = Int((fraction * Double(columns)).rounded(.down))
    let head = done < columns && done > 0 ? ">" : ""
    return String(repeating: "=", count: done - head.count) + head
      + String(repeating: " ", count: columns - done)
  }

  /// `3/700 captures, 1 failed · 2 min 05 s, 66.0 frames/s · 1 h 12 min left`
  private func overall(atSeconds now: Double, hasRate: Bool = true) -> String {
    var text = "\(ended)/\(total) captures"
    if failed > 0 { text += ", \(failed) failed" }
    text += " · " + DurationText.text(elapsedSeconds(at: now).rounded(.down))
    if hasRate, let rate = framesPerSecond(at: now) {
      text += ", \(NumberText.short(rate)) frames/s"
    }
    if let left = secondsLeft(at: now) { text += " · \(DurationText.text(left)) left" }
    return text
  }

  /// The line per minute of a run without a terminal.
  func plainLine(atSeconds now: Double, name: (String) -> String) -> String? {
    if let clusterState = clusterState { return clusterState.onOneLine }
    let shown = working.filter { !$0.stages.isEmpty }
    guard hasSeveral else {
      return shown.first.map { "  " + Self.text($0, columns: 0, isAlone: true).drop { $0 == " " } }
    }
    let most = 4
    var names = shown.prefix(most).map {
      "\(name($0.capture).onOneLine) \(Int(($0.fraction * 100).rounded(.down))) %"
    }
    if shown.count > most { names.append("\(shown.count - most) more") }
    return overall(atSeconds: now)
      + (names.isEmpty ? "" : " · at work: " + names.joined(separator: ", "))
  }
}

/// The state behind a progress display: running captures and their progress. Pure.
struct ProgressBoard {
  private let startSeconds: Double
  /// Amount of work of a capture, in any unit; `nil` if unknown.
  private let work: @Sendable (String) -> Double?
  /// Running captures in the order in which they started.
  private(set) var working: [CaptureProgress] = []
  /// Number of frames of stages that have ended.
  private var framesDone = 0
  private(set) var ended = 0
  private(set) var failed = 0
  /// Whether captures are left that are not started any more.
  private var isInterrupted = false
  private(set) var total = 1
  /// Work of captures that have ended: of those with something to do, and of all.
  private var workDone = 0.0
  private var endedNames: Set<String> = []
  private let names: [String]
  /// The state of a run on a batch system.
  private(set) var clusterState: String?

  init(
    startSeconds: Double, names: [String] = [],
    work: @escaping @Sendable (String) -> Double? = { _ in nil }
  ) {
    self.startSeconds = startSeconds
    self.names = names
    self.work = work
  }

  var hasSeveral: Bool { total > 1 }
  /// Whether captures have not ended yet.
  var isOpen: Bool { ended < total }

  mutating func apply(_ event: RunEvent, atSeconds now: Double) {
    let capture = event.capture ?? ""
    switch event.kind {
    case .runStarted: total = event.total ?? 1
    case .captureStarted:
      working.append(CaptureProgress(capture: capture, startSeconds: now))
    case .planned, .started, .progress, .finished, .blocked:
      if event.kind == .finished, event.outcome == .made { framesDone += event.frames ?? 0 }
      change(capture, now) { $0.apply(event, atSeconds: now) }
    case .captureFinished:
      ended = event.done ?? ended + 1
      if ["failed", "blocked"].contains(event.message) { failed += 1 }
      isInterrupted = isInterrupted || event.message == RunOutcome.interrupted.rawValue
      endedNames.insert(capture)
      if working.contains(where: { $0.capture == capture && $0.hasWorked }) {
        workDone += work(capture) ?? 0
      }
      working.removeAll { $0.capture == capture }
    case .cluster: clusterState = event.message
    case .waiting, .locksNotShared, .retried, .stopping, .elementStarted, .elementEnded,
      .elementRetried, .elementLost, .runFinished:
      break
    }
  }

  private mutating func change(
    _ capture: String, _ now: Double, _ body: (inout CaptureProgress) -> Void
  ) {
    if let index = working.lastIndex(where: { $0.capture == capture }) {
      body(&working[index])
    } else {
      var new = CaptureProgress(capture: capture, startSeconds: now)
      body(&new)
      working.append(new)
    }
  }

  func elapsedSeconds(of capture: String, at now: Double) -> Double? {
    working.first { $0.capture == capture }.map { now - $0.startSeconds }
  }

  func elapsedSeconds(at now: Double) -> Double { max(0, now - startSeconds) }

  /// Frames per second since the start, over all stages.
  func framesPerSecond(at now: Double) -> Double? {
    let frames = framesDone + working.flatMap(\.stages.values).reduce(0) { $0 + $1.done }
    let seconds = elapsedSeconds(at: now)
    return seconds > 0 && frames > 0 ? Double(frames) / seconds : nil
  }

  /// Estimated seconds left. By work rather than by number of captures, because a capture of 50 GB
  /// takes longer than one of 5 MB. `nil` before there is a basis for an estimate.
  func secondsLeft(at now: Double) -> Double? {
    var (done, left) = (workDone, 0.0)
    let fractions = Dictionary(firstOf: working.map { ($0.capture, $0.fraction) })
    for name in names where !endedNames.contains(name) {
      guard let whole = work(name) else { return nil }
      done += whole * (fractions[name] ?? 0)
      left += whole * (1 - (fractions[name] ?? 0))
    }
    let seconds = elapsedSeconds(at: now)
    guard done > 0, seconds > 2, !isInterrupted else { return nil }
    return seconds * left / done
  }
}

/// The progress of one running capture.
struct CaptureProgress {
  let capture: String
  let startSeconds: Double
  /// Stages that are planned to run.
  private(set) var planned: Set<String> = []
  private(set) var ended: Set<String> = []
  /// Running stages.
  private(set) var stages: [String: RateEstimate] = [:]

  mutating func apply(_ event: RunEvent, atSeconds now: Double) {
    guard let stage = event.stage else { return }
    switch event.kind {
    case .planned:
      if event.action != .upToDate, event.action != .notApplicable { planned.insert(stage) }
    case .started:
      planned.insert(stage)
      stages[stage] = RateEstimate(startSeconds: now)
    case .progress:
      guard let frames = event.frames else { return }
      stages[stage]?.update(done: frames, total: event.totalFrames, atSeconds: now)
    case .finished, .blocked:
      stages[stage] = nil
      if planned.contains(stage) { ended.insert(stage) }
    default: break
    }
  }

  /// Whether any of its stages ran.
  var hasWorked: Bool { !stages.isEmpty || !ended.isEmpty }

  /// 0…1, by stages and by frames within each; 0 before anything is planned.
  var fraction: Double {
    guard !planned.isEmpty else { return 0 }
    let running = stages.values.reduce(0.0) { sum, rate in
      guard let total = rate.total, total > 0 else { return sum }
      return sum + min(1, Double(rate.done) / Double(total))
    }
    return min(1, (Double(ended.count) + running) / Double(planned.count))
  }

  /// Running stages, that with the most remaining work first.
  var stagesByWork: [(name: String, rate: RateEstimate)] {
    stages.map { (name: $0.key, rate: $0.value) }.sorted { a, b in
      let (left, other) = (a.rate.secondsLeft ?? -1, b.rate.secondsLeft ?? -1)
      return left == other ? a.name < b.name : left > other
    }
  }
}

/// Estimates rate and remaining time from counts at given times.
struct RateEstimate {
  private let startSeconds: Double
  private(set) var done = 0
  private(set) var total: Int?
  private var nowSeconds: Double

  init(startSeconds: Double) {
    self.startSeconds = startSeconds
    nowSeconds = startSeconds
  }

  mutating func update(done: Int, total: Int?, atSeconds now: Double) {
    self.done = done
    self.total = total
    nowSeconds = now
  }

  var elapsedSeconds: Double { nowSeconds - startSeconds }

  /// Frames per second since the start; `nil` before the first frame.
  var framesPerSecond: Double? {
    elapsedSeconds > 0.05 && done > 0 ? Double(done) / elapsedSeconds : nil
  }

  /// Seconds left at this rate; `nil` if the total or the rate is unknown.
  var secondsLeft: Double? {
    guard let total, let rate = framesPerSecond, total >= done else { return nil }
    return Double(total - done) / rate
  }
}
