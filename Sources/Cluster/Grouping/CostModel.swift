/// The measured cost of one capture.
public struct CostSample: Hashable, Sendable {
  public var family: String
  /// Size of all files of the capture.
  var inputBytes: Int64
  /// Duration of all stages together.
  public var seconds: Double
}

/// Estimates how long captures take from the durations of earlier ones. Errors of a factor of two
/// are acceptable, because the estimate only decides how captures are grouped.
public struct CostModel: Sendable {
  /// The data of an estimate.
  public enum Basis: Hashable, Sendable {
    /// This many earlier captures of the same family.
    case family(Int)
    /// This many earlier captures of all families.
    case all(Int)
    /// No data.
    case guess
  }

  public struct Expectation: Hashable, Sendable {
    public var seconds: Double
    var basis: Basis
  }

  /// The number of earlier captures below which no estimate is made.
  static let leastSamples = 20
  /// The default cost: rounded from the time that an indoor scan of a few hundred frames takes
  /// on four cores.
  static let guessedSeconds = 60.0
  /// The least cost: starting a worker takes time, however small the capture.
  static let leastSeconds = 1.0

  private let families: [String: Rate]
  private let all: Rate?

  private struct Rate {
    var secondsPerByte: Double
    var count: Int
  }

  /// Samples without bytes, and those whose seconds are not positive and finite, are ignored. Cost:
  /// O(n log n).
  init(_ samples: [CostSample]) {
    let usable = samples.filter { $0.inputBytes > 0 && $0.seconds > 0 && $0.seconds.isFinite }
    families = Dictionary(grouping: usable, by: \.family).compactMapValues(Self.rate)
    all = Self.rate(usable)
  }

  /// The median rate; `nil` for fewer than `leastSamples`.
  private static func rate(_ samples: [CostSample]) -> Rate? {
    guard samples.count >= leastSamples else { return nil }
    let rates = samples.map { $0.seconds / Double($0.inputBytes) }.sorted()
    let middle = rates.count / 2
    let median =
      rates.count % 2 == 1 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2
    return Rate(secondsPerByte: median, count: samples.count)
  }

  /// The estimate for a capture; `family` is `nil` if unknown.
  func expectation(family: String?, inputBytes: Int64) -> Expectation {
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
