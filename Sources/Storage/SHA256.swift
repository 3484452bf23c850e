import CCrypto

/// A SHA-256 in the making, by the system's libcrypto, which uses the processor's own instructions for it.
///
/// For one thread at a time. Cost: one small allocation each; the algorithm is looked up once per process.
final class SHA256 {
  private let context: OpaquePointer

  /// The size of a digest in bytes.
  static let byteCount = 32

  /// The library's description of the algorithm. Its configuration files are not read: nothing of them matters
  /// to a digest, and a broken one would end the program.
  private nonisolated(unsafe) static let algorithm: OpaquePointer? = {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil)
    return EVP_MD_fetch(nil, "SHA256", nil)
  }()

  init() {
    // Fails only where no memory is left, or where an administrator removed SHA-256 from the library: no
    // input of ours leads there, and no digest could be told.
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, Self.algorithm, nil) == 1
    else {
      preconditionFailure("libcrypto has no SHA-256")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) {
    // Fails only after `finalize`, which leaves no `SHA256` behind.
    let code = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    precondition(code == 1, "libcrypto refused bytes of a digest")
  }

  /// 32 bytes. Afterwards nothing more may be added.
  func finalize() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      let code = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      precondition(code == 1, "libcrypto did not end a digest")
      count = Self.byteCount
    }
  }
}
