import Synchronization
import SystemPackage
import Glibc

/// Writes whole lines to a descriptor, from several threads.
public final class LineWriter: Sendable {
  private let descriptor: FileDescriptor
  private let turn = Mutex<Void>(())

  public init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Returns `false` once the other end is closed.
  ///
  /// - Parameter durably: waits until the line is on the disk.
  @discardableResult
  public func write(_ line: [UInt8], durably: Bool = false) -> Bool {
    turn.withLock { _ in
      let isWritten = (try? descriptor.writeAll(line + [UInt8(ascii: "\n")])) != nil
      if durably { fsync(descriptor.rawValue) }
      return isWritten
    }
  }

  public func close() {
    turn.withLock { _ in try? descriptor.close() }
  }
}
