import Core

/// Both digests of the bytes so far. Used by one thread at a time.
///
/// Unchecked: libcrypto's contexts may be used from any thread, by one after the other, which the
/// owner sees to.
final class RunningDigests: @unchecked Sendable {
  private let md5: MessageDigest
  private let sha256: MessageDigest

  init() {
    md5 = MessageDigest(.md5)
    sha256 = MessageDigest(.sha256)
  }

  init(copying other: RunningDigests) {
    md5 = MessageDigest(copying: other.md5)
    sha256 = MessageDigest(copying: other.sha256)
  }

  func update(_ bytes: UnsafeRawBufferPointer) {
    md5.update(bytes)
    sha256.update(bytes)
  }

  /// To be called once.
  func finish() -> FileDigests {
    FileDigests(md5: md5.finalizeHex(), sha256: sha256.finalizeHex())
  }
}

/// Both digests of a whole file, in lower-case hex digits.
struct FileDigests: Hashable, Sendable {
  var md5: String
  var sha256: String
}
