import Engine

/// The state behind a progress display: running captures and their progress. Pure.
struct ProgressBoard {
  private let startSeconds: Double
  /// Amount of work of a capture, in any unit; `nil` if unknown.
  private let work: @Sendable (String) -> Double?
  /// Running captures in the order in which they started.
  private(set) var working: [CaptureProgress] = []
  /// Number of frames of stages that have ended.
  private var framesDone = 0
  private(set) var ended = 0
  private(set) var failed = 0
  private(set) var total = 1
  /// Work of captures that have ended: of those with something to do, and of all.
  private var workDone = 0.0
  private var endedNames: Set<String> = []
  private let names: [String]
  /// The state of a run on a batch system.
  private(set) var clusterState: String?

  init(
    startSeconds: Double, names: [String] = [],
    work: @escaping @Sendable (String) -> Double? = { _ in nil }
  ) {
    self.startSeconds = startSeconds
    self.names = names
    self.work = work
  }

  var hasSeveral: Bool { total > 1 }

  mutating func apply(_ event: RunEvent, atSeconds now: Double) {
    let capture = event.capture ?? ""
    switch event.kind {
    case .runStarted: total = event.total ?? 1
    case .captureStarted:
      working.append(CaptureProgress(capture: capture, startSeconds: now))
    case .planned, .started, .progress, .finished, .blocked:
      if event.kind == .finished, event.outcome == .ran { framesDone += event.frames ?? 0 }
      change(capture, now) { $0.apply(event, atSeconds: now) }
    case .captureFinished:
      ended = event.done ?? ended + 1
      if ["failed", "blocked"].contains(event.message) { failed += 1 }
      endedNames.insert(capture)
      if working.contains(where: { $0.capture == capture && $0.hasWorked }) {
        workDone += work(capture) ?? 0
      }
      working.removeAll { $0.capture == capture }
    case .cluster: clusterState = event.message
    case .waiting, .locksNotShared, .retried, .stopping, .elementStarted, .elementEnded,
      .elementRetried, .elementLost, .runFinished:
      break
    }
  }

  private mutating func change(
    _ capture: String, _ now: Double, _ body: (inout CaptureProgress) -> Void
  ) {
    if let index = working.lastIndex(where: { $0.capture == capture }) {
      body(&working[index])
    } else {
      var new = CaptureProgress(capture: capture, startSeconds: now)
      body(&new)
      working.append(new)
    }
  }

  func elapsedSeconds(of capture: String, at now: Double) -> Double? {
    working.first { $0.capture == capture }.map { now - $0.startSeconds }
  }

  func elapsedSeconds(at now: Double) -> Double { max(0, now - startSeconds) }

  /// Frames per second since the start, over all stages.
  func framesPerSecond(at now: Double) -> Double? {
    let frames = framesDone + working.flatMap(\.stages.values).reduce(0) { $0 + $1.done }
    let seconds = elapsedSeconds(at: now)
    return seconds > 0 && frames > 0 ? Double(frames) / seconds : nil
  }

  /// Estimated seconds left. By work rather than by number of captures, because a capture of 50 GB
  /// takes longer than one of 5 MB. `nil` before there is a basis for an estimate.
  func secondsLeft(at now: Double) -> Double? {
    var (done, left) = (workDone, 0.0)
    let fractions = Dictionary(working.map { ($0.capture, $0.fraction) }) { first, _ in first }
    for name in names where !endedNames.contains(name) {
      guard let whole = work(name) else { return nil }
      done += whole * (fractions[name] ?? 0)
      left += whole * (1 - (fractions[name] ?? 0))
    }
    let seconds = elapsedSeconds(at: now)
    guard done > 0, seconds > 2 else { return nil }
    return seconds * left / done
  }
}
