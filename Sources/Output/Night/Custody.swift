/// Whether a capture may be deleted on its device: all files are here, and everything that was asked for is made of
/// them.
public struct Custody: Hashable, Sendable, Codable {
  /// Files that are here; `nil`: not looked at yet.
  public var receivedFiles: Int?
  public var receivedBytes: Int64?
  /// Files that a complete upload has; `nil`: not known.
  public var expectedFiles: Int?
  /// What says that they are whole: `manifest`, the digests that an upload server has compared, or `rule`, the files
  /// that its family always has; `nil`: nothing does.
  public var verifiedBy: String?
  /// Why it may not be deleted, in words; empty: it may.
  public var lacks: [String]

  public init(
    receivedFiles: Int? = nil, receivedBytes: Int64? = nil, expectedFiles: Int? = nil,
    verifiedBy: String? = nil, lacks: [String]
  ) {
    self.receivedFiles = receivedFiles
    self.receivedBytes = receivedBytes
    self.expectedFiles = expectedFiles
    self.verifiedBy = verifiedBy
    self.lacks = lacks
  }

  /// Complete and verified: safe to delete on the device.
  public var isSafe: Bool { lacks.isEmpty }
}
