import CCrypto

/// An incremental SHA-256, computed by the system's libcrypto, which uses the processor's SHA
/// instructions.
///
/// Used by one thread at a time. Cost: one small allocation per object; the algorithm is looked up
/// once per process.
final class SHA256 {
  private let context: OpaquePointer

  /// The size of a digest in bytes.
  static let byteCount = 32

  /// The library's description of the algorithm. Configuration files of the library are not read:
  /// they do not affect digests, and an invalid one would end the program.
  private nonisolated(unsafe) static let algorithm: OpaquePointer? = {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil)
    return EVP_MD_fetch(nil, "SHA256", nil)
  }()

  init() {
    // Fails only without memory, or if SHA-256 was removed from the library. No input can cause
    // this, and without digests the program cannot work.
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, Self.algorithm, nil) == 1
    else {
      preconditionFailure("libcrypto has no SHA-256")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) {
    // Fails only after `finalize`.
    let code = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    precondition(code == 1, "libcrypto refused bytes of a digest")
  }

  /// The 32 bytes of the digest. No bytes can be added afterwards.
  func finalize() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      let code = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      precondition(code == 1, "libcrypto did not end a digest")
      count = Self.byteCount
    }
  }
}
