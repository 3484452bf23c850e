/// What a stage asks of the machine that it runs on.
enum StageResources {
  static let names = ["memory", "cpus", "time"]
  static let cpus = 1...1024

  /// A year: what is longer is a slip of the pen, and sums of it stay far from any limit.
  private static let mostSeconds: Int64 = 365 * 24 * 3600

  /// Whole seconds, rounded up; `nil` for nothing, and beyond a year.
  static func seconds(nanoseconds: Int64) -> Int? {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    guard nanoseconds > 0, whole < mostSeconds || (whole == mostSeconds && rest == 0) else {
      return nil
    }
    return Int(whole) + (rest > 0 ? 1 : 0)
  }
}

extension PipelineDefinition {
  /// What the stages named in `selected` ask for together: the largest of their `cpus`, and the sum of
  /// their `time`, which is known only where each of them says one. Names that the pipeline does not have
  /// count for nothing.
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
