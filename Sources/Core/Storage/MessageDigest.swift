import CCrypto

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
