import Core
import Synchronization
import SystemPackage
import Glibc

/// Wakes the watcher's thread from others.
final class WakePipe: Sendable {
  private let pipe: Pipe

  init() throws(FileError) {
    pipe = try Pipe()
    for end in [pipe.reading, pipe.writing] {
      _ = fcntl(end.rawValue, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    try? pipe.reading.close()
    try? pipe.writing.close()
  }

  var descriptor: Int32 { pipe.reading.rawValue }

  @Sendable func wake() {
    var byte: UInt8 = 1
    // A full pipe wakes as well.
    _ = write(pipe.writing.rawValue, &byte, 1)
  }

  /// Whether it had been rung.
  @discardableResult
  func drain() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 512)
    var isRung = false
    while read(pipe.reading.rawValue, &bytes, bytes.count) > 0 { isRung = true }
    return isRung
  }

  func wait(seconds: Double) {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&request, 1, Int32((min(max(seconds, 0), 3600) * 1000).rounded(.up)))
    drain()
  }
}

extension Watcher {
  /// What other threads may ask of it.
  public final class WatcherHandle: Sendable {
    private let wakePipe: WakePipe
    private let isReloading = Mutex(false)

    init(_ wakePipe: WakePipe) {
      self.wakePipe = wakePipe
    }

    /// To read the pipeline again.
    public func reload() {
      isReloading.withLock { $0 = true }
      wakePipe.wake()
    }

    /// To look whether everything is to end.
    public func wake() { wakePipe.wake() }

    func takeReload() -> Bool {
      isReloading.withLock { flag in
        defer { flag = false }
        return flag
      }
    }
  }
}
