import Core
import Engine
import Synchronization

/// A pool of buffers that are reused from frame to frame. There are as many as were ever used at
/// the same time.
final class ScratchPool<Scratch: Sendable>: Sendable {
  private let free = Mutex<[Scratch]>([])
  private let make: @Sendable () -> Scratch

  init(_ make: @escaping @Sendable () -> Scratch) {
    self.make = make
  }

  func take() -> Scratch { free.withLock { $0.popLast() } ?? make() }

  func giveBack(_ scratch: Scratch) { free.withLock { $0.append(scratch) } }
}

extension StageContext {
  /// Calls `work` for each of `frames` on all cores of the budget; at most one per core is in memory.
  func each<Scratch: ~Copyable>(
    _ frames: [Int], _ work: @Sendable (Int, inout Scratch) throws -> Void,
    makeScratch: @Sendable () throws -> Scratch
  ) throws {
    let turn = Atomic<Int>(0)
    try pullFrames(
      workers: workers, budget: budget, makeScratch: makeScratch,
      next: { _ in
        try cancellation.check()
        let index = turn.add(1, ordering: .relaxed).oldValue
        return index < frames.count ? frames[index] : nil
      },
      work: { frame, scratch in
        try work(frame, &scratch)
        progress.advance()
      })
  }
}
