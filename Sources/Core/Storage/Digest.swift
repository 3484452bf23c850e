import CCrypto
import Synchronization
import SystemPackage

/// A SHA-256 digest, written in lower-case hex.
public struct Digest: Hashable, Sendable, Codable, CustomStringConvertible, Comparable {
  // Eight bytes each, the first byte highest. A list of published files has one digest per frame: texts would take three
  // times as much memory.
  package var (first, second, third, fourth): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// The digest of which every byte is 0.
  package init() {}

  private init(_ bytes: [UInt8]) {
    func word(_ index: Int) -> UInt64 {
      bytes[index * 8..<index * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
    (first, second, third, fourth) = (word(0), word(1), word(2), word(3))
  }

  /// `nil` unless the text has 64 lower-case hex digits.
  init?(hex: String) {
    guard hex.utf8.count == 64 else { return nil }
    for digit in hex.utf8 {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
      default: return nil
      }
      // All 256 bits move by one digit.
      first = first << 4 | second >> 60
      second = second << 4 | third >> 60
      third = third << 4 | fourth >> 60
      fourth = fourth << 4 | UInt64(value)
    }
  }

  /// 64 lower-case hex digits.
  public var hex: String {
    String(unsafeUninitializedCapacity: 64) { text in
      for (index, word) in [first, second, third, fourth].enumerated() {
        for place in 0..<16 {
          let value = UInt8(word >> UInt64(60 - 4 * place) & 15)
          text[16 * index + place] =
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
        }
      }
      return 64
    }
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

  /// The 32 bytes of the digest.
  public var bytes: [UInt8] {
    [first, second, third, fourth].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let digest = Digest(hex: text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "'\(text)' is not a SHA-256 digest")
    }
    self = digest
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(hex)
  }

  public var description: String { hex }

  public static func < (a: Digest, b: Digest) -> Bool {
    (a.first, a.second, a.third, a.fourth) < (b.first, b.second, b.third, b.fourth)
  }

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
      Digest(sha.finalize())
    }
  }
}

/// An incremental digest, computed by the system's libcrypto, which uses the processor's own
/// instructions.
///
/// Used by one thread at a time. Cost: one small allocation per object; an algorithm is looked up
/// once per process.
public final class MessageDigest {
  /// SHA-256 is the digest of everything that this program writes. The other two are for people who
  /// send files: their apps and tools compute them.
  public enum Algorithm: String, Sendable, CaseIterable {
    case md5, sha1, sha256

    /// The size of a digest in bytes.
    public var byteCount: Int {
      switch self {
      case .md5: 16
      case .sha1: 20
      case .sha256: 32
      }
    }

    fileprivate var description: OpaquePointer? {
      switch self {
      case .md5: MessageDigest.md5
      case .sha1: MessageDigest.sha1
      case .sha256: MessageDigest.sha256
      }
    }
  }

  let algorithm: Algorithm
  private let context: OpaquePointer

  // The library's descriptions of the algorithms. Configuration files of the library are not read:
  // they do not affect digests, and an invalid one would end the program.
  private nonisolated(unsafe) static let sha256 = fetched("SHA256")
  private nonisolated(unsafe) static let sha1 = fetched("SHA1")
  private nonisolated(unsafe) static let md5 = fetched("MD5")

  private static func fetched(_ name: String) -> OpaquePointer? {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil)
    // A library that is restricted to FIPS still has MD5, for what is not about security.
    return EVP_MD_fetch(nil, name, nil) ?? EVP_MD_fetch(nil, name, "-fips")
  }

  public init(_ algorithm: Algorithm) {
    // Fails only without memory, or if the algorithm was removed from the library. No input can
    // cause this, and without digests the program cannot work.
    guard let context = EVP_MD_CTX_new(),
      EVP_DigestInit_ex(context, algorithm.description, nil) == 1
    else {
      preconditionFailure("libcrypto has no \(algorithm.rawValue)")
    }
    self.algorithm = algorithm
    self.context = context
  }

  /// A digest of the same bytes so far, which goes on by itself.
  public init(copying other: MessageDigest) {
    // Fails only without memory.
    guard let context = EVP_MD_CTX_new(), EVP_MD_CTX_copy_ex(context, other.context) == 1 else {
      preconditionFailure("libcrypto copied no digest")
    }
    algorithm = other.algorithm
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  public func update(_ bytes: UnsafeRawBufferPointer) {
    // Fails only after `finalize`.
    let code = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    precondition(code == 1, "libcrypto refused bytes of a digest")
  }

  /// The bytes of the digest. No bytes can be added afterwards.
  func finalize() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: algorithm.byteCount) { buffer, count in
      let code = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      precondition(code == 1, "libcrypto did not end a digest")
      count = algorithm.byteCount
    }
  }

  /// The digest in lower-case hex digits. No bytes can be added afterwards.
  public func finalizeHex() -> String { Self.hex(finalize()) }

  /// Lower-case hex digits of bytes.
  public static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
