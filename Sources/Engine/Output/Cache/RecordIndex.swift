import Captures
import Core
import Synchronization
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
  /// The records by stage.
  var records: [String: Entry]
}

extension RecordIndex {
  /// The index of an output that is held open; `nil` unless it is whole and made from the cache that is there.
  init?(_ open: OpenOutput, pool: ParameterPool) {
    guard let notes = open.notes, let cacheStamp = notes.stamp(of: OutputNames.captureCache)
    else {
      return nil
    }
    self.init(in: notes, cacheStamp: cacheStamp, pool: pool)
  }

  /// Reads the index in `notes`; `nil` unless it is whole and made from the cache with this stamp.
  init?(in notes: HeldFolder, cacheStamp: FileStamp, pool: ParameterPool) {
    guard let bytes = notes.stampedContents(of: OutputNames.index)?.bytes,
      let index = try? RecordIndex(bytes, cacheStamp: cacheStamp, pool: pool)
    else { return nil }
    self = index
  }
}

extension RecordIndex: CacheRecord {
  package static var blank: RecordIndex { RecordIndex(core: .blank, digests: [:], records: [:]) }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&core)
    try coder(&digests)
    try coder(&records)
  }

  /// Raised when the order of values changes.
  private static let format: Int64 = 0xF_5343_4D49

  /// A file of these values with a digest at its end.
  package func encoded(cacheStamp: FileStamp) throws -> [UInt8] {
    var (coder, stamp, index) = (CacheCoder(), cacheStamp, self)
    try coder.format(Self.format)
    try coder(&stamp)
    try coder(&index)
    return coder.sealed
  }

  /// What comes from the cache, without the rest.
  package static func core(in notes: HeldFolder, cacheStamp: FileStamp) -> Core? {
    guard let bytes = notes.stampedContents(of: OutputNames.index)?.bytes,
      var coder = try? coder(bytes, cacheStamp: cacheStamp)
    else { return nil }
    var core = Core.blank
    return (try? coder(&core)).map { core }
  }

  /// A coder that stands behind the stamp of the cache.
  private static func coder(_ bytes: [UInt8], cacheStamp: FileStamp?) throws -> CacheCoder {
    var coder = try CacheCoder(sealed: bytes)
    try coder.format(format)
    var stamp = FileStamp.blank
    try coder(&stamp)
    guard cacheStamp.map({ $0 == stamp }) ?? true else { throw DamagedNote() }
    return coder
  }

  /// - Parameter cacheStamp: the stamp that the index must have been made from; `nil`: any.
  init(_ bytes: [UInt8], cacheStamp: FileStamp?, pool: ParameterPool) throws {
    var coder = try Self.coder(bytes, cacheStamp: cacheStamp)
    coder.pool = pool
    self = .blank
    try coder(&self)
    guard coder.isAtEnd else { throw DamagedNote() }
  }
}

extension RecordIndex.Core: CacheRecord {
  package static var blank: Self {
    Self(summary: CaptureSummary(), generation: "", warnings: [], inputs: .blank)
  }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&summary)
    try coder(&generation)
    try coder(&warnings)
    try coder(&inputs)
    try coder(&document)
    try coder(&onlyCaptureBy)
    try coder(&requests)
  }
}

extension RecordIndex.Entry: CacheRecord {
  package static var blank: Self { Self(stamp: .blank, isSound: false, record: .blank) }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&stamp)
    try coder(&isSound)
    try coder(&record)
  }
}

extension DigestCache.Entry: CacheRecord {
  package static var blank: Self { Self(stamp: .blank, sha256: .blank) }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&stamp)
    try coder(&sha256)
  }
}

extension InputListing.Entry: CacheRecord {
  package static var blank: Self { Self(name: "", stamp: .blank) }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&name)
    try coder(&stamp)
  }
}

extension CaptureSummary: CacheRecord {
  package static var blank: CaptureSummary { CaptureSummary() }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&id)
    try coder.raw(&family)
    try coder(&readerVersion)
    try coder(&deviceID)
    try coder.byPart(&parts)
    try coder.byPart(&files)
    try coder(&frameCount)
    try coder(&framesShareIMUClock)
    try coder(&missingCalibration)
    try coder(&missingFiles)
    try coder.json(&lacking, empty: [])
    try coder(&exports)
    try coder(&colorIsVideo)
    try coder(&colorDiffersFromSDR)
  }
}

