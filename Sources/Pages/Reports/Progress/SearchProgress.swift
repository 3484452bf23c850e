import Core
import Synchronization

/// One line on a terminal that tells what is looked at before work begins: shown at once or after some seconds, redrawn five times
/// per second at most, and removed at the end.
///
/// May be used from several threads.
public final class SearchProgress: Sendable {
  private struct State {
    var folders = 0
    var captures = 0
    var step: (words: String, done: Int, all: Int)?
    var beginSeconds: Double
    var drawnSeconds = -Double.infinity
    var isOpen = false
  }

  private static let secondsBetween = 0.2
  private let firstSeconds: Double
  private let state: Mutex<State>
  private let isShown: Bool
  private let nowSeconds: @Sendable () -> Double
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - isShown: whether there is a terminal to show it on; nothing is written otherwise.
  ///   - afterSeconds: how long nothing is shown: what is over by then needs no line.
  ///   - write: receives text for standard error.
  public init(
    isShown: Bool, afterSeconds: Double = 0, nowSeconds: @escaping @Sendable () -> Double,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.isShown = isShown
    firstSeconds = nowSeconds() + afterSeconds
    self.nowSeconds = nowSeconds
    self.write = write
    state = Mutex(State(beginSeconds: nowSeconds()))
  }

  /// Further folders that were looked at, and the captures that were found in them.
  public func looked(at folders: Int, found captures: Int) {
    draw { state in
      state.folders += folders
      state.captures += captures
    }
  }

  /// How far a step is that follows the search.
  ///
  /// - Parameter words: what is done, such as `making folders`.
  public func step(_ words: String, _ done: Int, of all: Int) {
    draw { state in
      if state.step?.words != words { state.beginSeconds = nowSeconds() }
      state.step = (words, max(done, state.step?.words == words ? state.step?.done ?? 0 : 0), all)
    }
  }

  /// Removes the line. It comes again with the next step.
  public func clear() {
    state.withLock { state in
      if state.isOpen { write("\r\u{1B}[K") }
      state.isOpen = false
    }
  }

  private func draw(_ change: (inout State) -> Void) {
    guard isShown else { return }
    state.withLock { state in
      change(&state)
      let now = nowSeconds()
      guard now >= firstSeconds, now - state.drawnSeconds >= Self.secondsBetween else { return }
      state.drawnSeconds = now
      state.isOpen = true
      write("\r\u{1B}[K" + Self.text(state, now - state.beginSeconds))
    }
  }

  private static func text(_ state: State, _ seconds: Double) -> String {
    let count = state.step?.done ?? state.folders
    let rate = seconds >= 1 ? Double(count) / seconds : nil
    let perSecond = rate.map { ", \(Int($0)) per second" } ?? ""
    guard let step = state.step else {
      return "looking for captures: \(state.captures) found in "
        + Plural.text(state.folders, "folder") + perSecond
    }
    let left = rate.map { $0 > 0 ? Double(step.all - step.done) / $0 : 0 }
    let rest = left.map { ", \(DurationText.estimated($0)) left" } ?? ""
    return "\(step.words): \(step.done) of \(step.all)\(perSecond)\(rest)"
  }
}
