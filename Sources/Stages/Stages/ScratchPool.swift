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
