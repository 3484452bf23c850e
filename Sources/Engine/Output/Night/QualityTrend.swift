import Captures
import Core

/// One number of the quality of a device's captures, now and before: whether the device has become worse.
public struct QualityTrend: Sendable, Codable, Hashable {
  /// The name of a number in `CaptureQuality.judged`, of which more is worse.
  public var subject: String
  /// Captures of different families are not compared.
  public var family: String
  /// Median of the newest captures, in the unit of the subject.
  public var recent: Double
  /// How many these are.
  public var captures: Int
  /// Median of those before them.
  public var before: Double
  public var capturesBefore: Int
  public var isWorse: Bool

  /// Number of the newest captures that are compared…
  static let newest = 5
  /// … with at least and at most so many before them.
  static let fewestBefore = 5
  static let mostBefore = 40
  /// The median has become larger by at least this factor.
  private static let factor = 1.5
  /// Number of the newest captures that lie above three quarters of those before: one odd scene is no trend.
  private static let mostOfNewest = 4

  /// What is compared, and by how much at least its median has to rise: differences below it are those of scenes.
  static let subjects: [(subject: String, leastRise: Double)] = [
    ("depthDisagreement", 3), ("depthMissing", 0.1),
  ]

  /// `nil` for an unknown subject and for fewer than ten captures. Cost: two short sorts.
  ///
  /// - Parameter values: of the captures of one device and family, oldest first.
  init?(_ subject: String, family: String, values: [Double]) {
    guard let leastRise = Self.subjects.first(where: { $0.subject == subject })?.leastRise,
      values.count >= Self.newest + Self.fewestBefore
    else { return nil }
    let recent = values.suffix(Self.newest)
    let before = values.dropLast(Self.newest).suffix(Self.mostBefore).sorted()
    self.subject = subject
    self.family = family
    self.recent = Median.of(Array(recent))
    captures = recent.count
    self.before = Median.of(before)
    capturesBefore = before.count
    let usual = before[before.count * 3 / 4]
    isWorse =
      self.recent >= Self.factor * self.before && self.recent - self.before >= leastRise
      && recent.count(where: { $0 > usual }) >= Self.mostOfNewest
  }

  /// A capture of a device, as far as it counts here.
  public struct Sample: Sendable {
    var device: String
    public var family: String
    /// The time by which captures of a device are ordered.
    public var time: String
    public var id: String
    public var quality: CaptureQuality
  }

  /// The trends of a device's captures, in any order: by family, then by subject; empty with fewer than ten captures
  /// of each family.
  public static func all(of samples: [Sample]) -> [QualityTrend] {
    let groups = Dictionary(grouping: samples) { "\($0.family)\n\($0.device)" }
    return groups.keys.sorted().flatMap { key in
      let own = (groups[key] ?? []).sorted { ($0.time, $0.id) < ($1.time, $1.id) }
      return subjects.compactMap { subject, _ in
        QualityTrend(
          subject, family: own.first?.family ?? "",
          values: own.compactMap { $0.quality.judged[subject]?.value })
      }
    }
  }
}
