import Core
import SystemPackage

/// A file of a measured capture, by which others can tell that theirs is the same.
public struct MeasuredFile: Hashable, Sendable, Codable {
  public var name: String
  public var bytes: Int64
  public var sha256: String

  /// Reads the whole file. `nil` if it cannot be read.
  init?(_ path: FilePath) {
    guard let name = path.lastComponent?.string, let digest = try? Digest(ofFileAt: path),
      let bytes = try? FileIdentity(of: path).bytes
    else { return nil }
    self.name = name
    self.bytes = bytes
    sha256 = digest.hex
  }
}

/// One digest for all input files of a capture.
enum CaptureDigest {
  /// SHA-256 of one line `SHA256␣␣PATH` per file, in the order of the bytes of the paths, which are
  /// relative to the capture: what `sha256sum` prints. Reads every file. `nil` if one cannot be read,
  /// or without files.
  ///
  /// - Parameter path: the capture: its folder, or one of its files.
  static func hex(of files: [FilePath], in path: FilePath) -> String? {
    let folder = files.contains(path) ? path.removingLastComponent() : path
    var lines: [(name: String, line: String)] = []
    for path in Set(files.map(\.string)).map({ FilePath($0) }) {
      guard let digest = try? Digest(ofFileAt: path) else { return nil }
      var relative = path
      let name = relative.removePrefix(folder) ? relative.string : path.lastComponent?.string ?? ""
      lines.append((name, "\(digest.hex)  \(name)\n"))
    }
    guard !lines.isEmpty else { return nil }
    let sorted = lines.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    return Digest(of: sorted.map(\.line).joined()).hex
  }
}
