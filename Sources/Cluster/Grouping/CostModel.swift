/// How long a capture took before.
public struct CostSample: Hashable, Sendable {
  public var family: String
  /// Of all files of the capture.
  public var inputBytes: Int64
  /// All stages together.
  public var seconds: Double

  public init(family: String, inputBytes: Int64, seconds: Double) {
    self.family = family
    self.inputBytes = inputBytes
    self.seconds = seconds
  }
}

/// How long captures will take, by what earlier ones took. Half as much or twice as much is good enough: it
/// only decides what goes together.
public struct CostModel: Sendable {
  /// What an expectation is made from.
  public enum Basis: Hashable, Sendable {
    /// So many earlier captures of the same family.
    case family(Int)
    /// So many of all families.
    case all(Int)
    /// Nothing: a guess.
    case guess
  }

  public struct Expectation: Hashable, Sendable {
    public var seconds: Double
    public var basis: Basis
  }

  /// Fewer earlier captures say nothing.
  public static let leastSamples = 20
  /// A guess: what a scan of a room with a few hundred frames takes on four cores, rounded.
  public static let guessedSeconds = 60.0
  /// Starting a worker takes something, however small the capture.
  public static let leastSeconds = 1.0

  private let families: [String: Rate]
  private let all: Rate?

  private struct Rate {
    var secondsPerByte: Double
    var count: Int
  }

  /// Samples without bytes or with impossible seconds are left out. Cost: n log n.
  public init(_ samples: [CostSample]) {
    let usable = samples.filter { $0.inputBytes > 0 && $0.seconds > 0 && $0.seconds.isFinite }
    families = Dictionary(grouping: usable, by: \.family).compactMapValues(Self.rate)
    all = Self.rate(usable)
  }

  /// The median, or `nil` of too few.
  private static func rate(_ samples: [CostSample]) -> Rate? {
    guard samples.count >= leastSamples else { return nil }
    let rates = samples.map { $0.seconds / Double($0.inputBytes) }.sorted()
    let middle = rates.count / 2
    let median =
      rates.count % 2 == 1 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2
    return Rate(secondsPerByte: median, count: samples.count)
  }

  /// `family` may be unknown.
  public func expectation(family: String?, inputBytes: Int64) -> Expectation {
    func seconds(_ rate: Rate) -> Double {
      max(Self.leastSeconds, rate.secondsPerByte * Double(max(0, inputBytes)))
    }
    if let rate = family.flatMap({ families[$0] }) {
      return Expectation(seconds: seconds(rate), basis: .family(rate.count))
    }
    if let all { return Expectation(seconds: seconds(all), basis: .all(all.count)) }
    return Expectation(seconds: Self.guessedSeconds, basis: .guess)
  }
}

extension CostModel.Basis: CustomStringConvertible {
  public var description: String {
    switch self {
    case .family(let count): "by \(count) earlier captures of the same app, within ±50 %"
    case .all(let count): "by \(count) earlier captures of other apps, within ±50 %"
    case .guess: "a guess, for want of \(CostModel.leastSamples) earlier captures"
    }
  }
}
