/// Whether a capture may be deleted on its device: an upload server has compared the digests of all its files with those
/// of the device, they have not changed since, and everything that was asked for is made of them.
public struct Custody: Hashable, Sendable, Codable {
  /// What says that the files are whole.
  enum Proof: String, Hashable, Codable {
    /// The digests of an upload server's manifest, all compared with the files.
    case manifest
  }

  /// Files that are here; `nil`: not looked at yet.
  var receivedFiles: Int?
  var receivedBytes: Int64?
  /// Files that a complete upload has; `nil`: not known.
  var expectedFiles: Int?
  /// `nil`: contents were not compared, or not all, or files have changed since.
  var verifiedBy: Proof?
  /// Why it may not be deleted, in words; empty: it may.
  var lacks: [String]

  /// What is said of files that only their names speak for.
  public static let notCompared =
    "all files that the app writes are here; contents were not compared"

  /// Complete and verified: safe to delete on the device. The one place that decides it.
  var isSafe: Bool { verifiedBy != nil && lacks.isEmpty }

  /// The one sentence about it, for people.
  public var words: String {
    if isSafe { return "complete and verified: safe to delete" }
    return lacks == [Self.notCompared] ? Self.notCompared : "keep: " + lacks.joined(separator: "; ")
  }
}
