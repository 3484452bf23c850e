import Core

/// Estimates rate and remaining time from counts at given times.
public struct RateEstimate: Sendable {
  private let startSeconds: Double
  private(set) var done = 0
  private(set) var total: Int?
  private var nowSeconds: Double

  init(startSeconds: Double) {
    self.startSeconds = startSeconds
    nowSeconds = startSeconds
  }

  public mutating func update(done: Int, total: Int?, atSeconds now: Double) {
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

  /// `300/1912 frames, 52.1 frames/s, 31 s left`.
  public var text: String {
    var parts = [total.map { "\(done)/\($0) frames" } ?? "\(done) frames"]
    if let rate = framesPerSecond { parts.append("\(NumberText.short(rate)) frames/s") }
    if let left = secondsLeft { parts.append("\(DurationText.text(left)) left") }
    return parts.joined(separator: ", ")
  }
}
