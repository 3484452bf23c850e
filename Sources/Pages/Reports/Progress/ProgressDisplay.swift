import Captures
import Engine
import Core
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
    var names: CaptureNames
    var lastDrawnSeconds: Double
    var open = TerminalLines()
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
        names: CaptureNames(ids), lastDrawnSeconds: start))
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
      (hasSeveral ? state.names.name(capture) + " " : "  ") + text
    }
    switch event.kind {
    case .captureStarted: return hasSeveral ? [] : [state.names.name(capture)]
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
      let outcome = CaptureReport.Outcome(rawValue: event.message ?? "").map {
        OutcomeWords.text(
          $0, warnings: warnings.counted, missing: event.missing ?? [])
      }
      var text =
        "[\(state.board.ended)/\(state.board.total)] \(state.names.name(capture)) "
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
      let lines = ProgressLines.live(
        state.board, atSeconds: now, size, name: state.names.passingName)
      guard !lines.isEmpty else { return }
      state.lastDrawnSeconds = now
      write(state.open.drawing(lines, size))
    case .plain:
      guard now - state.lastDrawnSeconds >= 60,
        let text = ProgressLines.plain(
          state.board, atSeconds: now, name: state.names.passingName)
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
    case .ran:
      guard isVerbose else { return nil }
      var text = "\(stage): \(Plural.text(event.frames ?? 0, "frame"))"
      if let seconds = event.seconds, seconds > 0 {
        text += " in \(NumberText.short(seconds)) s"
        if let frames = event.frames, frames > 0 {
          text += ", \(NumberText.short(Double(frames) / seconds)) frames/s"
        }
      }
      return text + (event.reason.map { " (\($0.rawValue))" } ?? "")
    case .failed, .blocked, .cancelled:
      return "\(stage): \(outcome.rawValue): \(event.message ?? "")"
    case .upToDate: return isVerbose ? "\(stage): up to date" : nil
    case .notApplicable:
      return isVerbose ? "\(stage): not applicable: \(event.message ?? "")" : nil
    }
  }
}
