import Dispatch
import Synchronization

/// Who gets a core's token first when several wait.
public enum CorePrecedence: Sendable {
  /// After all that go first.
  case inTurn
  /// Work whose end everything waits for, as the frames of a video, which one worker at a time decodes: what
  /// can use any core fills the gaps that it leaves.
  case first
}

/// Tokens that are handed on to who waits, those that go first first; their number may change while
/// they are out.
final class CoreTokens: Sendable {
  private struct State {
    /// How many there are.
    var count: Int
    /// Of these, kept for threads that take none.
    var reserved = 0
    var out = 0
    var waitingFirst = 0
    var waitingInTurn = 0

    /// How many may be out: one at least, so that work goes on whatever is reserved.
    var most: Int { max(1, count - reserved) }

    /// Gives a token to one who waits, if there are both.
    mutating func grant() -> CorePrecedence? {
      guard out < most else { return nil }
      if waitingFirst > 0 {
        waitingFirst -= 1
        out += 1
        return .first
      }
      if waitingInTurn > 0 {
        waitingInTurn -= 1
        out += 1
        return .inTurn
      }
      return nil
    }
  }

  private let state: Mutex<State>
  private let first = DispatchSemaphore(value: 0)
  private let inTurn = DispatchSemaphore(value: 0)

  init(_ count: Int) {
    state = Mutex(State(count: count))
  }

  func take(_ precedence: CorePrecedence) {
    let isFree = state.withLock { state in
      if state.out < state.most {
        state.out += 1
        return true
      }
      switch precedence {
      case .first: state.waitingFirst += 1
      case .inTurn: state.waitingInTurn += 1
      }
      return false
    }
    guard !isFree else { return }
    switch precedence {
    case .first: first.wait()
    case .inTurn: inTurn.wait()
    }
  }

  /// How many may be out.
  var mostOut: Int { state.withLock { $0.most } }

  /// How many wait at this moment.
  var waitingCount: Int { state.withLock { $0.waitingFirst + $0.waitingInTurn } }

  func giveBack() {
    wake(
      state.withLock { state in
        state.out -= 1
        return state.grant()
      })
  }

  func resize(to count: Int) {
    state.withLock { $0.count = count }
    wakeAll()
  }

  /// Keeps `count` more of them from being taken, less than 0 gives them back.
  func reserve(_ count: Int) {
    state.withLock { $0.reserved += count }
    wakeAll()
  }

  private func wakeAll() {
    while let granted = state.withLock({ $0.grant() }) { wake(granted) }
  }

  private func wake(_ granted: CorePrecedence?) {
    switch granted {
    case .first: first.signal()
    case .inTurn: inTurn.signal()
    case nil: break
    }
  }
}
