import Captures
import Engine

/// What captures took: those of the last watchers, and when those at work began.
struct CaptureCosts {
  private var begun: [CaptureLocation: Double] = [:]
  /// The costs of captures, oldest first.
  private(set) var samples: [WatchRecord.Cost]

  /// The last ones of all families together.
  private static let most = 400

  init(_ samples: [WatchRecord.Cost] = []) { self.samples = samples }

  mutating func begin(_ location: CaptureLocation, atSeconds now: Double) {
    begun[location] = now
  }

  /// How long it has been at work; `nil`: it is not.
  func secondsAtWork(_ location: CaptureLocation, atSeconds now: Double) -> Double? {
    begun[location].map { max(0, now - $0) }
  }

  /// Notes that a capture is not at work any more.
  ///
  /// - Parameters:
  ///   - family: `nil` where it was not done: how long a failure takes tells nothing.
  ///   - written: by all of its stages; `nil`: some had nothing to do.
  mutating func end(
    _ location: CaptureLocation, family: String?, bytes: Int64, written: Int64? = nil,
    pipeline: String? = nil, atSeconds now: Double
  ) {
    let atOnce = begun.count
    guard let start = begun.removeValue(forKey: location), let family else { return }
    var cost = WatchRecord.Cost(
      family: family, bytes: bytes, seconds: ((now - start) * 1000).rounded() / 1000,
      atOnce: atOnce)
    (cost.written, cost.pipeline) = (written, pipeline)
    samples.append(cost)
    if samples.count > Self.most { samples.removeFirst(samples.count - Self.most) }
  }
}
