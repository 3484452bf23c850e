import Dispatch
import Synchronization

/// Works through an ordered source with several workers: one worker at a time pulls the next item
/// while the others work on theirs.
///
/// Decoding, conversion, encoding and writing overlap this way without a queue: at most one item
/// per worker exists, so memory does not grow with the number of items. The order in which items
/// are finished is not defined, so an item must carry everything that names its output.
///
/// - Parameters:
///   - workers: how many items may be in flight; at most the current share of `budget`, which
///     bounds the memory for buffers.
///   - budget: each call of `next` and of `work` holds one of its tokens.
///   - precedence: priority of the waits for those tokens.
///   - makeScratch: called once per worker; makes the buffers that it reuses from item to item.
///   - next: the next item, or `nil` at the end; never called by two workers at once, nor after
///     it has returned `nil` or thrown.
///   - work: processes an item; called with the scratch that it was pulled with.
///
/// After the first error no further item is pulled, and items in flight are finished. The error of
/// the earliest item is thrown.
public func pullFrames<Item, Scratch: ~Copyable>(
  workers: Int, budget: CoreBudget, precedence: CorePrecedence = .inTurn,
  makeScratch: @Sendable () throws -> Scratch,
  next: @Sendable (inout Scratch) throws -> Item?,
  work: @Sendable (Item, inout Scratch) throws -> Void
) throws {
  try pullFrames(
    PullCoordinator<Item>(ahead: 0), workers: workers, budget: budget, precedence: precedence,
    makeScratch: makeScratch, next: next, work: work)
}

/// Pulls items that need not be worked on by the worker that pulled them: up to `ahead` pulled items wait for a worker.
///
/// This helps where pulling takes about half of the time, because workers that finish at the same
/// moment would otherwise wait for each other. Measured with two cores over 2 seconds, work per
/// item varying by a third: busy for 1.83 seconds without a waiting item, 1.96 with one, 1.98 with
/// two.
public func pullFrames<Item: Sendable, Scratch: ~Copyable>(
  workers: Int, ahead: Int, budget: CoreBudget, precedence: CorePrecedence = .inTurn,
  makeScratch: @Sendable () throws -> Scratch,
  next: @Sendable (inout Scratch) throws -> Item?,
  work: @Sendable (Item, inout Scratch) throws -> Void
) throws {
  try pullFrames(
    PullCoordinator<Item>(ahead: max(0, ahead)), workers: workers, budget: budget,
    precedence: precedence, makeScratch: makeScratch, next: next, work: work)
}

private func pullFrames<Item, Scratch: ~Copyable>(
  _ coordinator: PullCoordinator<Item>, workers: Int, budget: CoreBudget,
  precedence: CorePrecedence,
  makeScratch: @Sendable () throws -> Scratch,
  next: @Sendable (inout Scratch) throws -> Item?,
  work: @Sendable (Item, inout Scratch) throws -> Void
) throws {
  withoutActuallyEscaping(makeScratch) { makeScratch in
    withoutActuallyEscaping(next) { next in
      withoutActuallyEscaping(work) { work in
        HelperThreads.perform(
          max(1, workers), atOnce: min(HelperThreads.mostAtOnce, budget.share)
        ) { _, helpers in
          // Too late: the source has ended, and buffers would be made for nothing.
          guard !coordinator.isFinished else { return }
          var number = Int.max
          do {
            var scratch = try makeScratch()
            // The step is decided before the core is taken, so that a worker that waits for its
            // step holds none. The core is kept between pulling and working, since every handover
            // may leave one idle for a while.
            while var step = coordinator.begin() {
              number = .max
              helpers.widen(to: min(HelperThreads.mostAtOnce, budget.share))
              try budget.withCore(precedence) {
                while case .pull = step {
                  guard let following = try coordinator.pull({ try next(&scratch) }) else { return }
                  step = following
                }
                guard case .work(let item, let itsNumber) = step else { return }
                number = itsNumber
                try work(item, &scratch)
              }
            }
          } catch {
            coordinator.record(error, at: number)
          }
        }
      }
    }
  }
  if let failure = coordinator.failure { throw failure }
}

