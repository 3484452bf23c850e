import Pipeline

/// How far one capture at work has come.
struct CaptureProgress {
  let capture: String
  let startSeconds: Double
  /// Stages with something to do, as planned.
  private(set) var planned: Set<String> = []
  private(set) var ended: Set<String> = []
  /// Stages at work.
  private(set) var stages: [String: RateEstimate] = [:]

  init(capture: String, startSeconds: Double) {
    self.capture = capture
    self.startSeconds = startSeconds
  }

  mutating func hear(_ event: RunEvent, atSeconds now: Double) {
    guard let stage = event.stage else { return }
    switch event.kind {
    case .planned:
      if event.action != .upToDate, event.action != .notApplicable { planned.insert(stage) }
    case .started:
      planned.insert(stage)
      stages[stage] = RateEstimate(startSeconds: now)
    case .progress:
      guard let frames = event.frames else { return }
      stages[stage]?.update(done: frames, total: event.totalFrames, atSeconds: now)
    case .finished, .blocked:
      stages[stage] = nil
      if planned.contains(stage) { ended.insert(stage) }
    default: break
    }
  }

  /// Whether any stage of it was carried out.
  var hasWorked: Bool { !stages.isEmpty || !ended.isEmpty }

  /// 0…1, by stages and by frames within each; 0 before anything is planned.
  var fraction: Double {
    guard !planned.isEmpty else { return 0 }
    let running = stages.values.reduce(0.0) { sum, rate in
      guard let total = rate.total, total > 0 else { return sum }
      return sum + min(1, Double(rate.done) / Double(total))
    }
    return min(1, (Double(ended.count) + running) / Double(planned.count))
  }

  /// Stages at work, that which has most left to do first.
  var stagesByWork: [(name: String, rate: RateEstimate)] {
    stages.map { (name: $0.key, rate: $0.value) }.sorted { a, b in
      let (left, other) = (a.rate.secondsLeft ?? -1, b.rate.secondsLeft ?? -1)
      return left == other ? a.name < b.name : left > other
    }
  }
}
