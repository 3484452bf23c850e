import Synchronization

/// A pool of reusable buffers. There are at most as many as threads that have used it at once.
final class ScratchBuffers: Sendable {
  private let idle = Mutex<[[UInt8]]>([])

  init() {}

  /// Passes `body` a buffer of exactly `byteCount` bytes with undefined content.
  func withBuffer<Result>(
    byteCount: Int, _ body: (inout [UInt8]) throws -> Result
  ) rethrows -> Result {
    var buffer = idle.withLock { $0.popLast() } ?? []
    if buffer.count != byteCount { buffer = [UInt8](repeating: 0, count: byteCount) }
    defer { idle.withLock { $0.append(buffer) } }
    return try body(&buffer)
  }
}
