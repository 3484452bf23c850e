import Captures
import FoundationEssentials
import Core

/// Entries of captures and runs in the form in which the catalog keeps them: read in microseconds.
package enum EntryBytes {
  // MARK: Captures

  package static func bytes(_ entry: CaptureEntry) throws -> [UInt8] {
    var writer = CacheEncoder()
    for text in [entry.id, entry.name, entry.pipeline] { writer.put(text) }
    for text in [
      entry.family, entry.path, entry.folder, entry.stem, entry.device.id, entry.device.name,
      entry.device.model, entry.scene.label, entry.scene.type, entry.scene.description, entry.user,
      entry.recordedAt,
    ] {
      writer.put(text)
    }
    writer.put(entry.inputGone)
    writer.put(entry.gone)
    writer.put(entry.frames ?? -1)
    writer.list(entry.settings) { $0.put($1) }
    writer.list(entry.notes) { $0.put($1) }
    writer.list(entry.missing) { $0.put($1) }
    writer.list(entry.stages) { writer, stage in
      writer.put(stage.stage)
      writer.put(stage.uses)
      writer.put(stage.state.rawValue)
      writer.put(stage.reason?.rawValue)
      writer.put(stage.details)
      writer.put(stage.askedByName == true)
    }
    writer.list(entry.timings) { writer, timing in
      writer.put(timing.stage)
      writer.put(timing.seconds)
      writer.put(timing.cpuSeconds)
      writer.put(timing.frames)
      writer.put(timing.bytes)
      writer.put(timing.outputs)
      writer.put(timing.finished)
    }
    writer.list(entry.streams) { writer, stream in
      writer.put(stream.name)
      writer.put(stream.file)
      writer.put(stream.encoding)
      writer.put(stream.frames ?? -1)
    }
    put(entry.warnings, &writer)
    try putJSON(entry.shortfalls.isEmpty ? nil : entry.shortfalls, &writer)
    try writer.list(entry.failures) { writer, note in
      try put(note.failure, &writer)
      writer.put(note.time)
    }
    try putJSON(entry.triage, &writer)
    put(entry.received, &writer)
    try putJSON(entry.quality, &writer)
    return writer.bytes
  }

  package static func entry(_ bytes: ArraySlice<UInt8>) throws -> CaptureEntry {
    var reader = CacheDecoder(bytes)
    let (id, name, pipeline) = (try reader.text(), try reader.text(), try reader.text())
    var texts: [String?] = []
    for _ in 0..<12 { texts.append(try reader.optionalText()) }
    let (inputGone, gone, frames) = (try reader.bool(), try reader.bool(), try reader.int())
    let settings = try reader.list { try $0.text() }
    let notes = try reader.list { try $0.text() }
    let missing = try reader.list { try $0.text() }
    let stages = try reader.list { reader in
      let (stage, uses) = (try reader.text(), try reader.text())
      guard let state = StageState(rawValue: try reader.text()) else { throw DamagedNote() }
      let reason = try reader.optionalText()
      var status = StageStatus(
        stage: stage, uses: uses, state: state, reason: reason.flatMap(Reason.init(rawValue:)),
        details: try reader.optionalText())
      status.askedByName = try reader.bool() ? true : nil
      return status
    }
    let timings = try reader.list { reader in
      CaptureEntry.Timing(
        stage: try reader.text(), seconds: try reader.double(), cpuSeconds: try reader.double(),
        frames: try reader.int(), bytes: try reader.integer(), outputs: try reader.int(),
        finished: try reader.text())
    }
    let streams = try reader.list { reader in
      CaptureEntry.Stream(
        name: try reader.text(), file: try reader.optionalText(),
        encoding: try reader.optionalText(), frames: count(try reader.int()))
    }
    let warnings = try warnings(&reader)
    let shortfalls = try json([Shortfall].self, &reader) ?? []
    let failures = try reader.list { reader in
      FailureNote(try failure(&reader), time: try reader.text())
    }
    let triage = try json(TriageRecord.self, &reader)
    let received = try received(&reader)
    let quality = try json(CaptureQuality.self, &reader)
    var entry = CaptureEntry(
      id: id, name: name, family: texts[0], path: texts[1], folder: texts[2], stem: texts[3],
      pipeline: pipeline, settings: settings, inputGone: inputGone, gone: gone, notes: notes,
      stages: stages,
      warnings: warnings, missing: missing, timings: timings, failures: failures, triage: triage)
    (entry.device.id, entry.device.name, entry.device.model) = (texts[4], texts[5], texts[6])
    (entry.scene.label, entry.scene.type, entry.scene.description) = (texts[7], texts[8], texts[9])
    (entry.user, entry.recordedAt, entry.frames) = (texts[10], texts[11], count(frames))
    entry.streams = streams
    entry.shortfalls = shortfalls
    entry.received = received
    entry.quality = quality
    guard reader.isAtEnd else { throw DamagedNote() }
    return entry
  }

  // MARK: Runs

  package static func bytes(_ run: RunEntry) throws -> [UInt8] {
    var writer = CacheEncoder()
    writer.put(run.id)
    writer.put(run.started)
    for text in [
      run.finished, run.lastEvent, run.pipeline, run.pipelinePath, run.host, run.user,
    ] { writer.put(text) }
    try putJSON(run.program, &writer)
    try putJSON(run.unrecognized.isEmpty ? nil : run.unrecognized, &writer)
    try writer.list(run.attempts) { writer, attempt in
      writer.put(attempt.capture)
      for text in [
        attempt.path, attempt.family, attempt.outcome?.rawValue, attempt.message,
        attempt.cause?.rawValue, attempt.started, attempt.finished,
      ] {
        writer.put(text)
      }
      writer.put(attempt.frames)
      writer.put(attempt.bytes)
      writer.put(attempt.cpuSeconds)
      writer.put(attempt.stageSeconds ?? -1)
      writer.list(attempt.missing) { $0.put($1) }
      put(attempt.warnings, &writer)
      writer.list(attempt.altered ?? []) { $0.put($1) }
      try putJSON(attempt.shortfalls, &writer)
      try putJSON(attempt.detail, &writer)
      try writer.list(attempt.failures) { try put($1, &$0) }
      try putJSON(attempt.cluster, &writer)
    }
    return writer.bytes
  }

  package static func run(_ bytes: ArraySlice<UInt8>) throws -> RunEntry {
    var reader = CacheDecoder(bytes)
    var run = RunEntry(id: try reader.text(), started: try reader.text())
    run.finished = try reader.optionalText()
    run.lastEvent = try reader.optionalText()
    run.pipeline = try reader.optionalText()
    run.pipelinePath = try reader.optionalText()
    run.host = try reader.optionalText()
    run.user = try reader.optionalText()
    run.program = try json(ProgramIdentity.self, &reader)
    run.unrecognized = try json([RunReport.Unrecognized].self, &reader) ?? []
    run.attempts = try reader.list { reader in
      var attempt = RunEntry.Attempt(capture: try reader.text())
      attempt.path = try reader.optionalText()
      attempt.family = try reader.optionalText()
      attempt.outcome = try reader.optionalText().flatMap(RunOutcome.init(recorded:))
      attempt.message = try reader.optionalText()
      attempt.cause = try reader.optionalText().flatMap(FailureCause.init(rawValue:))
      attempt.started = try reader.optionalText()
      attempt.finished = try reader.optionalText()
      attempt.frames = try reader.int()
      attempt.bytes = try reader.integer()
      attempt.cpuSeconds = try reader.double()
      let seconds = try reader.double()
      attempt.stageSeconds = seconds < 0 ? nil : seconds
      attempt.missing = try reader.list { try $0.text() }
      attempt.warnings = try warnings(&reader)
      let altered = try reader.list { try $0.text() }
      attempt.altered = altered.isEmpty ? nil : altered
      attempt.shortfalls = try json([Shortfall].self, &reader)
      attempt.detail = try json(FailureDetail.self, &reader)
      attempt.failures = try reader.list { try failure(&$0) }
      attempt.cluster = try json(ClusterTrace.self, &reader)
      return attempt
    }
    guard reader.isAtEnd else { throw DamagedNote() }
    return run
  }

  // MARK: Pieces

  private static func count(_ number: Int) -> Int? { number < 0 ? nil : number }

  private static func put(_ warnings: [CaptureWarning], _ writer: inout CacheEncoder) {
    writer.list(warnings) { writer, warning in
      writer.put(warning.code.rawValue)
      writer.put(warning.subject)
      writer.put(warning.message)
      writer.put(warning.count)
      writer.put(warning.severity.rawValue)
    }
  }

  private static func warnings(_ reader: inout CacheDecoder) throws -> [CaptureWarning] {
    try reader.list { reader in
      let (code, subject, message) = (try reader.text(), try reader.text(), try reader.text())
      let (count, severity) = (try reader.int(), try reader.text())
      guard let code = WarningCode(rawValue: code),
        let severity = WarningSeverity(rawValue: severity)
      else { throw DamagedNote() }
      return CaptureWarning(code, subject, count: count, severity: severity, message)
    }
  }

  private static func put(_ failure: Failure, _ writer: inout CacheEncoder) throws {
    writer.put(failure.stage)
    writer.put(failure.message)
    writer.put(failure.cause?.rawValue)
    try putJSON(failure.detail, &writer)
  }

  private static func failure(_ reader: inout CacheDecoder) throws -> Failure {
    let (stage, message, cause) = (
      try reader.optionalText(), try reader.optionalText(), try reader.optionalText()
    )
    return Failure(
      stage: stage, message: message, cause: cause.flatMap(FailureCause.init(rawValue:)),
      detail: try json(FailureDetail.self, &reader))
  }

  private static func put(_ received: CaptureEntry.Received?, _ writer: inout CacheEncoder) {
    writer.put(received != nil)
    guard let received else { return }
    writer.put(received.files)
    writer.put(received.bytes)
    writer.put(received.manifest != nil)
    guard let manifest = received.manifest else { return }
    writer.put(manifest.files)
    writer.put(manifest.verified)
    writer.put(manifest.unchanged)
    writer.put(manifest.isComplete)
    writer.put(manifest.twinOf)
    writer.list(received.altered) { $0.put($1) }
  }

  private static func received(_ reader: inout CacheDecoder) throws -> CaptureEntry.Received? {
    guard try reader.bool() else { return nil }
    let (files, bytes) = (try reader.int(), try reader.integer())
    guard try reader.bool() else { return CaptureEntry.Received(files: files, bytes: bytes) }
    let manifest = UploadCounts(
      files: try reader.int(), verified: try reader.int(), unchanged: try reader.int(),
      isComplete: try reader.bool(),
      twinOf: try reader.optionalText())
    return CaptureEntry.Received(
      files: files, bytes: bytes, manifest: manifest, altered: try reader.list { try $0.text() })
  }

  /// What is mostly absent, as JSON.
  private static func putJSON(_ value: (some Encodable)?, _ writer: inout CacheEncoder) throws {
    writer.put(try value.map { try JSONText.canonical($0) } ?? [])
  }

  private static func json<Value: Decodable>(
    _ type: Value.Type, _ reader: inout CacheDecoder
  ) throws -> Value? {
    let bytes = try reader.raw()
    return bytes.isEmpty ? nil : try JSONDecoder().decode(type, from: Data(bytes))
  }
}
