import Captures
import Core

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

  /// `2012-08-07T15:10:57.250Z`: UTC, rounded to milliseconds. `nil` outside the years 1678 … 2261.
  func text(_ time: Timestamp) -> String? {
    let (sum, overflow) = zero.addingReportingOverflow(time.nanoseconds)
    let (rounded, tooFar) = sum.addingReportingOverflow(500_000)
    guard !overflow, !tooFar else { return nil }
    return UTCText.text(milliseconds: Self.floorDivided(rounded, by: 1_000_000))
  }

  /// UTC time of the start of the recording.
  static func start(_ capture: Capture) -> String? {
    guard let text = capture.recordedAt, let start = try? nanoseconds(text) else { return nil }
    return UTCText.text(milliseconds: floorDivided(start, by: 1_000_000))
  }

  private static func nanoseconds(_ text: String) throws(Missing) -> Int64 {
    guard let separator = text.firstIndex(of: "T") else { throw .dateOnly }
    let clock = text[separator...]
    guard clock.contains(where: { "Z+-".contains($0) }) else { throw .noZone }
    guard let start = ISOTime(text) else { throw .unknown }
    guard let nanoseconds = start.nanoseconds else { throw .outOfRange }
    return nanoseconds
  }

  private static func floorDivided(_ value: Int64, by divisor: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
