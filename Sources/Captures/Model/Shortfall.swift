import Core

/// A stream that has lost more of what the capture declares than a pipeline accepts. Everything
/// that is left is processed, but the capture needs attention.
///
/// This is not a warning of the capture: what exists and what is declared are facts of the capture,
/// while the accepted loss is a setting of the pipeline (`shortfall`).
public struct Shortfall: Hashable, Sendable {
  /// The accepted loss in percent if the pipeline states none.
  public static let usualPercent = 2.0

  /// Name of the stream in `StreamClaim`.
  public var stream: String
  /// Number of items that exist and can be read.
  public var held: Int
  var declared: Int
  /// One sentence for people, with the numbers.
  public var message: String

  /// Percentage of the declared number that is lost, 0...100.
  public var lostPercent: Double {
    declared > 0 ? 100 * Double(max(0, declared - held)) / Double(declared) : 0
  }

  /// How much is lost, for people: `imu: 3 % lost`; never 0 % or, while anything is left, 100 %.
  public var lossWords: String {
    let percent = lostPercent
    let rounded = percent.rounded()
    let text =
      percent < 0.1
      ? "less than 0.1"
      : percent < 1
        ? "\((percent * 10).rounded() / 10)" : "\(held > 0 ? min(99, Int(rounded)) : Int(rounded))"
    return "\(stream): \(text) % lost"
  }

  /// The shortfall as a warning, for lists of everything that needs attention.
  public var warning: CaptureWarning {
    CaptureWarning(.shortfall, stream, count: max(1, declared - held), message)
  }

  /// The streams that have lost more than `percent` (0...100) of what is declared.
  ///
  /// - Parameters:
  ///   - lacking: the claims found when the capture was opened.
  ///   - holes: frames that stages could not decode, by stream.
  public static func found(
    lacking: [StreamClaim], holes: [String: FrameHoles] = [:], percent: Double
  ) -> [Shortfall] {
    lacking.counting(holes).compactMap { claim in
      guard 100 * Double(claim.lost) > percent * Double(claim.declared) else { return nil }
      return Shortfall(
        stream: claim.stream, held: claim.held, declared: claim.declared,
        message: sentence(claim, percent: percent))
    }
  }

  private static func sentence(_ claim: StreamClaim, percent: Double) -> String {
    "\(claim.held) of \(claim.declared) \(claim.unit), declared by \(claim.source): "
      + "\(text(100 * claim.lostShare, above: percent)) % are lost, more than \(text(percent)) %"
  }

  /// A percentage with one decimal; with more if one would hide that it is above `limit`.
  private static func text(_ percent: Double, above limit: Double = -1) -> String {
    for decimals in [1, 3] {
      let scale = decimals == 1 ? 10.0 : 1000.0
      let rounded = (percent * scale).rounded() / scale
      if rounded > limit {
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
      }
    }
    return "\(percent)"
  }
}

extension [StreamClaim] {
  /// The claims found when a capture was opened, with the frames that could not be decoded, which count as lost, too.
  /// If only a selection of frames was decoded, its share of holes is taken for all frames.
  func counting(_ holes: [String: FrameHoles]) -> [StreamClaim] {
    var claims = self
    for (stream, holes) in holes.sorted(by: { $0.key < $1.key })
    where holes.lost > 0 && !contains(where: { $0.stream == stream }) {
      claims.append(
        StreamClaim(
          stream, held: holes.frames, declared: holes.frames, unit: "frames can be decoded",
          by: "its own records"))
    }
    return claims.map { claim in
      guard let holes = holes[claim.stream], holes.lost > 0 else { return claim }
      var claim = claim
      claim.held -= Int((holes.lostShare * Double(claim.held)).rounded(.up))
      claim.unit = "frames can be decoded"
      return claim
    }
  }
}

/// Number of frames of a stream that a stage or an inspection could not decode.
public struct FrameHoles: Hashable, Sendable, Codable {
  /// The key in records of stages, which holds the counts by stream.
  public static let recordedName = "frameHoles"

  public var lost: Int
  /// Number of frames that were tried, including lost ones.
  public var frames: Int

  public init(lost: Int, frames: Int) {
    self.lost = lost
    self.frames = frames
  }

  /// Lost fraction, 0...1.
  public var lostShare: Double { frames > 0 ? min(1, Double(lost) / Double(frames)) : 0 }
}

/// In JSON an entry has the keys of a warning, and the numbers.
extension Shortfall: Codable {
  private enum CodingKeys: String, CodingKey {
    case stream = "subject"
    case held, declared, message
  }

  public func encode(to encoder: any Encoder) throws {
    let warning = warning
    let members: JSONObject = [
      "code": warning.code, "subject": warning.subject, "message": warning.message,
      "count": warning.count, "severity": warning.severity, "held": held, "declared": declared,
      "lostPercent": (10 * lostPercent).rounded() / 10,
    ]
    try members.encode(to: encoder)
  }
}

/// The length of a stream, and the length that the capture declares for it.
public struct StreamClaim: Hashable, Sendable, Codable {
  /// Name as in `capture.json`: `color`, `depth`, `imu`, …; `times` for the times of frames.
  public var stream: String
  /// The counted length.
  public var held: Int
  /// The length declared by `source`.
  public var declared: Int
  /// What is counted, with a verb: `frames are there`.
  public var unit: String
  /// Where the declaration comes from, as a noun: `numDepthFrames`, `the pictures`. Never a file
  /// name, which may contain the capture's id: redacted pages must not show it.
  public var source: String

  init(
    _ stream: String, held: Int, declared: Int, unit: String = "frames are there", by source: String
  ) {
    self.stream = stream
    self.held = max(0, held)
    self.declared = max(0, declared)
    self.unit = unit
    self.source = source
  }

  /// Difference between declared and counted length; 0 if there is more than declared.
  var lost: Int { max(0, declared - held) }

  /// `lost` as a fraction of `declared`, 0...1.
  var lostShare: Double { declared > 0 ? Double(lost) / Double(declared) : 0 }
}

/// The declared lengths of a capture's streams, collected by the reader of its family.
extension [StreamClaim] {
  /// Adds a claim, unless there is no count or no declaration above zero.
  public mutating func add(
    _ stream: String, held: Int?, declared: Int?, unit: String = "frames are there",
    by source: String
  ) {
    guard let held, let declared, declared > 0 else { return }
    append(StreamClaim(stream, held: held, declared: declared, unit: unit, by: source))
  }

  /// For each stream with losses the claim with the largest loss, in the order in which streams
  /// were added.
  public var lacking: [StreamClaim] {
    var order: [String] = []
    var worst: [String: StreamClaim] = [:]
    for claim in self where claim.lost > 0 {
      if worst[claim.stream] == nil { order.append(claim.stream) }
      if claim.lostShare > worst[claim.stream]?.lostShare ?? 0 { worst[claim.stream] = claim }
    }
    return order.compactMap { worst[$0] }
  }
}