/// What a worker of `pullFrames` does next.
enum FrameStep<Item> {
  /// Call `PullCoordinator.pull`; no other worker pulls until then.
  case pull
  case work(Item, number: Int)
}

/// Gives the workers of `pullFrames` their next step. One worker at a time pulls, items that were
/// pulled ahead are kept here, and the earliest failure is recorded.
///
/// Workers wait on a semaphore and not on the lock: on Linux, waiting for a priority-inheriting
/// lock spins in the kernel for as long as the holder runs, here while a picture is decoded. That
/// took 7 % of all CPU time of a color export.
final class PullCoordinator<Item>: @unchecked Sendable {
  // Safe: all of it is under `lock`. An item reaches another thread than the one that pulled it
  // only with `ahead` above 0, for which items are `Sendable`.
  private struct State {
    var waiting: [(item: Item, number: Int)] = []
    var pulled = 0
    var isPulling = false
    /// Whether the source has ended or something has failed.
    var isOver = false
    /// Number of workers that wait for a step.
    var idle = 0
    var failure: (any Error)?
    var failedAt = Int.max

    func mayPull(_ ahead: Int) -> Bool { !isPulling && !isOver && waiting.count <= ahead }

    mutating func record(_ error: any Error, at number: Int) {
      isOver = true
      guard failure == nil || number < failedAt else { return }
      failure = error
      failedAt = number
    }

    /// How many waiting workers to wake: those with something to do, or all at the end. Counts them
    /// as awake.
    mutating func wake(_ ahead: Int) -> Int {
      let isEnd = isOver && !isPulling && waiting.isEmpty
      let count = isEnd ? idle : min(idle, waiting.count + (mayPull(ahead) ? 1 : 0))
      idle -= count
      return count
    }
  }

  private let ahead: Int
  private let lock = Mutex<Void>(())
  private var state = State()
  private let isCalled = DispatchSemaphore(value: 0)

  init(ahead: Int) { self.ahead = ahead }

  /// Waits for the next step; `nil` at the end.
  func begin() -> FrameStep<Item>? {
    while true {
      let (step, isEnd) = change { state -> (FrameStep<Item>?, Bool) in
        // Pulling comes first, because everything else depends on the source.
        if state.mayPull(ahead) {
          state.isPulling = true
          return (.pull, false)
        }
        if let step = Self.takeWaiting(&state) { return (step, false) }
        if state.isOver && !state.isPulling { return (nil, true) }
        state.idle += 1
        return (nil, false)
      }
      if let step { return step }
      if isEnd { return nil }
      isCalled.wait()
    }
  }

  /// Pulls the next item unless the source has ended, and returns the next step of this worker:
  /// pull again while fewer than `ahead` items wait, else work on the item that has waited longest.
  /// `nil` when nothing is left. An error is recorded before another worker may pull.
  func pull(_ next: () throws -> Item?) throws -> FrameStep<Item>? {
    let number: Int? = change { $0.isOver ? nil : $0.pulled }
    do {
      let item = number == nil ? nil : try next()
      return change { state in
        if let item, let number {
          state.pulled += 1
          state.waiting.append((item, number))
        } else {
          state.isOver = true
        }
        state.isPulling = false
        if state.mayPull(ahead) {
          state.isPulling = true
          return .pull
        }
        return Self.takeWaiting(&state)
      }
    } catch {
      change { state in
        state.record(error, at: number ?? .max)
        state.isPulling = false
      }
      throw error
    }
  }

  private static func takeWaiting(_ state: inout State) -> FrameStep<Item>? {
    guard !state.waiting.isEmpty else { return nil }
    let first = state.waiting.removeFirst()
    return .work(first.item, number: first.number)
  }

  func record(_ error: any Error, at number: Int) { change { $0.record(error, at: number) } }

  /// Whether no further step will begin.
  var isFinished: Bool { change { $0.isOver && !$0.isPulling && $0.waiting.isEmpty } }

  var failure: (any Error)? { change { $0.failure } }

  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, awake) = lock.withLock { _ in
      let result = body(&state)
      return (result, state.wake(ahead))
    }
    for _ in 0..<awake { isCalled.signal() }
    return result
  }
}
