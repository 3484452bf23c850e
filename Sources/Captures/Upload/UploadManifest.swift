import Core
import SystemPackage

/// What a capture's folder has received, in the file `.upload.json` of that folder.
///
/// Written by the program that receives uploads, replaced atomically, and read by whoever wants to
/// know whether a capture is whole. Readers of captures ignore it. Times are RFC 3339 in UTC with a
/// fraction.
public struct UploadManifest: Codable, Hashable, Sendable {
  /// The file's name.
  public static let fileName = ".upload.json"
  /// No manifest is larger; a larger file is none.
  public static let mostBytes = 64 << 20

  public enum FileState: String, Codable, Sendable {
    /// The sender has not asked for the file's digest.
    case unverified
    /// The sender has asked for the file's digest, and it was the same.
    case verified
    /// The sender has asked for another digest.
    case mismatch
  }

  /// A file of the capture.
  public struct File: Codable, Hashable, Sendable {
    /// The path in the folder, which may have one folder level.
    public var name: String
    public var bytes: Int64
    /// Lower-case hex digits.
    public var md5: String
    /// Lower-case hex digits.
    public var sha256: String
    public var received: String
    public var state: FileState
    /// How often other content has taken its place.
    public var replaced: Int
    /// Who sent it: an address, or the name of a token.
    public var sender: String
    public var userAgent: String
    /// The file's time of modification when its digests were computed: a file of another size or
    /// time is not the one that is described.
    public var modified: String

    public init(
      name: String, bytes: Int64, md5: String, sha256: String, received: String, state: FileState,
      replaced: Int, sender: String, userAgent: String, modified: String
    ) {
      self.name = name
      self.bytes = bytes
      self.md5 = md5
      self.sha256 = sha256
      self.received = received
      self.state = state
      self.replaced = replaced
      self.sender = sender
      self.userAgent = userAgent
      self.modified = modified
    }

    /// How many bytes its entry has in the manifest, with the line end; never fewer.
    public var encodedBytes: Int64 {
      [md5, modified, name, received, sender, sha256, state.rawValue, userAgent].reduce(
        Self.bytesAround + Self.digits(bytes) + Self.digits(Int64(replaced))
      ) { $0 + Self.escapedBytes($1) }
    }

    /// No entry with these texts has more bytes in the manifest. Cost: the lengths of the texts.
    public static func mostEncodedBytes(name: String, sender: String, userAgent: String) -> Int64 {
      // 96 digits of digests, two times of up to 40, a state, two numbers of up to 20 digits.
      bytesAround + 240 + 6 * Int64(name.utf8.count + sender.utf8.count + userAgent.utf8.count)
    }

    /// Bytes of braces, keys, quotation marks and indentation.
    private static let bytesAround: Int64 = 220

    private static func digits(_ number: Int64) -> Int64 { Int64(String(number).utf8.count) }

