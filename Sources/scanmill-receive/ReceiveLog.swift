import Core
import Receiving

/// Lines on the error output: one per request, and notes.
struct ReceiveLog: Sendable {
  private let isJSON: Bool

  init(isJSON: Bool) {
    self.isJSON = isJSON
    ErrorOutput.standard.tellDropped { Self.note(ErrorOutput.dropped($0), isJSON: isJSON) }
  }

  func record(_ record: RequestRecord) { Self.write((isJSON ? record.json : record.text) + "\n") }

  func note(_ text: String) { Self.write(Self.note(text, isJSON: isJSON)) }

  static func write(_ text: String) { ErrorOutput.standard.write(Array(text.utf8)) }

  /// A whole line.
  private static func note(_ text: String, isJSON: Bool) -> String {
    guard isJSON else { return "note: \(text.onOneLine)\n" }
    var record = RequestRecord.note(text.onOneLine)
    record.time = UTCText.text(milliseconds: UploadStore.systemTime() / 1_000_000)
    return record.json + "\n"
  }
}
