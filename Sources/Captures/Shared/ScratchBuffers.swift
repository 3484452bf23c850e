import Synchronization

/// Buffers that are used again from call to call by whatever thread comes next: at most as many exist
/// as threads have asked at once.
final class ScratchBuffers: Sendable {
  private let idle = Mutex<[[UInt8]]>([])

  init() {}

  /// Lends a buffer of exactly `byteCount` bytes with unknown content.
  func withBuffer<Result>(
    byteCount: Int, _ body: (inout [UInt8]) throws -> Result
  ) rethrows -> Result {
    var buffer = idle.withLock { $0.popLast() } ?? []
    if buffer.count != byteCount { buffer = [UInt8](repeating: 0, count: byteCount) }
    defer { idle.withLock { $0.append(buffer) } }
    return try body(&buffer)
  }
}
