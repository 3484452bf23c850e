import Captures
import Engine
import Core

/// How much of the disk captures need: what they are expected to write, and what those for which the disk was too small
/// tell.
struct DiskNeeds {
  /// What a capture at work was expected to write, and what was free when it began.
  private struct Claim {
    var bytes: Int64
    var freeBytes: Int64
    /// Nearly the whole disk was.
    var hadAll: Bool
  }

  /// What a capture for which the disk was too small tells: as much per byte is needed, as far as it is known.
  private struct Lesson {
    var ratio: Double
    /// The time on the monotonic clock at which the capture is tried again all the same.
    var untilSeconds: Double
    /// Whether the capture had nearly all of the disk: what is free tells nothing of a quota that is used up.
    var hadAll: Bool
  }

  /// `nil`: nothing is known.
  var expected: RunNeeds?
  private var lessons: [String: Lesson] = [:]
  private var claims: [CaptureLocation: Claim] = [:]

  /// What a capture is expected to write; 0: not known.
  ///
  /// - Parameters:
  ///   - bytes: of its files.
  ///   - now: on the monotonic clock.
  func needed(family: String, bytes: Int64, atSeconds now: Double) -> Int64 {
    let known = expected?.knownBytes(family, ofBytes: bytes) ?? 0
    guard let lesson = lessons[family], now < lesson.untilSeconds else { return known }
    return max(known, Int64(min(lesson.ratio * Double(max(0, bytes)), 9e18)))
  }

  /// Whether the disk takes no more of this family for now, however much of it is free.
  func isSpent(family: String, atSeconds now: Double) -> Bool {
    lessons[family].map { $0.hadAll && now < $0.untilSeconds } ?? false
  }

  /// Whether so much may be begun, beside what is at work. What is at work counts in full, whatever of it is written
  /// already: near the end of a disk captures are processed one by one.
  func fits(_ needed: Int64, in free: FreeSpaceRule) -> Bool {
    let claimed = claims.values.reduce(Int64(0)) {
      $0.addingReportingOverflow($1.bytes).partialValue
    }
    return Self.usableBytes(free) - max(0, claimed) >= Self.atMost(needed, free)
  }

  /// Whether so much may be begun once nothing is at work.
  static func fitsAlone(_ needed: Int64, in free: FreeSpaceRule) -> Bool {
    usableBytes(free) >= atMost(needed, free)
  }

  private static func usableBytes(_ free: FreeSpaceRule) -> Int64 { free.bytes - kept(free) }

  /// Stages leave a hundredth of the disk, at most 64 MiB, whatever the reserve is.
  private static func kept(_ free: FreeSpaceRule) -> Int64 {
    max(free.neededBytes, min(free.totalBytes / 100, 64 << 20))
  }

  /// A capture that needs more than the whole disk is tried once nearly all of the disk is free.
  private static func atMost(_ needed: Int64, _ free: FreeSpaceRule) -> Int64 {
    min(needed, max(0, free.totalBytes - kept(free)) / 10 * 9)
  }

  mutating func begin(_ location: CaptureLocation, needed: Int64, in free: FreeSpaceRule?) {
    claims[location] = Claim(
      bytes: needed, freeBytes: free?.bytes ?? 0,
      hadAll: free.map { Self.fitsAlone(.max, in: $0) } ?? false)
  }

  mutating func end(_ location: CaptureLocation) { claims[location] = nil }

  /// Notes that a capture is done: what was learned from one for which the disk was too small is over.
  mutating func done(_ location: CaptureLocation, family: String) {
    claims[location] = nil
    lessons[family] = nil
  }

  /// The disk was too small for a capture: a quarter more is waited for than it had.
  mutating func ranOut(
    _ location: CaptureLocation, family: String, bytes: Int64, untilSeconds: Double
  ) {
    let atOnce = Int64(max(1, claims.count))
    guard let claim = claims.removeValue(forKey: location), bytes > 0 else { return }
    let had = max(claim.bytes, claim.freeBytes / atOnce)
    lessons[family] = Lesson(
      ratio: Double(had) * 1.25 / Double(bytes), untilSeconds: untilSeconds, hadAll: claim.hadAll)
  }
}
