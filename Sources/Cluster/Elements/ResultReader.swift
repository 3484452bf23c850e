import FoundationEssentials
import Core
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// Reads the lines that array tasks have written since the last call.
///
/// The folder is listed and each file is opened again every time. A network file system client
/// caches the absence of a name and the content of an open file for a while. Only complete lines
/// are read.
public final class ResultReader {
  private let folder: FilePath
  private var offsets: [String: Int64] = [:]

  /// A line and the number of its array task.
  public struct Entry: Sendable {
    var element: Int
    public var line: ArrayTaskLine
  }

  /// The limit of one read. The rest is read by the next call.
  private static let mostBytes = 16 << 20

  init(_ files: RunFiles) { folder = files.results }

  /// - Parameter isWanted: whether results of this array task are still needed. Other files are not
  ///   opened.
  public func read(where isWanted: (Int) -> Bool) -> [Entry] {
    guard let held = try? HeldFolder.following(folder), let names = try? held.names() else {
      return []
    }
    var entries: [Entry] = []
    for name in names {
      guard let element = RunFiles.element(ofResults: name), isWanted(element) else { continue }
      for line in lines(of: name, in: held) {
        // Lines that cannot be decoded are ignored.
        guard let line = try? JSONDecoder().decode(ArrayTaskLine.self, from: Data(line)) else {
          continue
        }
        entries.append(Entry(element: element, line: line))
      }
    }
    return entries
  }

  /// New complete lines. Empty if the file does not exist or cannot be read.
  private func lines(of name: String, in held: HeldFolder) -> [ArraySlice<UInt8>] {
    guard let file = try? held.openFile(name) else { return [] }
    defer { try? file.close() }
    let offset = offsets[name] ?? 0
    guard let size = (try? FileStatus(file))?.bytes, size > offset else { return [] }
    let length = min(Self.mostBytes, Int(clamping: size - offset))
    var bytes = [UInt8](repeating: 0, count: length)
    var count = 0
    while count < length {
      let got = bytes.withUnsafeMutableBytes {
        pread(
          file.rawValue, $0.baseAddress?.advanced(by: count), length - count,
          off_t(offset) + off_t(count))
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      count += got
    }
    guard let last = bytes[..<count].lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    offsets[name] = offset + Int64(last + 1)
    return bytes[..<last].split(separator: UInt8(ascii: "\n"))
  }
}
