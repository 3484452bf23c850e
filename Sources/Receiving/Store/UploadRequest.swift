/// A file that a sender begins to send.
public struct UploadRequest: Sendable {
  public var name: UploadName
  /// In bytes; `nil` if the sender does not tell.
  public var length: Int64?
  /// Who sends it: an address, or the name of a token.
  public var sender: String
  public var userAgent: String = ""
  /// Digests that the sender tells beforehand, in lower-case hex digits.
  public var md5: String?
  public var sha256: String?
  /// Metadata of an upload that can be resumed, which its protocol wants to know later; else `nil`.
  var resumableMetadata: String?
}

/// A file that was received.
public struct UploadOutcome: Sendable, Hashable {
  public enum Kind: String, Sendable {
    /// No file of that name was there.
    case stored
    /// The file took the place of other content that no sender had verified, or that was damaged.
    case replaced
    /// A file with this content was there; nothing was touched.
    case identical
    /// Verified content of that name stays where it is; this is kept beside it.
    case keptBoth = "kept-both"
  }

  public var kind: Kind
  /// The folder in STAGING: the id of the capture, or `<id>~2`, …
  public var folder: String
  public var name: String
  public var bytes: Int64
  public var md5: String
  public var sha256: String
}
