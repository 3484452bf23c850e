import Captures
import FoundationEssentials
import Geometry

/// Converts capture times to times of day: `recordedAt` + (t - time of the first frame), or
/// `recordedAt` + t if the clock starts with the recording. Accurate to seconds, as `recordedAt`
/// is.
struct AbsoluteClock: Sendable {
  /// Nanoseconds since 1970 at the capture clock's 0.
  private let zero: Int64

  /// Why there are no times of day.
  enum Missing: String, Error {
    case unknown = "the start of the recording is not known"
    case dateOnly = "for the start of the recording, only the date is known"
    case noZone = "the start of the recording is known without its time zone"
    case noFrameTime = "no frame has a time that the start of the recording belongs to"
    case outOfRange = "the start of the recording is out of range"
  }

  init(_ capture: Capture) throws(Missing) {
    guard let text = capture.recordedAt, !text.isEmpty else { throw .unknown }
    let start = try Self.nanoseconds(text)
    if capture.clock.base == .recordingStart {
      zero = start
      return
    }
    guard let first = capture.frames.lazy.compactMap(\.timestamp).first else {
      throw .noFrameTime
    }
    let (difference, overflow) = start.subtractingReportingOverflow(first.nanoseconds)
    guard !overflow else { throw .outOfRange }
    zero = difference
  }

  /// `2012-08-07T15:10:57.250Z`: UTC, rounded to milliseconds. `nil` outside the years 1 … 9999.
  func text(_ time: Timestamp) -> String? {
    let (sum, overflow) = zero.addingReportingOverflow(time.nanoseconds)
    let (rounded, tooFar) = sum.addingReportingOverflow(500_000)
    guard !overflow, !tooFar else { return nil }
    return Self.text(milliseconds: Self.floorDivided(rounded, by: 1_000_000))
  }

  /// The same for the start of the recording.
  static func start(_ capture: Capture) -> String? {
    guard let text = capture.recordedAt, let start = try? nanoseconds(text) else { return nil }
    return self.text(milliseconds: floorDivided(start, by: 1_000_000))
  }

  private static func text(milliseconds: Int64) -> String? {
    let seconds = floorDivided(milliseconds, by: 1000)
    let rest = milliseconds - seconds * 1000
    // Whole seconds are exact as doubles; decimals are formatted separately.
    let text = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    guard text.utf8.count == 20, text.hasSuffix("Z") else { return nil }
    let digits = String(rest)
    return text.dropLast() + "." + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
  }

  private static func nanoseconds(_ text: String) throws(Missing) -> Int64 {
    guard let separator = text.firstIndex(of: "T") else { throw .dateOnly }
    let clock = text[separator...]
    guard clock.contains(where: { "Z+-".contains($0) }) else { throw .noZone }
    let parsed =
      (try? Date(text, strategy: .iso8601))
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    guard let parsed else { throw .unknown }
    guard let start = Timestamp(exactSeconds: parsed.timeIntervalSince1970) else {
      throw .outOfRange
    }
    return start.nanoseconds
  }

  private static func floorDivided(_ value: Int64, by divisor: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
