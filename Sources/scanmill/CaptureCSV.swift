import Engine
import Captures
import Media
import Core

/// Formats captures as CSV (RFC 4180 quoting, LF).
enum CaptureCSV {
  /// Captures of `status --csv`, or of `report --format csv`, which tells of the last run as well. The last columns, of
  /// the verdict on the quality, are there only if any capture has one.
  static func csv(_ rows: [CaptureRow], ofReport: Bool) -> [UInt8] {
    let hasQuality = rows.contains { $0.quality != nil }
    var table = CSVWriter(
      columns: [
        "id", "state", "needsPerson", "reasons", "family", "device", "scene", "recordedAt",
        "attempts", "warningCount", "missing", "lastRun", "cause", "message",
      ] + (ofReport ? ["seconds", "frames", "stage"] : []) + ["mark"]
        + (hasQuality ? ["quality", "picturesJudged", "picturesRecorded"] : []))
    for row in rows {
      let failure = ofReport ? row.failures.first : row.failure
      table.field(row.id)
      table.field(row.state.rawValue)
      table.field(row.needsPerson ? "true" : "false")
      // Of several streams that have lost too much one word.
      var codes: [String] = []
      for reason in row.reasons where codes.last != reason.code.rawValue {
        codes.append(reason.code.rawValue)
      }
      table.field(codes.joined(separator: " "))
      for text in [row.family, row.device, row.scene, row.recordedAt] { table.field(text) }
      table.field(row.attempts)
      table.field(row.warnings.counted.kinds)
      table.field(row.missing.joined(separator: " "))
      table.field(row.lastRun)
      table.field(failure?.cause?.rawValue)
      // A message may have several lines; quoting keeps it in one cell. Of an upload that has stalled: since when, how much
      // is there, and which temporary file is left.
      table.field(
        row.upload.map {
          (row.since.map { "since \($0): " } ?? "") + $0.words(size: ByteCount.text)
        } ?? (ofReport ? failure?.text : failure?.message))
      if ofReport {
        table.field(row.seconds)
        table.field(row.frames.map(Int64.init))
        table.field(failure?.stage)
      }
      table.field(row.mark.flatMap { $0.isCurrent ? $0.mark.rawValue : nil })
      if hasQuality {
        table.field(row.quality?.verdict.rawValue)
        table.field((row.quality?.pictures?.judged).map(Int64.init))
        table.field((row.quality?.pictures?.of).map(Int64.init))
      }
      table.endRow()
    }
    return table.drain()
  }
}
