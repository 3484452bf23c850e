import SystemPackage
import Glibc

/// Whether a guarded program and everything that it has started use the processor.
public struct ProgramActivity {
  private let guardian: pid_t
  private var ticks: Int64 = 0

  /// - Parameter id: the ID of the `ChildProcess`.
  public init(of id: pid_t) {
    guardian = id
  }

  /// Whether CPU time was used since the last call. Cost: reads `/proc` for every process of the
  /// machine.
  public mutating func hasUsedProcessor() -> Bool {
    let now = currentTicks()
    defer { ticks = now }
    return now != ticks
  }

  /// User and system time, in clock ticks, of the process group that the guard's child leads.
  private func currentTicks() -> Int64 {
    guard let stream = opendir("/proc") else { return ticks }
    defer { closedir(stream) }
    var groups: [pid_t: Int64] = [:]
    var leaders: Set<pid_t> = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let id = pid_t(name), let fields = Self.fields(of: id), fields.count > 14 else {
        continue
      }
      // Fields after the name: state, parent, group, ... utime is the 12th of them, stime the 13th.
      let (parent, group) = (pid_t(fields[1]) ?? 0, pid_t(fields[2]) ?? 0)
      if parent == guardian { leaders.insert(id) }
      groups[group, default: 0] += (Int64(fields[11]) ?? 0) + (Int64(fields[12]) ?? 0)
    }
    return leaders.reduce(0) { $0 + (groups[$1] ?? 0) }
  }

  private static func fields(of id: pid_t) -> [Substring]? {
    guard
      let file = try? FileDescriptor.open(
        FilePath("/proc/\(id)/stat"), .readOnly, options: .closeOnExec)
    else { return nil }
    defer { try? file.close() }
    var text = [UInt8](repeating: 0, count: 1024)
    let count = (try? text.withUnsafeMutableBytes { try file.read(into: $0) }) ?? 0
    // The name in parentheses may contain any character.
    guard let end = text[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
    return String(decoding: text[(end + 1)..<count], as: UTF8.self).split(separator: " ")
  }
}
