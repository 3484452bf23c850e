import Dispatch
import Glibc
import Synchronization

/// How many cores one run may keep busy at a time, shared by all stages that run together.
///
/// A worker holds one token while it works on a frame. Stages that run at the same time therefore
/// never use more than `cores` working threads in total, however many threads exist. Each stage has
/// its own view, which adds up the CPU time of its frames.
public final class CoreBudget: Sendable {
  /// The upper limit of `share`; stages start as many workers.
  public let cores: Int
  private let tokens: CoreTokens
  private let cpu = Atomic<Int64>(0)
  /// Threads of this view that wait for a token, and threads that hold one.
  private let waiting = Atomic<Int>(0)
  private let working = Atomic<Int>(0)
  /// The part of `cpu` that was spent by the thread that made this view.
  private let ownerCPU = Atomic<Int64>(0)
  /// The thread whose CPU time is charged without a token too; `nil` for none.
  private let owner: pthread_t?
  private let ownerStartNanoseconds = ThreadClock.cpuNanoseconds()

  /// `cores` below 1 counts as 1. `share` is the initial number of tokens, by default `cores`.
  public convenience init(cores: Int, share: Int? = nil) {
    let cores = max(1, cores)
    self.init(
      cores: cores, tokens: CoreTokens(min(max(1, share ?? cores), cores)), owner: nil)
  }

  private init(cores: Int, tokens: CoreTokens, owner: pthread_t?) {
    self.cores = cores
    self.owner = owner
    self.tokens = tokens
  }

  /// A budget that draws on the same tokens and counts CPU time of its own.
  ///
  /// - Parameter chargesThisThread: whether everything that the calling thread does from now on is
  ///   charged, with or without a token.
  public func view(chargesThisThread: Bool = false) -> CoreBudget {
    CoreBudget(cores: cores, tokens: tokens, owner: chargesThisThread ? pthread_self() : nil)
  }

  /// How many cores may be busy now.
  public var share: Int { tokens.mostOut }

  /// Changes how many cores may be busy from now on, 1 to `cores`. Work in progress keeps its token
  /// to its end.
  public func resize(to share: Int) { tokens.resize(to: min(max(1, share), cores)) }

  /// Reserves `cores` tokens for threads that take none, such as those of a decoder, until the
  /// reservation is released or deallocated. One token always remains for work. More cores than the
  /// budget allows may therefore be busy if all are reserved, or until work that began before has
  /// ended.
  public func reserve(_ cores: Int) -> CoreReservation {
    CoreReservation(max(0, cores), of: tokens)
  }

  /// Runs `body` while holding one token; waits for a free one. Calls must not be nested.
  ///
  /// - Parameter precedence: which waiting callers get the next free token.
  public func withCore<Result>(
    _ precedence: CorePrecedence = .inTurn, _ body: () throws -> Result
  ) rethrows -> Result {
    waiting.add(1, ordering: .relaxed)
    tokens.take(precedence)
    working.add(1, ordering: .relaxed)
    waiting.subtract(1, ordering: .relaxed)
    let start = ThreadClock.cpuNanoseconds()
    defer {
      let spent = ThreadClock.cpuNanoseconds() - start
      cpu.add(spent, ordering: .relaxed)
      if isOwner { ownerCPU.add(spent, ordering: .relaxed) }
      working.subtract(1, ordering: .relaxed)
      tokens.giveBack()
    }
    return try body()
  }

  /// Whether every thread that uses this view waits for a token.
  public var isWaiting: Bool {
    waiting.load(ordering: .relaxed) > 0 && working.load(ordering: .relaxed) == 0
  }

  /// CPU seconds spent under tokens of this view. With `chargesThisThread` also those that the
  /// thread spent without a token, but only when that thread asks.
  public var cpuSeconds: Double {
    var sum = cpu.load(ordering: .relaxed)
    if isOwner {
      sum += ThreadClock.cpuNanoseconds() - ownerStartNanoseconds
      sum -= ownerCPU.load(ordering: .relaxed)
    }
    return Double(sum) / 1e9
  }

  private var isOwner: Bool { owner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
}

/// Tokens of a budget reserved for threads that take none.
public final class CoreReservation: Sendable {
  private let tokens: CoreTokens
  private let held: Mutex<Int>

  init(_ cores: Int, of tokens: CoreTokens) {
    self.tokens = tokens
    held = Mutex(cores)
    tokens.reserve(cores)
  }

  deinit { release() }

  public var cores: Int { held.withLock { $0 } }

  /// Returns the tokens. Further calls do nothing.
  public func release() {
    let cores = held.withLock { held in
      defer { held = 0 }
      return held
    }
    if cores > 0 { tokens.reserve(-cores) }
  }
}

/// The CPU time of threads.
public enum ThreadClock {
  /// User and system time of the calling thread, in nanoseconds.
  public static func cpuNanoseconds() -> Int64 { nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) }
}

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