extension CacheCoder {
  fileprivate mutating func byPart<Value: CacheRecord>(_ values: inout [CapturePart: Value]) throws
  {
    var named: [String: Value] = [:]
    for (part, value) in values { named[part.rawValue] = value }
    try self(&named)
    values = [:]
    for (name, value) in named {
      guard let part = CapturePart(rawValue: name) else { throw DamagedNote() }
      values[part] = value
    }
  }
}

extension CaptureSummary.PartState: CacheRecord {
  package static var blank: Self { .present }

  package mutating func code(_ coder: inout CacheCoder) throws {
    var (kind, reason) =
      switch self {
      case .present: (0, "")
      case .absent(let why): (1, why)
      case .unreadable(let why): (2, why)
      }
    try coder(&kind)
    try coder(&reason)
    self =
      switch kind {
      case 0: .present
      case 1: .absent(reason)
      case 2: .unreadable(reason)
      default: throw DamagedNote()
      }
  }
}

extension ExportFacts: CacheRecord {
  package static var blank: ExportFacts { ExportFacts() }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&pictures)
    try coder(&timedPictures)
    try coder(&poses)
    try coder(&intrinsics)
    try coder(&samples)
    try coder(&clockwiseQuarterTurns)
    try coder(&isMirrored)
    try coder(&isRegistered)
    try coder(&hasPosition)
    try coder(&doubtfulSensors)
  }
}

extension ArtifactRecord: CacheRecord {
  package static var blank: ArtifactRecord {
    ArtifactRecord(
      stage: "", uses: "", version: 0, fingerprint: .blank, parameters: [:], recorded: [:],
      inputs: .blank, outputs: [], outputDigest: .blank, started: "", finished: "", seconds: 0,
      cpuSeconds: 0, peakMemoryBytes: 0, frames: 0, warnings: [])
  }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&schema)
    try coder(&stage)
    try coder(&uses)
    try coder(&version)
    try coder.json(&libraries, empty: [:], isShared: true)
    try coder.json(&program, empty: nil, isShared: true)
    try coder(&fingerprint)
    try coder.json(&parameters, empty: [:], isShared: true)
    try coder.json(&recorded, empty: [:], isShared: true)
    try coder(&inputs)
    try coder(&outputs)
    try coder(&outputDigest)
    try coder(&started)
    try coder(&finished)
    try coder(&seconds)
    try coder(&cpuSeconds)
    try coder(&peakMemoryBytes)
    try coder(&frames)
    try coder.json(&warnings, empty: [])
    try coder.json(&problems, empty: [])
  }
}

extension ArtifactRecord.Inputs: CacheRecord {
  package static var blank: Self { Self(artifacts: [:], external: [:]) }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&artifacts)
    try coder(&capture)
    try coder(&external)
  }
}

extension CaptureInputs: CacheRecord {
  package static var blank: CaptureInputs {
    CaptureInputs(family: CaptureFamily(""), readerVersion: 0, files: [:])
  }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder.raw(&family)
    try coder(&readerVersion)
    try coder(&files)
  }
}

extension OutputEntry: CacheRecord {
  package static var blank: OutputEntry { OutputEntry(path: "", bytes: 0, sha256: .blank) }

  package mutating func code(_ coder: inout CacheCoder) throws {
    try coder(&path)
    try coder(&bytes)
    try coder(&sha256)
  }
}

/// Decoded JSON objects by their bytes: thousands of captures share a few sets of parameters and
/// versions.
final class ParameterPool: Sendable {
  private struct Key: Hashable {
    var type: ObjectIdentifier
    var bytes: [UInt8]
  }

  private let objects = Mutex<[Key: any Sendable]>([:])
  private let noted = Mutex<[Digest: Requests]>([:])
  /// Enough for the stages of a pipeline in many versions; beyond it every object is decoded.
  private let most = 1536

  /// The requests of this digest; `read` is called for those that are not known yet.
  func requests(_ digest: Digest, read: () -> Requests?) -> Requests? {
    if let known = noted.withLock({ $0[digest] }) { return known }
    guard let requests = read(), requests.digest == digest else { return nil }
    noted.withLock { if $0.count < most { $0[digest] = requests } }
    return requests
  }

  func value<Value: Decodable & Sendable>(_ bytes: [UInt8]) throws -> Value {
    let key = Key(type: ObjectIdentifier(Value.self), bytes: bytes)
    if let known = objects.withLock({ $0[key] }) as? Value { return known }
    let value = try Value(json: bytes)
    objects.withLock { if $0.count < most { $0[key] = value } }
    return value
  }
}
