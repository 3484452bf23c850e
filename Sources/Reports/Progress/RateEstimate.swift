/// Estimates rate and remaining time from counts at given times.
public struct RateEstimate: Sendable {
  private let startSeconds: Double
  private(set) var done = 0
  private(set) var total: Int?
  private var nowSeconds: Double

  public init(startSeconds: Double) {
    self.startSeconds = startSeconds
    nowSeconds = startSeconds
  }

  public mutating func update(done: Int, total: Int?, atSeconds now: Double) {
    self.done = done
    self.total = total
    nowSeconds = now
  }

  public var elapsedSeconds: Double { nowSeconds - startSeconds }

  /// Frames per second since the start; `nil` before the first frame.
  public var framesPerSecond: Double? {
    elapsedSeconds > 0.05 && done > 0 ? Double(done) / elapsedSeconds : nil
  }

  /// Seconds left at this rate; `nil` if the total or the rate is unknown.
  public var secondsLeft: Double? {
    guard let total, let rate = framesPerSecond, total >= done else { return nil }
    return Double(total - done) / rate
  }

  /// `300/1912 frames, 52.1 frames/s, 31 s left`.
  public var text: String {
    var parts = [total.map { "\(done)/\($0) frames" } ?? "\(done) frames"]
    if let rate = framesPerSecond { parts.append("\(Self.short(rate)) frames/s") }
    if let left = secondsLeft { parts.append("\(Self.duration(left)) left") }
    return parts.joined(separator: ", ")
  }

  /// One decimal below 100, none above; negative numbers become 0.
  public static func short(_ value: Double) -> String {
    guard value.isFinite else { return "?" }
    let value = min(max(value, 0), 1e15)
    let tenths = Int((value * 10).rounded())
    return tenths < 1000 ? "\(tenths / 10).\(tenths % 10)" : "\(Int(value.rounded()))"
  }

  /// `31 s`, `2 min 05 s`, `1 h 12 min`.
  public static func duration(_ seconds: Double) -> String {
    let whole = Int(min(max(seconds, 0), 3e6).rounded(.up))
    func two(_ n: Int) -> String { n < 10 ? "0\(n)" : "\(n)" }
    if whole < 60 { return "\(whole) s" }
    if whole < 3600 { return "\(whole / 60) min \(two(whole % 60)) s" }
    return "\(whole / 3600) h \(two(whole / 60 % 60)) min"
  }
}
