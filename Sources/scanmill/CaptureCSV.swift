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
      // Several streams that have lost too much give one word.
      var codes: [String] = []
      for reason in row.reasons where codes.last != reason.code.rawValue {
        codes.append(reason.code.rawValue)
      }
      let cells: [(any CSVCell)?] = [
        row.id, row.state.rawValue, row.needsPerson ? "true" : "false",
        codes.joined(separator: " "), row.family, row.device, row.scene,
        row.recordedAt, row.attempts, row.warnings.counted.kinds,
        row.missing.joined(separator: " "), row.lastRun, failure?.cause?.rawValue,
        // A message may have several lines; quoting keeps it in one cell. Of an upload that has stalled: since when, how
        // much is there, and which temporary file is left.
        row.upload.map {
          (row.since.map { "since \($0): " } ?? "") + $0.words(size: ByteCount.text)
        } ?? (ofReport ? failure?.text : failure?.message),
      ]
      let ofRun: [(any CSVCell)?] =
        ofReport ? [row.seconds, row.frames, failure?.stage] : []
      let mark = row.mark.flatMap { $0.isCurrent ? $0.mark.rawValue : nil }
      let quality: [(any CSVCell)?] =
        hasQuality
        ? [
          row.quality?.verdict.rawValue, row.quality?.pictures?.judged, row.quality?.pictures?.of,
        ] : []
      table.row(cells + ofRun + [mark] + quality)
    }
    return table.drain()
  }
}
