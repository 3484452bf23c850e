@testable import Core

@testable import Watch

extension FolderSignature {
  /// One that differs from those of other texts.
  ///
  /// - Parameter mode: what changes of owner and mode leave the content of.
  init(text: String, isTransferring: Bool = false, mode: String = "") {
    self.init(digest: Digest(of: text + mode), content: Digest(of: text))
    self.isTransferring = isTransferring
    files = [UInt64(Digest(of: text).hex.prefix(15), radix: 16) ?? 1]
  }
}
