import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// How many cores one run may keep busy at a time, shared by all stages that run together.
///
/// Every worker takes one token for each frame it works on and gives it back after, so that two stages
/// side by side never use more than `cores` threads of work, whatever number of threads exists. Each
/// stage has a view of its own, which adds up the CPU time of its frames.
public final class CoreBudget: Sendable {
  /// The most cores that it may ever have; stages start as many workers.
  public let cores: Int
  private let tokens: CoreTokens
  private let cpu = Atomic<Int64>(0)
  /// Threads of this view that wait for a token, and such as have one.
  private let waiting = Atomic<Int>(0)
  private let working = Atomic<Int>(0)
  /// The part of `cpu` that the thread which made this view has spent.
  private let ownerCPU = Atomic<Int64>(0)
  /// `nil`: nothing without a token is charged.
  private let owner: pthread_t?
  private let ownerStartNanoseconds = ThreadClock.cpuNanoseconds()

  /// `cores` below 1 counts as 1. With `share` it starts with fewer tokens.
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

  /// The same tokens with a CPU account of its own.
  ///
  /// - Parameter chargesThisThread: all that the calling thread does from now on is charged as well, with
  ///   a token or without.
  public func view(chargesThisThread: Bool = false) -> CoreBudget {
    CoreBudget(cores: cores, tokens: tokens, owner: chargesThisThread ? pthread_self() : nil)
  }

  /// How many cores may be busy now.
  public var share: Int { tokens.mostOut }

  /// Changes how many cores may be busy from now on, 1 to `cores`; work that holds a token keeps it to
  /// its end.
  public func resize(to share: Int) { tokens.resize(to: min(max(1, share), cores)) }

  /// Keeps `cores` of them for threads that take no tokens, as those of a decoder, until the reservation is
  /// released or gone. One token always remains for work: with fewer cores than reserved threads, and while
  /// work goes on that began before, more may be busy for a time.
  public func reserve(_ cores: Int) -> CoreReservation {
    CoreReservation(max(0, cores), of: tokens)
  }

  /// Runs `body` while holding one token; waits for one if all are out. Never nest.
  ///
  /// - Parameter precedence: who gets the next token that becomes free.
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

  /// Whether all who work through this view wait for a token, which others have.
  public var isWaiting: Bool {
    waiting.load(ordering: .relaxed) > 0 && working.load(ordering: .relaxed) == 0
  }

  /// CPU time spent under tokens of this view; with `chargesThisThread` also what that thread has done
  /// without one, told only to itself.
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

/// Cores that are kept for threads which take no tokens of their budget.
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

  /// Gives them back. Once is enough.
  public func release() {
    let cores = held.withLock { held in
      defer { held = 0 }
      return held
    }
    if cores > 0 { tokens.reserve(-cores) }
  }
}
