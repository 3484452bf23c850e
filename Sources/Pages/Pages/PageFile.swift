import Core
import SystemPackage

/// A page in an output folder. It is replaced atomically, never through a link, and never in place
/// of a file that is not a page.
enum PageFile {
  /// Size of the part that is searched for the generator, which is in the first lines of every
  /// page.
  private static let headerBytes = 4 << 10

  /// Throws when the file at `name` is not a page of this program. An empty file is accepted,
  /// because a power cut may leave one.
  static func check(_ name: String, in folder: HeldFolder) throws(FileError) {
    guard let entry = try folder.entry(name) else { return }
    let path = folder.path.appending(name: name)
    guard entry.kind == .file else {
      throw FileError.notOurs(path, "is in the place of a page, and is not a file")
    }
    guard let file = try folder.openFile(name) else { return }
    defer { try? file.close() }
    var head = [UInt8](repeating: 0, count: headerBytes)
    let count: Int
    do {
      count = try head.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: 0, into: $0) }
    } catch {
      throw FileError(error, path: path, operation: "read")
    }
    let text = String(decoding: head[..<count], as: UTF8.self)
    guard count == 0 || text.contains("<meta name=\"generator\" content=\"scanmill ") else {
      throw FileError.notOurs(path, "is a file that scanmill did not write")
    }
  }

  static func write(_ page: [UInt8], as name: String, in folder: HeldFolder) throws(FileError) {
    try check(name, in: folder)
    try folder.replace(name, with: page)
  }
}
