import SystemPackage
import Glibc

/// A pipe under a name that is full and that nobody reads: who writes to it waits for ever.
public final class FullPipe {
  public let path: FilePath
  private let descriptor: Int32

  public init(at path: FilePath) throws(Errno) {
    self.path = path
    guard path.withPlatformString({ mkfifo($0, 0o600) }) == 0 else {
      throw Errno(rawValue: errno)
    }
    // Also its reader: opening it for writing does not wait.
    descriptor = path.withPlatformString { open($0, O_RDWR | O_NONBLOCK | O_CLOEXEC) }
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    for count in [4096, 1] {
      let bytes = [UInt8](repeating: UInt8(ascii: "."), count: count)
      while write(descriptor, bytes, count) > 0 {}
    }
  }

  deinit { close(descriptor) }
}
