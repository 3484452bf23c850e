import Captures
import Core
import FoundationEssentials
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
    /// Digest of the noted requests; `nil`: none is noted.
    package var requests: Digest?
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
}

extension RecordIndex {
  /// The index of an output that is held open; `nil` unless it is whole and made from the cache that is there.
  init?(_ open: OpenOutput, pool: ParameterPool) {
    guard let notes = open.notes, let cacheStamp = notes.stamp(of: open.layout.captureCacheName)
    else {
      return nil
    }
    self.init(in: notes, open.layout, cacheStamp: cacheStamp, pool: pool)
  }

  /// Reads the index in `notes`; `nil` unless it is whole and made from the cache with this stamp.
  init?(in notes: HeldFolder, _ layout: OutputLayout, cacheStamp: FileStamp, pool: ParameterPool) {
    guard let bytes = notes.stampedContents(of: layout.indexName)?.bytes,
      let index = try? RecordIndex(bytes, cacheStamp: cacheStamp, pool: pool)
    else { return nil }
    self = index
  }
}

extension RecordIndex {
  /// Raised when the order of values changes.
  private static let format: Int64 = 0xD_5343_4D49

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
  package static func core(in notes: HeldFolder, _ layout: OutputLayout, cacheStamp: FileStamp)
    -> Core?
  {
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

/// The part of an index that comes from the cache.
extension RecordIndex {
  static func put(_ core: Core, _ writer: inout CacheEncoder) throws {
    put(core.summary, &writer)
    writer.put(core.generation)
    try putJSON(core.summary.lacking, &writer)
    try putJSON(core.warnings, &writer)
    writer.put(core.inputs.folder)
    writer.put(core.inputs.stem)
    writer.put(core.inputs.isSettled)
    writer.list(core.inputs.entries) { writer, entry in
      writer.put(entry.name)
      writer.put(entry.stamp)
    }
    writer.put(core.document != nil)
    if let document = core.document { writer.put(document) }
    writer.put(core.onlyCaptureBy)
    writer.put(core.requests?.hex)
  }

  package static func core(_ reader: inout CacheDecoder) throws -> Core {
    var summary = try summary(&reader)
    let generation = try reader.text()
    summary.lacking = try json([StreamClaim].self, &reader) ?? []
    let warnings = try json([CaptureWarning].self, &reader) ?? []
    let folder = try reader.text()
    let stem = try reader.optionalText()
    let isSettled = try reader.bool()
    let entries = try reader.list { reader in
      InputListing.Entry(name: try reader.text(), stamp: try reader.stamp())
    }
    return Core(
      summary: summary, generation: generation, warnings: warnings,
      inputs: InputListing(folder: folder, stem: stem, entries: entries, isSettled: isSettled),
      document: try reader.bool() ? try reader.stamp() : nil,
      onlyCaptureBy: try reader.optionalText(),
      requests: try reader.optionalText().map(Digest.init(hex:)))
  }

  private static func put(_ summary: CaptureSummary, _ writer: inout CacheEncoder) {
    writer.put(summary.id)
    writer.put(summary.family.rawValue)
    writer.put(summary.readerVersion)
    writer.put(summary.deviceID)
    writer.list(summary.parts.sorted { $0.key.rawValue < $1.key.rawValue }) { writer, part in
      writer.put(part.key.rawValue)
      switch part.value {
      case .present: writer.put(0)
      case .absent(let why):
        writer.put(1)
        writer.put(why)
      case .unreadable(let why):
        writer.put(2)
        writer.put(why)
      }
    }
    writer.list(summary.files.sorted { $0.key.rawValue < $1.key.rawValue }) { writer, part in
      writer.put(part.key.rawValue)
      writer.list(part.value) { $0.put($1) }
    }
    writer.put(summary.frameCount)
    writer.put(summary.framesShareIMUClock)
    writer.list(summary.missingCalibration) { $0.put($1) }
    writer.list(summary.missingFiles) { $0.put($1) }
    writer.put(summary.colorIsVideo)
    writer.put(summary.colorDiffersFromSDR ?? false)
    put(summary.exports, &writer)
  }

  private static func put(_ facts: ExportFacts, _ writer: inout CacheEncoder) {
    for count in [facts.pictures, facts.timedPictures, facts.poses, facts.intrinsics] {
      writer.put(count)
    }
    writer.list(facts.samples.sorted { $0.key < $1.key }) { writer, sensor in
      writer.put(sensor.key)
      writer.put(sensor.value)
    }
    writer.put(facts.clockwiseQuarterTurns)
    for flag in [facts.isMirrored, facts.isRegistered, facts.hasPosition] { writer.put(flag) }
    writer.list(facts.doubtfulSensors ?? []) { $0.put($1) }
  }

  private static func facts(_ reader: inout CacheDecoder) throws -> ExportFacts {
    var facts = ExportFacts(
      pictures: try reader.int(), timedPictures: try reader.int(), poses: try reader.int(),
      intrinsics: try reader.int(),
      samples: Dictionary(
        try reader.list { reader in (try reader.text(), try reader.int()) }
      ) { first, _ in first },
      clockwiseQuarterTurns: try reader.int(), isMirrored: try reader.bool(),
      isRegistered: try reader.bool(), hasPosition: try reader.bool())
    let doubtful = try reader.list { try $0.text() }
    facts.doubtfulSensors = doubtful.isEmpty ? nil : doubtful
    return facts
  }

  private static func summary(_ reader: inout CacheDecoder) throws -> CaptureSummary {
    func part(_ reader: inout CacheDecoder) throws -> CapturePart {
      guard let part = CapturePart(rawValue: try reader.text()) else { throw DamagedNote() }
      return part
    }
    let id = try reader.text()
    guard let family = CaptureFamily(rawValue: try reader.text()) else { throw DamagedNote() }
    let version = try reader.int()
    let device = try reader.optionalText()
    let parts = try reader.list { reader in
      let name = try part(&reader)
      switch try reader.int() {
      case 0: return (name, CaptureSummary.PartState.present)
      case 1: return (name, .absent(try reader.text()))
      case 2: return (name, .unreadable(try reader.text()))
      default: throw DamagedNote()
      }
    }
    let files = try reader.list { reader in
      (try part(&reader), try reader.list { try $0.text() })
    }
    let frameCount = try reader.int()
    let framesShareIMUClock = try reader.bool()
    let missingCalibration = try reader.list { try $0.text() }
    let missingFiles = try reader.list { try $0.text() }
    let colorIsVideo = try reader.bool()
    let colorDiffersFromSDR = try reader.bool() ? true : nil
    return CaptureSummary(
      id: id, family: family, readerVersion: version, deviceID: device,
      parts: Dictionary(parts) { first, _ in first },
      files: Dictionary(files) { first, _ in first }, frameCount: frameCount,
      framesShareIMUClock: framesShareIMUClock, missingCalibration: missingCalibration,
      missingFiles: missingFiles, colorIsVideo: colorIsVideo, exports: try facts(&reader),
      colorDiffersFromSDR: colorDiffersFromSDR)
  }

  /// Lists that are mostly empty, as JSON.
  static func putJSON(_ values: some Encodable & Collection, _ writer: inout CacheEncoder)
    throws
  {
    writer.put(values.isEmpty ? [] : try JSONText.canonical(values))
  }

  /// `nil` for an empty list.
  package static func json<Value: Decodable>(
    _ type: Value.Type, _ reader: inout CacheDecoder
  ) throws -> Value? {
    let bytes = try reader.raw()
    return bytes.isEmpty ? nil : try JSONDecoder().decode(type, from: Data(bytes))
  }
}

/// Records of artifacts in an index.
extension RecordIndex {
  static func put(_ record: ArtifactRecord, _ writer: inout CacheEncoder) throws {
    writer.put(record.schema)
    writer.put(record.stage)
    writer.put(record.uses)
    writer.put(record.version)
    try put(record.libraries, &writer)
    writer.put(try record.program.map { try JSONText.canonical($0) } ?? [])
    writer.put(record.fingerprint)
    writer.put(try JSONText.canonical(record.parameters))
    writer.put(record.recorded.isEmpty ? [] : try JSONText.canonical(record.recorded))
    put(record.inputs, &writer)
    writer.list(record.outputs) { writer, output in
      writer.put(output.path)
      writer.put(output.bytes)
      writer.put(output.sha256)
    }
    writer.put(record.outputDigest)
    writer.put(record.started)
    writer.put(record.finished)
    writer.put(record.seconds)
    writer.put(record.cpuSeconds)
    writer.put(record.peakMemoryBytes)
    writer.put(record.frames)
    try putJSON(record.warnings, &writer)
    try putJSON(record.problems, &writer)
  }

  package static func record(_ reader: inout CacheDecoder, _ pool: ParameterPool) throws
    -> ArtifactRecord
  {
    let schema = try reader.int()
    let stage = try reader.text()
    let uses = try reader.text()
    let version = try reader.int()
    let libraries = try pool.texts(reader.raw())
    let program = try pool.program(reader.raw())
    let fingerprint = try reader.digest()
    let parameters = try pool.object(reader.raw())
    let values = try reader.raw()
    let recorded = values.isEmpty ? [:] : try pool.object(values)
    let inputs = try inputs(&reader)
    let outputs = try reader.list { reader in
      OutputEntry(
        path: try reader.text(), bytes: try reader.integer(), sha256: try reader.digest())
    }
    return ArtifactRecord(
      schema: schema, stage: stage, uses: uses, version: version, libraries: libraries,
      program: program, fingerprint: fingerprint, parameters: parameters, recorded: recorded,
      inputs: inputs, outputs: outputs,
      outputDigest: try reader.digest(), started: try reader.text(), finished: try reader.text(),
      seconds: try reader.double(), cpuSeconds: try reader.double(),
      peakMemoryBytes: try reader.integer(), frames: try reader.int(),
      warnings: try json([CaptureWarning].self, &reader) ?? [],
      problems: try json([String].self, &reader) ?? [])
  }

  private static func put(_ texts: [String: String], _ writer: inout CacheEncoder) throws {
    writer.put(texts.isEmpty ? [] : try JSONText.canonical(texts))
  }

  private static func put(_ inputs: ArtifactRecord.Inputs, _ writer: inout CacheEncoder) {
    func put(_ digests: [String: Digest], _ writer: inout CacheEncoder) {
      writer.list(digests.sorted { $0.key < $1.key }) { writer, entry in
        writer.put(entry.key)
        writer.put(entry.value)
      }
    }
    put(inputs.artifacts, &writer)
    put(inputs.external, &writer)
    writer.put(inputs.capture != nil)
    guard let capture = inputs.capture else { return }
    writer.put(capture.family.rawValue)
    writer.put(capture.readerVersion)
    writer.list(capture.files.sorted { $0.key < $1.key }) { writer, part in
      writer.put(part.key)
      writer.list(part.value) { $0.put($1) }
    }
  }

  private static func inputs(_ reader: inout CacheDecoder) throws -> ArtifactRecord.Inputs {
    func digests(_ reader: inout CacheDecoder) throws -> [String: Digest] {
      Dictionary(try reader.list { (try $0.text(), try $0.digest()) }) { first, _ in first }
    }
    let artifacts = try digests(&reader)
    let external = try digests(&reader)
    var capture: CaptureInputs?
    if try reader.bool() {
      guard let family = CaptureFamily(rawValue: try reader.text()) else { throw DamagedNote() }
      capture = CaptureInputs(
        family: family, readerVersion: try reader.int(),
        files: Dictionary(
          try reader.list { reader in
            (try reader.text(), try reader.list { try $0.digest() })
          }
        ) { first, _ in first })
    }
    return ArtifactRecord.Inputs(artifacts: artifacts, capture: capture, external: external)
  }
}
