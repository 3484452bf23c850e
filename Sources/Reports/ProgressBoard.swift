import Pipeline

/// What is at work and how far it has come: the figures behind a progress display. Pure.
struct ProgressBoard {
  private struct Working {
    var capture: String
    var stages: [String: RateEstimate] = [:]
  }

  private let startSeconds: Double
  /// In the order in which they started.
  private var working: [Working] = []
  /// Frames of stages that have ended.
  private var framesDone = 0
  private(set) var ended = 0
  private(set) var total = 1

  init(startSeconds: Double) {
    self.startSeconds = startSeconds
  }

  var hasSeveral: Bool { total > 1 }

  mutating func hear(_ event: RunEvent, atSeconds now: Double) {
    let capture = event.capture ?? ""
    let stage = event.stage ?? ""
    switch event.kind {
    case .runStarted: total = event.total ?? 1
    case .captureStarted: working.append(Working(capture: capture))
    case .started: change(capture) { $0.stages[stage] = RateEstimate(startSeconds: now) }
    case .progress:
      guard let frames = event.frames else { return }
      change(capture) {
        $0.stages[stage]?.update(done: frames, total: event.totalFrames, atSeconds: now)
      }
    case .finished, .blocked:
      if event.outcome == .ran { framesDone += event.frames ?? 0 }
      change(capture) { $0.stages[stage] = nil }
    case .captureFinished:
      ended = event.done ?? ended + 1
      working.removeAll { $0.capture == capture }
    case .waiting, .locksNotShared, .planned, .retried, .stopping, .runFinished: break
    }
  }

  private mutating func change(_ capture: String, _ body: (inout Working) -> Void) {
    if let index = working.lastIndex(where: { $0.capture == capture }) {
      body(&working[index])
    } else {
      var new = Working(capture: capture)
      body(&new)
      working.append(new)
    }
  }

  /// A line per capture with stages that take more than two seconds; of several captures, one more
  /// for all. `name` makes room for figures.
  func lines(atSeconds now: Double, name: (String) -> String) -> [String] {
    var lines = working.compactMap { working -> String? in
      let slow = working.stages.filter { $0.value.elapsedSeconds > 2 }.sorted { $0.key < $1.key }
      guard !slow.isEmpty else { return nil }
      return (hasSeveral ? name(working.capture) + " " : "  ")
        + slow.map { "\($0.key) \($0.value.text)" }.joined(separator: " · ")
    }
    if hasSeveral, !lines.isEmpty { lines.append(overall(atSeconds: now)) }
    return lines
  }

  private func overall(atSeconds now: Double) -> String {
    let seconds = now - startSeconds
    let frames = framesDone + working.flatMap(\.stages.values).reduce(0) { $0 + $1.done }
    var text = "[\(ended)/\(total)] captures"
    if seconds > 0 { text += ", \(RateEstimate.short(Double(frames) / seconds)) frames/s" }
    if ended > 0 {
      let left = seconds / Double(ended) * Double(total - ended)
      text += ", \(RateEstimate.duration(left)) left"
    }
    return text
  }
}
