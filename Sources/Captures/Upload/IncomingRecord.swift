import FoundationEssentials
import Core
import SystemPackage

/// What is on its way: a file `<random>.json` beside its part `<random>.part` in
/// `STAGING/.incoming/`. It counts only while a receiver holds the lock of `STAGING/.lock`.
public struct IncomingRecord: Codable, Hashable, Sendable {
  /// The folder of parts, in STAGING.
  public static let folderName = ".incoming"
  /// The file in STAGING that the receiver locks.
  public static let lockName = ".lock"
  public static let mostBytes = 1 << 20

  public var schema: Int
  public var capture: String
  /// Relative to the capture's folder.
  public var name: String
  /// `nil` if the sender did not tell the length.
  public var expected: Int64?
  /// A lower bound, updated now and then; for uploads that can be resumed, the part's size counts.
  public var received: Int64
  public var started: String
  public var sender: String
  public var userAgent: String
  /// `nil` for uploads that cannot be resumed.
  public var resumable: Resumable?

  /// What an upload that can be resumed needs after a new start.
  public struct Resumable: Codable, Hashable, Sendable {
    /// When it is removed unless its sender resumes it.
    public var expires: String
    /// The digest that the whole file must have; `nil` if the sender has not told it.
    public var sha256: String?
    /// Where the piece began that is being received and will be checked: what the part has beyond it
    /// is not checked. `nil` between pieces.
    public var uncheckedFrom: Int64?
    /// For the protocol that began it.
    public var metadata: String

    public init(expires: String, sha256: String? = nil, metadata: String = "") {
      self.expires = expires
      self.sha256 = sha256
      self.metadata = metadata
    }
  }

  public init(
    capture: String, name: String, expected: Int64?, started: String, sender: String,
    userAgent: String, resumable: Resumable? = nil
  ) {
    schema = 1
    self.capture = capture
    self.name = name
    self.expected = expected
    received = 0
    self.started = started
    self.sender = sender
    self.userAgent = userAgent
    self.resumable = resumable
  }

  public init?(_ bytes: [UInt8]) {
    guard let record = try? JSONDecoder().decode(IncomingRecord.self, from: Data(bytes)),
      record.schema == 1
    else { return nil }
    self = record
  }

  public func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try [UInt8](encoder.encode(self)) + [0x0A]
  }
}
