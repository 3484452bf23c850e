/// Resources that a stage requests from a batch system.
enum StageResources {
  static let names = ["memory", "cpus", "time"]
  static let cpus = 1...1024

  /// A year: longer times are mistakes, and sums must not overflow.
  private static let mostSeconds: Int64 = 365 * 24 * 3600

  /// Whole seconds, rounded up; `nil` for zero and for more than a year.
  static func seconds(nanoseconds: Int64) -> Int? {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    guard nanoseconds > 0, whole < mostSeconds || (whole == mostSeconds && rest == 0) else {
      return nil
    }
    return Int(whole) + (rest > 0 ? 1 : 0)
  }
}

extension PipelineDefinition {
  /// The combined request of the stages named in `selected`: the largest `cpus`, and the sum of
  /// `time`, which is `nil` unless each of them states one. Unknown names are ignored.
  public func resources(of selected: Set<String>) -> (cpus: Int?, timeSeconds: Int?) {
    let chosen = stages.filter { selected.contains($0.name) }
    let times = chosen.compactMap(\.timeSeconds)
    let isComplete = !chosen.isEmpty && times.count == chosen.count
    let seconds = times.reduce(0) { sum, next in
      let (more, overflow) = sum.addingReportingOverflow(next)
      return overflow ? Int.max : more
    }
    return (chosen.compactMap(\.cpus).max(), isComplete ? seconds : nil)
  }
}
