import Core

/// One line on a terminal, from two seconds after the start on: how much of a file was sent, how fast, and how long the
/// rest will take.
final class SendProgress {
  private let isShown: Bool
  private let started = ContinuousClock.now
  private var file = ""
  private var fileStarted = ContinuousClock.now
  private var told: ContinuousClock.Instant?
  private var isDirty = false

  init(isShown: Bool) { self.isShown = isShown }

  func show(_ name: String, done: Int64, of total: Int64, from begin: Int64) {
    guard isShown else { return }
    let now = ContinuousClock.now
    if name != file { (file, fileStarted) = (name, now) }
    guard now - started >= .seconds(2), told.map({ now - $0 >= .milliseconds(200) }) ?? true else {
      return
    }
    told = now
    let seconds = (now - fileStarted) / .seconds(1)
    write(
      "\r\u{1B}[K" + Self.text(name, done: done, of: total, from: begin, seconds: seconds))
    isDirty = true
  }

  /// `scan-1/scan-1.depth  45 % of 1.20 GB, 34.0 MB/s, 20 s left`.
  static func text(
    _ name: String, done: Int64, of total: Int64, from begin: Int64, seconds: Double
  ) -> String {
    let share = total > 0 ? Int(Double(done) / Double(total) * 100) : 100
    var text = "\(name.onOneLine)  \(share) % of \(ByteCount.text(total))"
    let rate = seconds > 0 ? Double(done - begin) / seconds : 0
    if rate >= 1, rate < 1e15 {
      text += ", \(ByteCount.text(Int64(rate)))/s"
      text += ", \(DurationText.estimated(Double(total - done) / rate)) left"
    }
    return text
  }

  func clear() {
    if isDirty { write("\r\u{1B}[K") }
    isDirty = false
  }

  private func write(_ text: String) {
    ErrorOutput.standard.write(Array(text.utf8))
  }
}
