import Captures
import Pipeline
import Runner
import Storage
import Synchronization

/// Shows the events of a run as they come: on a terminal a line per capture at work that is drawn again
/// and again, else plain lines now and then; lines that stay for what has ended. Work of under two
/// seconds shows only how it ended.
///
/// A run over several captures also gets a line for all of them, and every line names its capture.
public final class ProgressDisplay: EventSink {
  public enum Style: Sendable {
    case terminal(columns: Int)
    case plain
  }

  private struct State {
    var board: ProgressBoard
    var names: CaptureNames
    var lastPlainSeconds = -1e9
    /// Lines that are being drawn and must be taken away first.
    var openLines = 0
  }

  private let style: Style
  private let isVerbose: Bool
  private let write: @Sendable (String) -> Void
  private let nowSeconds: @Sendable () -> Double
  private let state: Mutex<State>

  /// - Parameters:
  ///   - ids: of all captures of the run: each is named in full once, then by its short id.
  ///   - isVerbose: also tell of stages that do nothing.
  ///   - write: takes text for standard error.
  public init(
    style: Style, ids: [String] = [], isVerbose: Bool, nowSeconds: @escaping @Sendable () -> Double,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.style = style
    self.isVerbose = isVerbose
    self.nowSeconds = nowSeconds
    self.write = write
    state = Mutex(
      State(board: ProgressBoard(startSeconds: nowSeconds()), names: CaptureNames(ids)))
  }

  public func send(_ event: RunEvent) {
    state.withLock { state in
      let now = nowSeconds()
      state.board.hear(event, atSeconds: now)
      for text in lines(about: event, &state) { line(text, &state) }
      switch event.kind {
      case .progress: draw(&state, now)
      case .runFinished: clear(&state)
      default: break
      }
    }
  }

  /// Lines that stay.
  private func lines(about event: RunEvent, _ state: inout State) -> [String] {
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
    case .retried: return [named("\(stage): again, after: \(event.message ?? "")")]
    case .stopping: return [named("\(stage): stopping: \(event.message ?? "")")]
    case .finished, .blocked:
      return Self.ended(event, isVerbose: isVerbose).map { [named($0)] } ?? []
    case .captureFinished:
      let warnings = event.warnings ?? []
      let lines = warnings.map { warning in
        named(
          "\(warning.severity.rawValue): \(warning.code.rawValue) ×\(warning.count) "
            + "(\(warning.subject.onOneLine)): \(warning.message.onOneLine)")
      }
      guard hasSeveral else { return lines }
      let outcome = CaptureReport.Outcome(rawValue: event.message ?? "").map {
        OutcomeWords.text(
          $0, warnings: warnings.withoutNotes.count, missing: event.missing ?? [])
      }
      return lines + [
        "[\(state.board.ended)/\(state.board.total)] \(state.names.name(capture)) "
          + (outcome ?? event.message ?? "")
      ]
    case .runStarted, .planned, .started, .progress, .runFinished: return []
    }
  }

  private func draw(_ state: inout State, _ now: Double) {
    let lines = state.board.lines(atSeconds: now, name: state.names.passingName)
    guard !lines.isEmpty else { return }
    switch style {
    case .terminal(let columns):
      clear(&state)
      write(lines.map { String($0.onOneLine.prefix(max(columns - 1, 20))) }.joined(separator: "\n"))
      state.openLines = lines.count
    case .plain:
      guard now - state.lastPlainSeconds >= 10 else { return }
      state.lastPlainSeconds = now
      write(lines.map(\.onOneLine).joined(separator: "\n") + "\n")
    }
  }

  private func line(_ text: String, _ state: inout State) {
    clear(&state)
    write(text.shown + "\n")
  }

  /// Takes the lines that are being drawn away again.
  private func clear(_ state: inout State) {
    guard state.openLines > 0 else { return }
    write("\r\u{1B}[K")
    for _ in 1..<state.openLines { write("\u{1B}[A\u{1B}[K") }
    state.openLines = 0
  }

  private static func ended(_ event: RunEvent, isVerbose: Bool) -> String? {
    guard let stage = event.stage, let outcome = event.outcome else { return nil }
    switch outcome {
    case .ran:
      var text = "\(stage): \(event.frames ?? 0) frames"
      if let seconds = event.seconds, seconds > 0 {
        text += " in \(RateEstimate.short(seconds)) s"
        if let frames = event.frames, frames > 0 {
          text += ", \(RateEstimate.short(Double(frames) / seconds)) frames/s"
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
