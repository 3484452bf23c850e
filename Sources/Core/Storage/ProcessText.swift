import SystemPackage
import Glibc

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
