import Receiving
import Storage

#if canImport(Glibc)
  import Glibc
#endif

/// Lines on the error output: one per request, and notes.
struct ReceiveLog: Sendable {
  let isJSON: Bool

  func record(_ record: RequestRecord) {
    FileHandleText.standardError((isJSON ? record.json : record.text) + "\n")
  }

  func note(_ text: String) {
    if isJSON {
      var record = RequestRecord.note(text.onOneLine)
      record.time = UTCText.text(milliseconds: UploadStore.systemTime() / 1_000_000)
      FileHandleText.standardError(record.json + "\n")
    } else {
      FileHandleText.standardError("note: \(text.onOneLine)\n")
    }
  }
}

enum FileHandleText {
  /// Writes at once; errors are ignored, because there is no other place to write to.
  static func standardError(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
  }
}
