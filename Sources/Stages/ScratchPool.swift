import Synchronization

/// Buffers that pieces of work take and give back, so that memory is used again from frame to frame; as
/// many exist as were ever in use at a time.
package final class ScratchPool<Scratch: Sendable>: Sendable {
  private let free = Mutex<[Scratch]>([])
  private let make: @Sendable () -> Scratch

  package init(_ make: @escaping @Sendable () -> Scratch) {
    self.make = make
  }

  package func take() -> Scratch { free.withLock { $0.popLast() } ?? make() }

  package func giveBack(_ scratch: Scratch) { free.withLock { $0.append(scratch) } }
}
