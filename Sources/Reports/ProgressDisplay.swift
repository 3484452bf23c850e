import Captures
import Pipeline
import Synchronization

/// Shows the events of a run as they come: on a terminal one line that is drawn again and again, else a
/// plain line now and then. Work of under two seconds shows only how it ended.
public final class ProgressDisplay: EventSink {
  public enum Style: Sendable {
    case terminal(columns: Int)
    case plain
  }

  private struct State {
    var stages: [String: RateEstimate] = [:]
    var lastPlainSeconds = -1e9
    var hasOpenLine = false
  }

  private let style: Style
  private let isVerbose: Bool
  private let write: @Sendable (String) -> Void
  private let nowSeconds: @Sendable () -> Double
  private let state = Mutex(State())

  /// - Parameters:
  ///   - isVerbose: also tell of stages that do nothing.
  ///   - write: takes text for standard error.
  public init(
    style: Style, isVerbose: Bool, nowSeconds: @escaping @Sendable () -> Double,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.style = style
    self.isVerbose = isVerbose
    self.nowSeconds = nowSeconds
    self.write = write
  }

  public func send(_ event: RunEvent) {
    state.withLock { state in
      switch event.kind {
      case .captureStarted: line("\(event.capture ?? "")", &state)
      case .waiting: line("  waiting: \(event.message ?? "")", &state)
      case .started:
        if let stage = event.stage {
          state.stages[stage] = RateEstimate(startSeconds: nowSeconds())
        }
      case .progress: progress(event, &state)
      case .retried: line("  \(event.stage ?? ""): again, after: \(event.message ?? "")", &state)
      case .finished, .blocked:
        if let stage = event.stage { state.stages[stage] = nil }
        if let text = Self.ended(event, isVerbose: isVerbose) { line("  " + text, &state) }
      case .captureFinished:
        for warning in event.warnings ?? [] {
          line(
            "  warning: \(warning.code.rawValue) ×\(warning.count) (\(warning.subject)): \(warning.message)",
            &state)
        }
      case .runFinished: clear(&state)
      case .runStarted, .planned: break
      }
    }
  }

  private func progress(_ event: RunEvent, _ state: inout State) {
    guard let stage = event.stage, let frames = event.frames else { return }
    let now = nowSeconds()
    state.stages[stage]?.update(done: frames, total: event.totalFrames, atSeconds: now)
    let slow = state.stages.filter { $0.value.elapsedSeconds > 2 }.sorted { $0.key < $1.key }
    guard !slow.isEmpty else { return }
    let text = slow.map { "\($0.key) \($0.value.text)" }.joined(separator: " · ")
    switch style {
    case .terminal(let columns):
      write("\r\u{1B}[K" + String(("  " + text).prefix(max(columns - 1, 20))))
      state.hasOpenLine = true
    case .plain:
      guard now - state.lastPlainSeconds >= 10 else { return }
      state.lastPlainSeconds = now
      write("  " + text + "\n")
    }
  }

  private func line(_ text: String, _ state: inout State) {
    clear(&state)
    write(text + "\n")
  }

  /// Takes the line that is being drawn away again.
  private func clear(_ state: inout State) {
    if state.hasOpenLine { write("\r\u{1B}[K") }
    state.hasOpenLine = false
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
