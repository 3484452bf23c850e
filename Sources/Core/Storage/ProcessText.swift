import Glibc
import SystemPackage

/// Reads small files of `/proc`.
public enum ProcessText {
  /// What one call reads, at most `most` bytes; empty when the file cannot be read.
  public static func of(_ path: String, most: Int = 4096) -> String {
    guard
      let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    else { return "" }
    defer { try? file.close() }
    var text = [UInt8](repeating: 0, count: most)
    let count = (try? text.withUnsafeMutableBytes { try file.read(into: $0) }) ?? 0
    return String(decoding: text.prefix(count), as: UTF8.self)
  }

  /// The fields of a `stat` file after the process name, which may contain any character.
  static func statusFields(_ path: String) -> [Substring]? {
    let text = of(path)
    guard let end = text.lastIndex(of: ")") else { return nil }
    return text[text.index(after: end)...].split { $0 == " " || $0 == "\n" }
  }

  /// The thread IDs of a process, in the kernel's order.
  static func threads(of id: pid_t) -> [pid_t] { numbers(in: "/proc/\(id)/task") }

  /// Names in a folder that are numbers of processes or threads.
  static func numbers(in folder: String) -> [pid_t] {
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

/// The scope in which process numbers are valid: one boot of one kernel, and one PID namespace.
/// Containers on one machine, and machines that share a disk, have different scopes.
public enum ProcessHome {
  /// 8 hex digits: a digest of boot ID and namespace.
  public static let current = String(
    Digest(of: "\(bootID) \(processNamespace)").hex.prefix(8))

  /// The kernel's random ID of this boot; empty if unknown.
  public static let bootID = String(
    ProcessText.of("/proc/sys/kernel/random/boot_id").prefix { $0 != "\n" })

  /// The number of the PID namespace; 0 if unknown.
  public static let processNamespace: UInt64 =
    (try? FileStatus(followingAllLinksOf: "/proc/self/ns/pid"))?.inode ?? 0

  public static let hostName: String = {
    var name = utsname()
    guard uname(&name) == 0 else { return "unknown" }
    return withUnsafePointer(to: &name.nodename) {
      $0.withMemoryRebound(to: CChar.self, capacity: 65) { String(cString: $0) }
    }
  }()

  /// Whether a process with this number is running in this scope.
  public static func isAlive(_ process: Int32) -> Bool {
    guard process > 0, kill(process, 0) == 0 || errno == EPERM else { return false }
    // `Z` is a process that has ended but has not been waited for.
    return state(of: process) != "Z"
  }

  /// The start time of a process in ticks since boot; `nil` if it does not exist.
  public static func startTicks(_ process: Int32) -> UInt64? {
    let fields = statFields(process)
    return fields.count > 19 ? UInt64(fields[19]) : nil
  }

  private static func state(of process: Int32) -> Substring? { statFields(process).first }

  private static func statFields(_ process: Int32) -> [Substring] {
    ProcessText.statusFields("/proc/\(process)/stat") ?? []
  }
}
