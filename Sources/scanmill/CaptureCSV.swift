import Engine
import Captures
import Media
import Core

/// Formats captures as CSV (RFC 4180 quoting, LF).
enum CaptureCSV {
  private static let columns = [
    "id", "state", "needsPerson", "reasons", "family", "device", "scene", "recordedAt", "attempts",
    "warningCount", "missing", "lastRun", "cause", "message",
  ]

  /// The rows of `status --csv`. The last columns, of the verdict on the quality, are there only if any capture has one.
  static func csv(_ rows: [CaptureRow]) -> [UInt8] {
    let last = qualityColumns(rows.map(\.quality))
    var table = CSVWriter(columns: columns + ["mark"] + last)
    for row in rows {
      add(
        &table, id: row.id, state: row.state, reasons: row.reasons, family: row.family,
        device: row.device,
        scene: row.scene, recordedAt: row.entry?.recordedAt, attempts: row.condition.attempts,
        warnings: row.warningCount.kinds, missing: row.condition.missing, lastRun: row.lastRun,
        cause: row.condition.failure?.cause?.rawValue,
        message: message(row.condition.failure?.message, row.condition.upload, row.condition.since))
      table.field(cell(row.mark))
      if !last.isEmpty { add(&table, row.quality) }
      table.endRow()
    }
    return table.drain()
  }

  /// The rows of `report --format csv`: the same columns, with `seconds,frames,stage` before `mark`.
  static func csv(_ report: NightReport) -> [UInt8] {
    let last = qualityColumns(report.captures.map(\.quality))
    var table = CSVWriter(columns: columns + ["seconds", "frames", "stage", "mark"] + last)
    for capture in report.captures {
      let failure = capture.failures.first
      add(
        &table, id: capture.id, state: capture.state, reasons: capture.reasons,
        family: capture.family, device: capture.device, scene: capture.scene,
        recordedAt: capture.recordedAt,
        attempts: capture.attempts, warnings: capture.warnings.counted.kinds,
        missing: capture.missing, lastRun: capture.lastRun, cause: failure?.failure.cause?.rawValue,
        message: message(failure?.message, capture.upload, capture.since))
      table.field(capture.seconds)
      table.field(capture.frames.map(Int64.init))
      table.field(failure?.failure.stage)
      table.field(cell(capture.mark))
      if !last.isEmpty { add(&table, capture.quality) }
      table.endRow()
    }
    return table.drain()
  }

  private static func qualityColumns(_ verdicts: [CaptureQuality?]) -> [String] {
    verdicts.contains { $0 != nil } ? ["quality", "picturesJudged", "picturesRecorded"] : []
  }

  private static func add(_ table: inout CSVWriter, _ quality: CaptureQuality?) {
    table.field(quality?.verdict.rawValue)
    table.field((quality?.pictures?.judged).map(Int64.init))
    table.field((quality?.pictures?.of).map(Int64.init))
  }

  /// A mark that counts.
  private static func cell(_ mark: CaptureMark?) -> String? {
    mark.flatMap { $0.isCurrent ? $0.mark.rawValue : nil }
  }

  /// Message about an upload that has stalled: since when, how much is there, and which temporary file is left.
  private static func message(
    _ message: String?, _ upload: UploadProgress?, _ since: String?
  ) -> String? {
    guard let upload else { return message }
    return (since.map { "since \($0): " } ?? "") + upload.words(size: ByteCount.text)
  }

  private static func add(
    _ table: inout CSVWriter, id: String, state: CaptureState, reasons: [NeedReason],
    family: String?,
    device: String?,
    scene: String?, recordedAt: String?, attempts: Int, warnings: Int, missing: [String],
    lastRun: String?, cause: String?, message: String?
  ) {
    table.field(id)
    table.field(state.rawValue)
    table.field(reasons.isEmpty ? "false" : "true")
    table.field(reasons.map(\.code.rawValue).joined(separator: " "))
    for text in [family, device, scene, recordedAt] { table.field(text) }
    table.field(attempts)
    table.field(warnings)
    table.field(missing.joined(separator: " "))
    table.field(lastRun)
    table.field(cause)
    // A message may have several lines; quoting keeps it in one cell.
    table.field(message)
  }
}
