import Captures
import FoundationEssentials
import Core

/// Entries of captures and runs in the form in which the catalog keeps them: read in microseconds.
package enum EntryBytes {
  // MARK: Captures

  package static func bytes(_ entry: CaptureRow) throws -> [UInt8] {
    var writer = CacheEncoder()
    writer.put(entry.id)
    for text in [
      entry.name, entry.pipeline, entry.page, entry.family, entry.path, entry.folder, entry.stem,
      entry.deviceInfo.id, entry.deviceInfo.name, entry.deviceInfo.model, entry.sceneInfo.label,
      entry.sceneInfo.type, entry.sceneInfo.description, entry.user, entry.recordedAt,
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
      writer.put(stage.isInner)
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
    put(entry.warnings, &writer)
    try putJSON(entry.shortfalls.isEmpty ? nil : entry.shortfalls, &writer)
    try writer.list(entry.failures) { try put($1, &$0) }
    try putJSON(entry.triage, &writer)
    put(entry.received, &writer)
    try putJSON(entry.quality, &writer)
    return writer.bytes
  }

  package static func entry(_ bytes: ArraySlice<UInt8>) throws -> CaptureRow {
    var reader = CacheDecoder(bytes)
    var entry = CaptureRow(id: try reader.text())
    entry.name = try reader.optionalText()
    entry.pipeline = try reader.optionalText()
    entry.page = try reader.optionalText()
    entry.family = try reader.optionalText()
    entry.path = try reader.optionalText()
    entry.folder = try reader.optionalText()
    entry.stem = try reader.optionalText()
    entry.deviceInfo.id = try reader.optionalText()
    entry.deviceInfo.name = try reader.optionalText()
    entry.deviceInfo.model = try reader.optionalText()
    entry.sceneInfo.label = try reader.optionalText()
    entry.sceneInfo.type = try reader.optionalText()
    entry.sceneInfo.description = try reader.optionalText()
    entry.user = try reader.optionalText()
    entry.recordedAt = try reader.optionalText()
    entry.inputGone = try reader.bool()
    entry.gone = try reader.bool()
    let frames = try reader.int()
    entry.frames = frames < 0 ? nil : frames
    entry.settings = try reader.list { try $0.text() }
    entry.notes = try reader.list { try $0.text() }
    entry.missing = try reader.list { try $0.text() }
    entry.stages = try reader.list { reader in
      let (stage, uses) = (try reader.text(), try reader.text())
      guard let state = StageState(rawValue: try reader.text()) else { throw DamagedNote() }
      let reason = try reader.optionalText()
      var status = StageStatus(
        stage: stage, uses: uses, state: state, reason: reason.flatMap(Reason.init(rawValue:)),
        details: try reader.optionalText())
      status.askedByName = try reader.bool() ? true : nil
      status.isInner = try reader.bool()
      return status
    }
    entry.timings = try reader.list { reader in
      CaptureRow.Timing(
        stage: try reader.text(), seconds: try reader.double(), cpuSeconds: try reader.double(),
        frames: try reader.int(), bytes: try reader.integer(), outputs: try reader.int(),
        finished: try reader.text())
    }
    entry.warnings = try warnings(&reader)
    entry.shortfalls = try json([Shortfall].self, &reader) ?? []
    entry.failures = try reader.list { try failure(&$0) }
    entry.triage = try json(Failure.self, &reader)
    entry.received = try received(&reader)
    entry.quality = try json(CaptureQuality.self, &reader)
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
        attempt.path, attempt.family, attempt.outcome?.rawValue, attempt.started, attempt.finished,
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
      try put(attempt.why, &writer)
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
      attempt.outcome = try reader.optionalText().flatMap(RunOutcome.init(rawValue:))
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
      attempt.why = try failure(&reader)
      attempt.failures = try reader.list { try failure(&$0) }
      attempt.cluster = try json(ClusterTrace.self, &reader)
      return attempt
    }
    guard reader.isAtEnd else { throw DamagedNote() }
    return run
  }

  // MARK: Pieces

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
    writer.put(failure.time)
    try putJSON(failure.detail, &writer)
  }

  private static func failure(_ reader: inout CacheDecoder) throws -> Failure {
    var failure = Failure(stage: try reader.optionalText(), message: try reader.optionalText())
    failure.cause = try reader.optionalText().flatMap(FailureCause.init(rawValue:))
    failure.time = try reader.optionalText()
    failure.detail = try json(FailureDetail.self, &reader)
    return failure
  }

  private static func put(_ received: CaptureRow.Received?, _ writer: inout CacheEncoder) {
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

  private static func received(_ reader: inout CacheDecoder) throws -> CaptureRow.Received? {
    guard try reader.bool() else { return nil }
    let (files, bytes) = (try reader.int(), try reader.integer())
    guard try reader.bool() else { return CaptureRow.Received(files: files, bytes: bytes) }
    let manifest = UploadCounts(
      files: try reader.int(), verified: try reader.int(), unchanged: try reader.int(),
      isComplete: try reader.bool(),
      twinOf: try reader.optionalText())
    return CaptureRow.Received(
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
