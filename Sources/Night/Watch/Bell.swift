import Processes
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Wakes the watcher's thread from others.
final class Bell: Sendable {
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

  @Sendable func ring() {
    var byte: UInt8 = 1
    // A full pipe wakes as well.
    _ = write(pipe.writing.rawValue, &byte, 1)
  }

  /// Whether it had been rung.
  @discardableResult
  func hush() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 512)
    var isRung = false
    while read(pipe.reading.rawValue, &bytes, bytes.count) > 0 { isRung = true }
    return isRung
  }

  func wait(seconds: Double) {
    var place = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&place, 1, Int32((min(max(seconds, 0), 3600) * 1000).rounded(.up)))
    hush()
  }
}

extension Watcher {
  /// What other threads may ask of it.
  public final class Bellpull: Sendable {
    private let bell: Bell
    private let isReloading = Mutex(false)

    init(_ bell: Bell) {
      self.bell = bell
    }

    /// To read the pipeline again.
    public func reload() {
      isReloading.withLock { $0 = true }
      bell.ring()
    }

    /// To look whether everything is to end.
    public func ring() { bell.ring() }

    func takeReload() -> Bool {
      isReloading.withLock { flag in
        defer { flag = false }
        return flag
      }
    }
  }
}
