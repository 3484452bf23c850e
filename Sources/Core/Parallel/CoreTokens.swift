import Dispatch
import Synchronization

/// Which waiting thread gets the next free token.
public enum CorePrecedence: Sendable {
  /// After all waiting threads of precedence `first`.
  case inTurn
  /// Before all others: work on which everything else waits, such as the frames of a video, which
  /// one worker at a time decodes. Other work fills the cores that are free meanwhile.
  case first
}

/// A counting semaphore with two classes of waiters and a capacity that may change while tokens are
/// out.
final class CoreTokens: Sendable {
  private struct State {
    /// Number of tokens.
    var count: Int
    /// Number of tokens reserved for threads that take none.
    var reserved = 0
    var out = 0
    var waitingFirst = 0
    var waitingInTurn = 0

    /// How many tokens may be out: at least one, so that work goes on whatever is reserved.
    var most: Int { max(1, count - reserved) }

    /// Hands a free token to a waiting thread, if there is one of each.
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

  /// How many tokens may be out.
  var mostOut: Int { state.withLock { $0.most } }

  /// How many threads wait at this moment.
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

  /// Reserves `count` more tokens; a negative number returns them.
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
