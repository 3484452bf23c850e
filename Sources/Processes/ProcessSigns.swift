import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// What the kernel tells of a process: whether it computes, reads and comes to use memory, or only waits.
public struct ProcessSigns: Hashable, Sendable {
  /// User and system time of all its threads, those that have ended included.
  public var cpuSeconds = 0.0
  /// Pages that came from memory, and such as came from a disk.
  public var minorFaults: Int64 = 0
  public var majorFaults: Int64 = 0
  /// Bytes that it has read from files, pipes and connections; 0 where that is not told.
  public var readBytes: Int64 = 0
  /// Whether one of its threads waits for a disk at this moment (state D).
  public var waitsForDisk = false

  public init() {}

  /// Those of a process that is there; `nil` when it is not, or has ended.
  public init?(of id: pid_t) {
    guard let fields = ProcessText.statusFields("/proc/\(id)/stat"), fields.count > 12,
      fields[0] != "Z"
    else { return nil }
    // After the name: state, ... minflt is the 8th of them, majflt the 10th, utime the 12th, stime the 13th.
    minorFaults = Int64(fields[7]) ?? 0
    majorFaults = Int64(fields[9]) ?? 0
    let ticks = (Int64(fields[11]) ?? 0) + (Int64(fields[12]) ?? 0)
    cpuSeconds = Double(ticks) / Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    let line = ProcessText.of("/proc/\(id)/io").split(separator: "\n").first
    readBytes = line.flatMap { $0.split(separator: " ").last }.flatMap { Int64($0) } ?? 0
    waitsForDisk = ProcessText.threads(of: id).contains { thread in
      ProcessText.statusFields("/proc/\(id)/task/\(thread)/stat")?.first == "D"
    }
  }
}

/// Small files of `/proc`.
enum ProcessText {
  /// As much as `most` bytes; empty when it cannot be read.
  static func of(_ path: String, most: Int = 4096) -> String {
    guard
      let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    else { return "" }
    defer { try? file.close() }
    var text = [UInt8](repeating: 0, count: most)
    let count = (try? text.withUnsafeMutableBytes { try file.read(into: $0) }) ?? 0
    return String(decoding: text.prefix(count), as: UTF8.self)
  }

  /// What stands in a `stat` file behind the name, which may hold anything.
  static func statusFields(_ path: String) -> [Substring]? {
    let text = of(path)
    guard let end = text.lastIndex(of: ")") else { return nil }
    return text[text.index(after: end)...].split { $0 == " " || $0 == "\n" }
  }

  /// The numbers of the threads of a process, in order.
  static func threads(of id: pid_t) -> [pid_t] { numbers(in: "/proc/\(id)/task") }

  private static func numbers(in folder: String) -> [pid_t] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var found: [pid_t] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let number = pid_t(name) { found.append(number) }
    }
    return found.sorted()
  }
}
