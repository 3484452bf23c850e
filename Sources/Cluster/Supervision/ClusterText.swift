import Core

/// The state of a run on a batch system, as one line.
struct ClusterText {
  var elements = 0
  var ended = 0
  var running = 0
  var waiting = 0
  /// Number of array tasks that are not submitted yet.
  var unsubmitted = 0
  /// Number of captures that array tasks of other runs work on.
  var held = 0
  var captures = 0
  var done = 0
  var failed = 0
  var reason: String?
  var secondsLeft: Double?

  var line: String {
    var parts = ["\(ended)/\(elements) elements"]
    if running > 0 { parts.append("\(running) running") }
    if waiting > 0 { parts.append("\(waiting) waiting" + (reason.map { " (\($0))" } ?? "")) }
    if unsubmitted > 0 { parts.append("\(unsubmitted) not submitted yet") }
    var text = parts.joined(separator: ", ")
    text += " · \(done)/\(captures) captures done, \(failed) failed"
    if held > 0 { text += ", \(held) held by another run" }
    if let secondsLeft, secondsLeft > 0 { text += " · \(DurationText.estimated(secondsLeft)) left" }
    return text
  }
}

extension Double {
  func clamped(to range: ClosedRange<Double>) -> Double {
    Swift.min(range.upperBound, Swift.max(range.lowerBound, self))
  }
}
