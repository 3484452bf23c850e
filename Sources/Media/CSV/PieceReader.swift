import Core
import SystemPackage

/// Reads the bytes of a text file piece by piece, at any offset.
///
/// The file is not mapped: mapped pages of a long table would count as memory of the process.
struct PieceReader {
  private enum Source {
    case file(OpenFile)
    case bytes([UInt8])
  }

  private let source: Source
  /// Size of the text in bytes, without the NUL bytes that a file system may leave at the end after
  /// a crash.
  private(set) var count: Int

  /// Opens `path`. Folders and devices are an error.
  init(_ path: FilePath) throws(FileError) {
    let identity = try FileIdentity(of: path)
    try InputLimits.bytesOfTable.check(Int(clamping: identity.bytes), of: path)
    source = .file(try OpenFile(path))
    count = Int(identity.bytes)
    try dropTrailingNULs()
  }

  init(bytes: [UInt8]) {
    source = .bytes(bytes)
    count = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
  }

  /// Fills `buffer` from byte `offset` on. Returns the number of bytes read, 0 at the end.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
    let wanted = min(buffer.count, count - offset)
    guard wanted > 0 else { return 0 }
    switch source {
    case .file(let file):
      return try file.read(
        at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
    case .bytes(let bytes):
      buffer.copyBytes(from: bytes[offset..<offset + wanted])
      return wanted
    }
  }

  private mutating func dropTrailingNULs() throws(FileError) {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while count > 0 {
      let start = max(0, count - piece.count)
      let wanted = count - start
      var got = 0
      while got < wanted {
        let more = try piece.readPiece(from: self, at: start + got, into: got..<wanted)
        guard more > 0 else { break }
        got += more
      }
      if let last = piece[..<got].lastIndex(where: { $0 != 0 }) {
        count = start + last + 1
        return
      }
      count = start
    }
  }
}

extension [UInt8] {
  /// Reads into the bytes of `range`. Returns the number of bytes read.
  mutating func readPiece(
    from pieces: PieceReader, at offset: Int, into range: Range<Int>
  ) throws(FileError) -> Int {
    var outcome: Result<Int, FileError> = .success(0)
    withUnsafeMutableBytes { bytes in
      do throws(FileError) {
        let buffer = UnsafeMutableRawBufferPointer(rebasing: bytes[range])
        outcome = .success(try pieces.read(at: offset, into: buffer))
      } catch {
        outcome = .failure(error)
      }
    }
    return try outcome.get()
  }
}

/// A file descriptor that is closed with its last reference.
private final class OpenFile: Sendable {
  private let path: FilePath
  private let descriptor: FileDescriptor

  init(_ path: FilePath) throws(FileError) {
    self.path = path
    do throws(Errno) {
      descriptor = try EnclosedPaths.openForReading(path)
    } catch {
      throw FileError(error, path: path, operation: "open")
    }
  }

  deinit {
    try? descriptor.close()
  }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
    do {
      return try descriptor.read(fromAbsoluteOffset: Int64(offset), into: buffer)
    } catch let error as Errno {
      throw FileError(error, path: path, operation: "read")
    } catch {
      throw FileError(kind: .other, path: path, operation: "read", reason: "\(error)")
    }
  }
}
