import Dispatch
import Synchronization

/// What a worker of `pullFrames` does next.
enum FrameStep<Item> {
  /// Pull: nobody else does until `PullCoordinator.pull`.
  case pull
  case work(Item, number: Int)
}

/// Gives workers their next step: one at a time pulls, items that were pulled ahead wait here, and the earliest
/// failure is kept.
///
/// A lock alone would do, were it not that waiting for one burns a core on Linux for as long as its
/// holder runs (the kernel spins on priority-inheriting locks), which here is the decoding of a picture:
/// 7 % of all CPU time of a color export. Waiting for a semaphore sleeps.
final class PullCoordinator<Item>: @unchecked Sendable {
  // Safe: all of it is under `lock`. An item gets to another thread than the one that pulled it only with
  // `ahead` above 0, for which items are `Sendable`.
  private struct State {
    var waiting: [(item: Item, number: Int)] = []
    var pulled = 0
    var isPulling = false
    /// The source has ended or something failed.
    var isOver = false
    /// Workers that sleep.
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

    /// How many of those who sleep have something to do now, or will never have; counts them as awake.
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

  /// The next step, once there is one; `nil` at the end.
  func begin() -> FrameStep<Item>? {
    while true {
      let (step, isEnd) = change { state -> (FrameStep<Item>?, Bool) in
        // Pulling first: everything waits for the source.
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

  /// Pulls unless it is over, and tells how the worker goes on: by pulling once more as long as there is
  /// room for items that wait, else with the item that has waited longest. `nil` when nothing is left. An
  /// error is recorded before anybody else may pull.
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

  /// Nothing is left to be begun.
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
