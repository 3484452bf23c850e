import Synchronization
import SystemPackage

/// Writes whole lines to a descriptor, from several threads.
public final class LineWriter: Sendable {
  private let descriptor: FileDescriptor
  private let turn = Mutex<Void>(())

  public init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Returns `false` once the other end is closed.
  @discardableResult
  public func write(_ line: [UInt8]) -> Bool {
    turn.withLock { _ in
      (try? descriptor.writeAll(line + [UInt8(ascii: "\n")])) != nil
    }
  }

  public func close() {
    turn.withLock { _ in try? descriptor.close() }
  }
}
