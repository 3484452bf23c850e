import Captures
import Core
import SystemPackage

/// `.scanmill/index`: cache, digests of input files and records of artifacts in a form that is read in
/// microseconds, so that tens of thousands of artifacts can be planned in seconds.
///
/// It is a copy and never believed beyond what it was copied from: the whole file has a digest, cache and
/// every record count only while the file that they came from bears the stamp that it had, and the files
/// of a capture are looked at anyway. Absent, damaged or old: everything is read from the JSON files.
package struct RecordIndex: Sendable {
  /// What the cache says.
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
    /// Digest of the noted pipeline; `nil`: none is noted.
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
    /// Stamp of `artifact.json`, or of the record of a removed intermediate.
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

  /// The index of an output that is held open; `nil` unless it is whole and made from the cache that is there.
  init?(_ open: OpenOutput, pool: ParameterPool) {
    guard let notes = open.notes, let cacheStamp = notes.stamp(of: open.layout.captureCacheName) else {
      return nil
    }
    self.init(in: notes, open.layout, cacheStamp: cacheStamp, pool: pool)
  }

  /// Reads the index in `notes`; `nil` unless it is whole and made from the cache with this stamp.
  init?(in notes: HeldFolder, _ layout: OutputLayout, cacheStamp: FileStamp, pool: ParameterPool)
  {
    guard let bytes = notes.stampedContents(of: layout.indexName)?.bytes,
      let index = try? RecordIndex(bytes, cacheStamp: cacheStamp, pool: pool)
    else { return nil }
    self = index
  }
}

extension RecordIndex {
  /// Raised when the order of values changes.
  private static let format: Int64 = 0xC_5343_4D49

  /// A file of these values with a digest at its end.
  package func encoded(cacheStamp: FileStamp) throws -> [UInt8] {
    var writer = CacheEncoder()
    writer.put(Self.format)
    writer.put(cacheStamp)
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

  /// What comes from the cache, without the rest.
  package static func core(in notes: HeldFolder, _ layout: OutputLayout, cacheStamp: FileStamp) -> Core? {
    guard let bytes = notes.stampedContents(of: layout.indexName)?.bytes,
      var reader = try? reader(bytes, cacheStamp: cacheStamp)
    else { return nil }
    return try? core(&reader)
  }

  /// A reader that stands behind the stamp of the cache.
  private static func reader(_ bytes: [UInt8], cacheStamp: FileStamp?) throws -> CacheDecoder {
    let count = bytes.count - 64
    guard count > 0, Digest(of: bytes[..<count]).hex.utf8.elementsEqual(bytes[count...]) else {
      throw DamagedNote()
    }
    var reader = CacheDecoder(bytes, in: 0..<count)
    guard try reader.integer() == format else { throw DamagedNote() }
    let stamp = try reader.stamp()
    guard cacheStamp.map({ $0 == stamp }) ?? true else { throw DamagedNote() }
    return reader
  }

  /// - Parameter cache: the stamp that the index must have been made from; `nil`: any.
  init(_ bytes: [UInt8], cacheStamp: FileStamp?, pool: ParameterPool) throws {
    var reader = try Self.reader(bytes, cacheStamp: cacheStamp)
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
