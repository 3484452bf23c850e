import Synchronization
import SystemPackage

/// A SHA-256 digest, written in lower-case hex.
public struct Digest: Hashable, Sendable, Codable, CustomStringConvertible, Comparable {
  /// 64 lower-case hex digits.
  public let hex: String

  public init(hex: String) {
    self.hex = hex
  }

  /// The digest of bytes in memory.
  public init(of bytes: some Sequence<UInt8>) {
    let hasher = Hasher()
    let isDone: Void? = bytes.withContiguousStorageIfAvailable {
      hasher.update(UnsafeRawBufferPointer($0))
    }
    if isDone == nil { hasher.update(Array(bytes)) }
    self = hasher.finish()
  }

  /// The digest of a text in UTF-8.
  public init(of text: String) {
    self.init(of: text.utf8)
  }

  /// The digest of a whole regular file. Folders, pipes and devices are refused. Cost: one pass in
  /// pieces of 1 MiB; constant memory.
  public init(ofFileAt path: FilePath) throws(FileError) {
    do {
      let file = try EnclosedPaths.openForReading(path)
      self = try file.closeAfter {
        _ = try FileIdentity(file, path: path)
        return try Digest(reading: file)
      }
    } catch let error as Errno {
      throw FileError(error, path: path, operation: "read")
    } catch let error as FileError {
      throw error
    } catch {
      throw FileError(kind: .other, path: path, operation: "read", reason: "\(error)")
    }
  }

  /// The digest of an open file from its current offset to its end.
  init(reading file: FileDescriptor) throws {
    let hasher = Hasher()
    while true {
      // Of a small file only the pages that it fills are touched.
      let piece = try [UInt8](unsafeUninitializedCapacity: 1 << 20) { bytes, count in
        count = try file.read(into: UnsafeMutableRawBufferPointer(bytes))
      }
      if piece.isEmpty { break }
      hasher.update(piece)
    }
    self = hasher.finish()
  }

  /// The 32 bytes of the digest. Invalid hex digits give 0.
  public var bytes: [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).map { index in
      UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
    }
  }

  public init(from decoder: any Decoder) throws {
    hex = try decoder.singleValueContainer().decode(String.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hex)
  }

  public var description: String { hex }

  public static func < (a: Digest, b: Digest) -> Bool { a.hex < b.hex }

  private static let pieces = Atomic<Int>(0)

  /// Number of pieces that this process has digested so far. All written data is digested, and much
  /// of what is read, so a growing number means progress.
  public static var piecesDigested: Int { pieces.load(ordering: .relaxed) }

  /// Computes a digest incrementally. Used by one thread at a time.
  public final class Hasher {
    private let sha = MessageDigest(.sha256)

    public init() {}

    public func update(_ bytes: [UInt8]) {
      Digest.pieces.add(1, ordering: .relaxed)
      bytes.withUnsafeBytes { sha.update($0) }
    }

    public func update(_ bytes: ArraySlice<UInt8>) {
      Digest.pieces.add(1, ordering: .relaxed)
      bytes.withUnsafeBytes { sha.update($0) }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
      Digest.pieces.add(1, ordering: .relaxed)
      sha.update(bytes)
    }

    /// The digest of all added bytes. To be called once; no bytes can be added afterwards.
    public func finish() -> Digest {
      Digest(hex: sha.finalizeHex())
    }
  }
}
