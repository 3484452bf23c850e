import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Looks at the memory of this process ten times a second.
enum MemoryWatch {
  /// Calls `exceeded`, once, when more than `limitBytes` of private memory are resident. Mapped files
  /// do not count: the system takes their pages back by itself.
  ///
  /// `false` when there is no thread for it.
  static func start(limitBytes: Int64, _ exceeded: @escaping @Sendable (Int64) -> Void) -> Bool {
    JobThread.start {
      while true {
        if let used = resident()?.privateBytes, used > limitBytes { return exceeded(used) }
        usleep(100_000)
      }
    }
  }

  /// What is in memory, from `/proc/self/statm`: all pages, and those without a file behind them.
  static func resident() -> (bytes: Int64, privateBytes: Int64)? {
    guard let file = try? FileDescriptor.open("/proc/self/statm", .readOnly, options: .closeOnExec)
    else { return nil }
    defer { try? file.close() }
    var text = [UInt8](repeating: 0, count: 256)
    guard let count = try? text.withUnsafeMutableBytes({ try file.read(into: $0) }) else {
      return nil
    }
    let numbers = String(decoding: text.prefix(count), as: UTF8.self).split(separator: " ")
      .compactMap { Int64($0) }
    guard numbers.count >= 3 else { return nil }
    let pageBytes = Int64(sysconf(Int32(_SC_PAGESIZE)))
    return (numbers[1] * pageBytes, (numbers[1] - numbers[2]) * pageBytes)
  }
}
