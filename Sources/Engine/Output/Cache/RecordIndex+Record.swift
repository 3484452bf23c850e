import Captures
import Core

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
      schema: schema, stage: stage, uses: uses, version: version, fingerprint: fingerprint,
      parameters: parameters, recorded: recorded, inputs: inputs, outputs: outputs,
      outputDigest: try reader.digest(), started: try reader.text(), finished: try reader.text(),
      seconds: try reader.double(), cpuSeconds: try reader.double(),
      peakMemoryBytes: try reader.integer(), frames: try reader.int(),
      warnings: try json([CaptureWarning].self, &reader) ?? [],
      problems: try json([String].self, &reader) ?? [], libraries: libraries, program: program)
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
