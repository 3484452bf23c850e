import Storage
import SystemPackage

/// How much memory there is to give away.
enum MachineMemory {
  /// What the system calls available now, within the limit of the control group that this process is
  /// in; 4 GiB when nothing can be read.
  static var availableBytes: Int64 {
    let available = lines("/proc/meminfo").first { $0.hasPrefix("MemAvailable:") }
      .flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int64($0) }
      .map { $0 * 1024 }
    let group = lines("/sys/fs/cgroup/memory.max").first.flatMap { Int64($0) }
    return [available, group].compactMap { $0 }.min() ?? 4 << 30
  }

  private static func lines(_ path: FilePath) -> [Substring] {
    guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else {
      return []
    }
    defer { try? file.close() }
    var text = [UInt8](repeating: 0, count: 8192)
    let count = (try? text.withUnsafeMutableBytes { try file.read(into: $0) }) ?? 0
    return String(decoding: text.prefix(count), as: UTF8.self).split(separator: "\n")
  }
}
