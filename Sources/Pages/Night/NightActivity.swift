import Engine

/// When captures were processed, from the spans in the report.
struct NightActivity {
  struct Part {
    var capture: String?
    var kind: String
    var from: Double
    var to: Double
  }

  let attempts: [Part]
  /// Times at which the watcher paused, by start.
  let waits: [Part]
  /// Seconds in which at least one capture was processed.
  let busySeconds: Double
  /// From the start of the first attempt to the end of the last, including pauses; `nil` without
  /// attempts.
  let range: ClosedRange<Double>?

  init(_ report: NightReport) {
    let parts = report.timeline.compactMap { span -> Part? in
      guard let from = LocalTime(span.from), let to = LocalTime(span.to), to >= from else {
        return nil
      }
      return Part(capture: span.capture, kind: span.kind, from: from.seconds, to: to.seconds)
    }.sorted { $0.from < $1.from }
    attempts = parts.filter { $0.capture != nil }
    waits = parts.filter { $0.capture == nil }
    var busy = 0.0
    var end = -Double.infinity
    for part in attempts {
      busy += max(0, part.to - max(part.from, end))
      end = max(end, part.to)
    }
    busySeconds = busy
    if let first = parts.first {
      range = first.from...max(first.from, parts.map(\.to).max() ?? first.from)
    } else {
      range = nil
    }
  }
}
