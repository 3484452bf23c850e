import Captures
import FoundationEssentials
import Core

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
    writer.put(core.pipeline?.hex)
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
      pipeline: try reader.optionalText().map(Digest.init(hex:)))
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
