import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Where process numbers mean something: one kernel since its boot, and one namespace of processes.
/// Containers on one machine, and machines that share a disk, have different ones.
public enum ProcessHome {
  /// 8 hex digits of a digest of boot id and namespace.
  public static let current = String(
    Digest(of: "\(bootID) \(processNamespace)").hex.prefix(8))

  /// Random text that the kernel made when it started; empty where it cannot be told.
  public static let bootID = line("/proc/sys/kernel/random/boot_id")

  /// The number of the namespace of processes; 0 where it cannot be told.
  public static let processNamespace: UInt64 =
    (try? FileStatus(followingAllLinksOf: "/proc/self/ns/pid"))?.inode ?? 0

  public static let hostName: String = {
    var name = utsname()
    guard uname(&name) == 0 else { return "unknown" }
    return withUnsafePointer(to: &name.nodename) {
      $0.withMemoryRebound(to: CChar.self, capacity: 65) { String(cString: $0) }
    }
  }()

  /// Whether a process of this number runs here now.
  public static func isAlive(_ process: Int32) -> Bool {
    guard process > 0, kill(process, 0) == 0 || errno == EPERM else { return false }
    // One that has ended and that nobody has asked about yet.
    return state(of: process) != "Z"
  }

  /// When it was started, in ticks since the boot; `nil` when there is none.
  public static func startTicks(_ process: Int32) -> UInt64? {
    let fields = statFields(process)
    return fields.count > 19 ? UInt64(fields[19]) : nil
  }

  private static func state(of process: Int32) -> Substring? { statFields(process).first }

  /// Of `/proc/PID/stat`, from the state on: the name before it may hold anything.
  private static func statFields(_ process: Int32) -> [Substring] {
    let text = line("/proc/\(process)/stat")
    guard let end = text.lastIndex(of: ")") else { return [] }
    return text[text.index(after: end)...].split(separator: " ")
  }

  private static func line(_ path: String) -> String {
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    else { return "" }
    defer { try? file.close() }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = (try? file.read(into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
      ?? ""
  }
}
