#if canImport(Glibc)
  import Glibc
#endif

/// How many processors this process may use.
public enum ProcessorCount {
  /// Number of processors in the affinity mask of this process; at least 1.
  public static let available: Int = {
    let online = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    return allowed(in: status()).map { max(1, min($0, online)) } ?? online
  }()

  /// Number of bits in the mask of `/proc/self/status`: hexadecimal digits with commas between
  /// groups.
  static func allowed(in status: String) -> Int? {
    let name = "Cpus_allowed:"
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else {
      return nil
    }
    let count = line.dropFirst(name.count).reduce(0) {
      $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0)
    }
    return count > 0 ? count : nil
  }

  private static func status() -> String {
    let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16384)
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }
}