    private static func escapedBytes(_ text: String) -> Int64 {
      text.utf8.reduce(0) { sum, byte in
        switch byte {
        case 0..<0x20: sum + 6
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): sum + 2
        default: sum + 1
        }
      }
    }
  }

  public var schema: Int
  /// The id that the files' names tell. The folder may be called `<id>~2`.
  public var capture: String
  /// `nil` until a file tells.
  public var family: String?
  public var firstArrival: String
  public var lastArrival: String
  /// When the capture became complete; `nil` if it is not.
  public var complete: String?
  /// Whether the sender said that it is complete, which is not undone by names.
  public var declared: Bool
  /// Names of files that are waited for.
  public var missing: [String]
  /// When a sender asked to process it without the settle time; `nil`: none did.
  public var processRequested: String?
  /// The files in the order of arrival.
  public var files: [File]

  public init(capture: String, at time: String) {
    schema = 1
    self.capture = capture
    firstArrival = time
    lastArrival = time
    declared = false
    missing = []
    files = []
  }

  private enum CodingKeys: String, CodingKey {
    case schema, capture, family, firstArrival, lastArrival, complete, declared, missing
    case processRequested, files
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    schema = try values.decode(Int.self, forKey: .schema)
    guard schema == 1 else {
      throw DecodingError.dataCorruptedError(
        forKey: .schema, in: values, debugDescription: "schema \(schema) is not known")
    }
    capture = try values.decode(String.self, forKey: .capture)
    family = try values.decodeIfPresent(String.self, forKey: .family)
    firstArrival = try values.decode(String.self, forKey: .firstArrival)
    lastArrival = try values.decode(String.self, forKey: .lastArrival)
    complete = try values.decodeIfPresent(String.self, forKey: .complete)
    declared = try values.decodeIfPresent(Bool.self, forKey: .declared) ?? false
    missing = try values.decodeIfPresent([String].self, forKey: .missing) ?? []
    processRequested = try values.decodeIfPresent(String.self, forKey: .processRequested)
    files = try values.decode([File].self, forKey: .files)
  }

  /// All keys, also those without a value, which are `null`.
  public func encode(to encoder: any Encoder) throws {
    let members: JSONObject = [
      "schema": schema, "capture": capture, "family": family, "firstArrival": firstArrival,
      "lastArrival": lastArrival, "complete": complete, "declared": declared, "missing": missing,
      "processRequested": processRequested, "files": files,
    ]
    try members.encode(to: encoder)
  }

  public var bytes: Int64 {
    files.reduce(0) { sum, file in
      let (next, overflow) = sum.addingReportingOverflow(file.bytes)
      return overflow ? .max : next
    }
  }
  public var isVerified: Bool { files.allSatisfy { $0.state == .verified } }
  public var hasMismatch: Bool { files.contains { $0.state == .mismatch } }
}

extension UploadManifest {
  /// The manifest of a folder with what its journal adds; `nil` where there is no manifest that can be read. Links are
  /// not followed.
  public init?(in folder: HeldFolder) {
    // Before the manifest, which may be replaced meanwhile.
    let journal =
      try? folder.contents(of: UploadJournal.fileName, limit: UploadJournal.mostBytes)
    self.init(withoutJournalIn: folder)
    if let journal { add(UploadJournal.files(in: journal)) }
  }

  /// Only what stands in the file `.upload.json`.
  public init?(withoutJournalIn folder: HeldFolder) {
    guard
      let bytes = try? folder.contents(of: Self.fileName, limit: Self.mostBytes),
      let manifest = try? UploadManifest(json: bytes)
    else { return nil }
    self = manifest
  }

  /// Adds files of the journal. What the manifest says of a file is never older.
  public mutating func add(_ journal: [File]) {
    var known = Set(files.map { Array($0.name.utf8) })
    for file in journal where known.insert(Array(file.name.utf8)).inserted {
      files.append(file)
      lastArrival = max(lastArrival, file.received)
    }
  }
}

/// `.upload.journal` beside `.upload.json`: files that were received after the manifest was written, a line of JSON
/// each, with the keys of its `files`.
///
/// A manifest of thousands of files is not written anew for each of them; what was acknowledged meanwhile stands here.
/// Whoever reads a manifest reads both, the journal first: what it loses meanwhile the manifest has gained. It names
/// files only that the manifest did not name when it was begun, so what the manifest says of a file is the newer.
public enum UploadJournal {
  /// The file's name.
  public static let fileName = ".upload.journal"
  /// No journal is larger; a larger file is none.
  public static let mostBytes = UploadManifest.mostBytes

  /// A line with a line end in front, so that one that was cut by a full disk spoils no other.
  public static func line(_ file: UploadManifest.File) throws -> [UInt8] {
    try [0x0A] + JSONText.canonical(file) + [0x0A]
  }

  /// What may be lines, in their order.
  package static func lines(in bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    bytes.split(separator: 0x0A)
  }

  /// Lines that are whole, in their order. Others were not acknowledged.
  public static func files(in bytes: [UInt8]) -> [UploadManifest.File] {
    lines(in: bytes).compactMap { try? UploadManifest.File(json: $0) }
  }
}

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
  /// The path in the capture's folder.
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
    guard let record = try? IncomingRecord(json: bytes),
      record.schema == 1
    else { return nil }
    self = record
  }

  public func encoded() throws -> [UInt8] {
    try JSONText.canonical(self) + [0x0A]
  }
}
