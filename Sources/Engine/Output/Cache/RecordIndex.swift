import Captures
import Core
import SystemPackage

/// `.scanmill/index`: memo, digests of input files and records of artifacts in a form that is read in
/// microseconds, so that tens of thousands of artifacts can be planned in seconds.
///
/// It is a copy and never believed beyond what it was copied from: the whole file has a digest, memo and
/// every record count only while the file that they came from bears the stamp that it had, and the files
/// of a capture are looked at anyway. Absent, damaged or old: everything is read from the JSON files.
package struct RecordIndex: Sendable {
  /// What the memo says.
  package struct Core: Sendable {
    var summary: CaptureSummary
    var generation: String
    package var warnings: [CaptureWarning]
    package var inputs: InputListing
    /// `capture.json` as it was.
    var document: FileStamp?
    /// The registry by which the folder was found to hold this capture and no other; `nil`: not found
    /// so.
    var onlyCaptureBy: String?
    /// Of the noted pipeline; `nil`: none is noted.
    package var pipeline: Digest?

    package init(
      summary: CaptureSummary, generation: String, warnings: [CaptureWarning],
      inputs: InputListing, document: FileStamp? = nil, onlyCaptureBy: String? = nil,
      pipeline: Digest? = nil
    ) {
      self.summary = summary
      self.generation = generation
      self.warnings = warnings
      self.inputs = inputs
      self.document = document
      self.onlyCaptureBy = onlyCaptureBy
      self.pipeline = pipeline
    }
  }

  package struct Entry: Sendable {
    /// Of `artifact.json`, or of the record of a removed intermediate.
    var stamp: FileStamp
    var isSound: Bool
    package var record: ArtifactRecord
  }

  package var core: Core
  package var digests: [String: DigestCache.Entry]
  /// By stage.
  var records: [String: Entry]

  init(core: Core, digests: [String: DigestCache.Entry], records: [String: Entry]) {
    self.core = core
    self.digests = digests
    self.records = records
  }

  /// The index of an output that is held open; `nil` unless it is whole and made from the memo that is there.
  init?(_ open: OpenOutput, pool: ParameterPool) {
    guard let notes = open.notes, let memo = notes.stamp(of: open.layout.memoName) else {
      return nil
    }
    self.init(in: notes, open.layout, memo: memo, pool: pool)
  }

  /// Reads the index in `notes`; `nil` unless it is whole and made from the memo with this stamp.
  init?(in notes: HeldFolder, _ layout: OutputLayout, memo: FileStamp, pool: ParameterPool)
  {
    guard let bytes = notes.stampedContents(of: layout.indexName)?.bytes,
      let index = try? RecordIndex(bytes, memo: memo, pool: pool)
    else { return nil }
    self = index
  }
}

extension RecordIndex {
  /// Raised when the order of values changes.
  private static let format: Int64 = 0xC_5343_4D49

  /// A file of these values with a digest at its end.
  package func encoded(memo: FileStamp) throws -> [UInt8] {
    var writer = CacheEncoder()
    writer.put(Self.format)
    writer.put(memo)
    try Self.put(core, &writer)
    writer.list(digests.sorted { $0.key < $1.key }) { writer, entry in
      writer.put(entry.key)
      writer.put(entry.value.stamp)
      writer.put(entry.value.sha256)
    }
    try writer.list(records.sorted { $0.key < $1.key }) { writer, entry in
      writer.put(entry.key)
      writer.put(entry.value.stamp)
      writer.put(entry.value.isSound)
      try Self.put(entry.value.record, &writer)
    }
    return writer.bytes + Array(Digest(of: writer.bytes).hex.utf8)
  }

  /// What comes from the memo, without the rest.
  package static func core(in notes: HeldFolder, _ layout: OutputLayout, memo: FileStamp) -> Core? {
    guard let bytes = notes.stampedContents(of: layout.indexName)?.bytes,
      var reader = try? reader(bytes, memo: memo)
    else { return nil }
    return try? core(&reader)
  }

  /// Behind the stamp of the memo.
  private static func reader(_ bytes: [UInt8], memo: FileStamp?) throws -> CacheDecoder {
    let count = bytes.count - 64
    guard count > 0, Digest(of: bytes[..<count]).hex.utf8.elementsEqual(bytes[count...]) else {
      throw DamagedNote()
    }
    var reader = CacheDecoder(bytes, in: 0..<count)
    guard try reader.integer() == format else { throw DamagedNote() }
    let stamp = try reader.stamp()
    guard memo.map({ $0 == stamp }) ?? true else { throw DamagedNote() }
    return reader
  }

  /// - Parameter memo: `nil`: of whatever memo it was made.
  init(_ bytes: [UInt8], memo: FileStamp?, pool: ParameterPool) throws {
    var reader = try Self.reader(bytes, memo: memo)
    core = try Self.core(&reader)
    digests = [:]
    for (path, entry) in try reader.list({ reader in
      (
        try reader.text(),
        DigestCache.Entry(stamp: try reader.stamp(), sha256: try reader.digest())
      )
    }) {
      digests[path] = entry
    }
    records = [:]
    for (stage, entry) in try reader.list({ reader in
      (
        try reader.text(),
        Entry(
          stamp: try reader.stamp(), isSound: try reader.bool(),
          record: try Self.record(&reader, pool))
      )
    }) {
      records[stage] = entry
    }
    guard reader.isAtEnd else { throw DamagedNote() }
  }
}
