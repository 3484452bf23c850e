import Core
import Engine

/// The progress of one running capture.
struct CaptureProgress {
  let capture: String
  let startSeconds: Double
  /// Stages that are planned to run.
  private(set) var planned: Set<String> = []
  private(set) var ended: Set<String> = []
  /// Running stages.
  private(set) var stages: [String: RateEstimate] = [:]

  mutating func apply(_ event: RunEvent, atSeconds now: Double) {
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

  /// Whether any of its stages ran.
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

  /// Running stages, that with the most remaining work first.
  var stagesByWork: [(name: String, rate: RateEstimate)] {
    stages.map { (name: $0.key, rate: $0.value) }.sorted { a, b in
      let (left, other) = (a.rate.secondsLeft ?? -1, b.rate.secondsLeft ?? -1)
      return left == other ? a.name < b.name : left > other
    }
  }
}

/// Estimates rate and remaining time from counts at given times.
struct RateEstimate {
  private let startSeconds: Double
  private(set) var done = 0
  private(set) var total: Int?
  private var nowSeconds: Double

  init(startSeconds: Double) {
    self.startSeconds = startSeconds
    nowSeconds = startSeconds
  }

  mutating func update(done: Int, total: Int?, atSeconds now: Double) {
    self.done = done
    self.total = total
    nowSeconds = now
  }

  var elapsedSeconds: Double { nowSeconds - startSeconds }

  /// Frames per second since the start; `nil` before the first frame.
  var framesPerSecond: Double? {
    elapsedSeconds > 0.05 && done > 0 ? Double(done) / elapsedSeconds : nil
  }

  /// Seconds left at this rate; `nil` if the total or the rate is unknown.
  var secondsLeft: Double? {
    guard let total, let rate = framesPerSecond, total >= done else { return nil }
    return Double(total - done) / rate
  }
}
