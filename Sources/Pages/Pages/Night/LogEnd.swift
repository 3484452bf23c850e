import Core
import SystemPackage

/// Reads the end of a log in an output folder.
enum LogEnd {
  private static let mostBytes = 16 << 10

  /// The last lines of the file at `path`, relative to `root`; `nil` if there is no such file below
  /// it. Links are not followed. Cost: one read of 16 KiB.
  static func lines(_ path: String, below root: FilePath, most: Int = 15) -> [String]? {
    guard PageAddress.below(path) != nil else { return nil }
    var names = path.split(separator: "/").map(String.init)
    let last = names.removeLast()
    guard var folder = try? HeldFolder.following(root) else { return nil }
    for name in names {
      guard let inner = try? folder.folder(name) else { return nil }
      folder = inner
    }
    guard let file = try? folder.openFile(last) else { return nil }
    defer { try? file.close() }
    guard let size = try? file.seek(offset: 0, from: .end) else { return nil }
    let start = max(0, size - Int64(mostBytes))
    var bytes = [UInt8](repeating: 0, count: mostBytes)
    guard
      let count = try? bytes.withUnsafeMutableBytes({
        try file.read(fromAbsoluteOffset: start, into: $0)
      })
    else { return nil }
    var lines = bytes[..<count].split(separator: UInt8(ascii: "\n"))
    if start > 0, lines.count > 1 { lines.removeFirst() }
    return lines.suffix(most).map { PathText.text(of: Array($0)) }
  }
}
