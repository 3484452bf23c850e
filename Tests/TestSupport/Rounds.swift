import Foundation

/// How often tests repeat what is left to chance, such as the moment of a kill, or takes long: a few times in every run of the tests,
/// and as often as it takes to meet the rare moments in `make soak`.
public enum Rounds {
  /// `make soak`.
  public static let isSoak = ProcessInfo.processInfo.environment["SCANMILL_SOAK"] == "1"

  public static func of(_ few: Int, soak: Int) -> Int { isSoak ? soak : few }

  /// The first `few` of examples that differ little, all in `make soak`.
  public static func some<Example>(of examples: [Example], _ few: Int) -> [Example] {
    isSoak ? examples : Array(examples.prefix(few))
  }

  /// Every `step`-th of examples that lie beside those that are like them, all in `make soak`.
  public static func every<Example>(_ step: Int, of examples: [Example]) -> [Example] {
    isSoak ? examples : stride(from: 0, to: examples.count, by: step).map { examples[$0] }
  }
}
