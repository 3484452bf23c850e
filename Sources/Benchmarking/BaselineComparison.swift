/// Today's figures against those of an earlier report.
///
/// Times are compared by the fastest run of each: on a machine that does other things too it is the one
/// that says most about the program. A figure is worse when it exceeds the earlier one by more than the
/// tolerance.
public struct BaselineComparison: Hashable, Sendable, Codable {
  public struct Line: Hashable, Sendable, Codable {
    public var capture: String
    public var jobs: Int
    /// The stage, or `whole`.
    public var name: String
    /// `wallSeconds`, `cpuSeconds`, `peakMemoryBytes`, `outputBytes` or
    /// `aboveFloorMillisecondsPerMegapixel`.
    public var quantity: String
    public var before: Double
    public var now: Double
    public var isWorse: Bool
    /// now / before; `nil` when it was nothing before.
    public var ratio: Double?
    /// Where the ratio of two single runs lies: from the later report's fastest run by the earlier one's 90th percentile
    /// to its 90th percentile by the earlier one's fastest run. `nil` for what is no time, and for differences.
    public var interval: [Double]?
    public var verdict: Verdict

    /// 0.1 = a tenth more than before.
    public var change: Double { before > 0 ? now / before - 1 : 0 }

    init(
      capture: String, jobs: Int, name: String, quantity: String, before: Double, now: Double,
      tolerance: Double, interval: [Double]? = nil
    ) {
      self.capture = capture
      self.jobs = jobs
      self.name = name
      self.quantity = quantity
      self.before = before
      self.now = now
      self.interval = interval
      ratio = before > 0 ? now / before : nil
      isWorse = now > max(before, 0) * (1 + tolerance)
      let isBetter = now < before && max(now, 0) * (1 + tolerance) < before
      verdict = isWorse ? .worse : isBetter ? .better : .same
    }

    /// Whether single runs of the two overlap, so that chance may be behind the difference.
    var overlaps: Bool { interval.map { $0[0] <= 1 && 1 <= $0[1] } ?? false }
  }

  /// Beyond the tolerance, one way or the other.
  public enum Verdict: String, Hashable, Sendable, Codable {
    case better, same, worse
  }

  /// 0.1 = a tenth.
  public var tolerance: Double
  public var lines: [Line] = []
  /// What to know about the comparison.
  public var notes: [String] = []

  public var regressions: [Line] { lines.filter(\.isWorse) }

  /// CPU time that is too short to be compared.
  private static let leastSeconds = 0.05

  public init(now: BenchmarkReport, before: BenchmarkReport, tolerance: Double) {
    self.tolerance = tolerance
    notes = ReportDifferences.notes(now: now, before: before)
    for capture in now.captures {
      guard
        let earlier = before.captures.first(where: {
          $0.id == capture.id && $0.inputBytes == capture.inputBytes
        })
      else {
        notes.append("\(capture.id): not in the baseline, or with other content")
        continue
      }
      for run in capture.runs {
        guard let earlier = earlier.runs.first(where: { $0.jobs == run.jobs }) else {
          notes.append("\(capture.id): the baseline has no runs with -j \(run.jobs)")
          continue
        }
        add(capture.id, run, earlier)
      }
      for jobs in earlier.runs.map(\.jobs) where !capture.runs.contains(where: { $0.jobs == jobs })
      {
        notes.append("\(capture.id): runs with -j \(jobs) are in the baseline only")
      }
      addFloor(capture, earlier)
    }
    for capture in before.captures where !now.captures.contains(where: { $0.id == capture.id }) {
      notes.append("\(capture.id): in the baseline only")
    }
  }

  /// What a run takes above the floor, per megapixel: the measure that does not depend on the video. As of
  /// times, that of the fastest runs.
  private mutating func addFloor(_ now: CaptureFigures, _ before: CaptureFigures) {
    guard let floor = now.floor else {
      if before.floor != nil { notes.append("\(now.id): a floor is in the baseline only") }
      return
    }
    let id = now.id
    guard let earlier = before.floor else {
      notes.append("\(now.id): the baseline has no floor")
      return
    }
    guard floor.jobs == earlier.jobs else {
      notes.append("\(now.id): the floor of the baseline was measured with -j \(earlier.jobs)")
      return
    }
    let known = earlier.stages + [earlier.whole].compactMap(\.self)
    for stage in floor.stages + [floor.whole].compactMap(\.self) {
      guard let old = known.first(where: { $0.name == stage.name }),
        old.ours.cpuSeconds.minimum >= Self.leastSeconds,
        let before = old.leastAboveFloorMillisecondsPerMegapixel,
        let now = stage.leastAboveFloorMillisecondsPerMegapixel
      else { continue }
      lines.append(
        Line(
          capture: id, jobs: floor.jobs, name: stage.name,
          quantity: "aboveFloorMillisecondsPerMegapixel", before: before, now: now,
          tolerance: tolerance))
    }
  }

  private mutating func add(_ capture: String, _ now: JobsFigures, _ before: JobsFigures) {
    let jobs = now.jobs
    func add(_ name: String, _ quantity: String, _ now: Double, _ before: Double) {
      lines.append(
        Line(
          capture: capture, jobs: jobs, name: name, quantity: quantity, before: before, now: now,
          tolerance: tolerance))
    }
    func add(_ name: String, _ quantity: String, _ now: Distribution, _ before: Distribution) {
      let isSomething = before.minimum > 0 && before.percentile90 > 0
      lines.append(
        Line(
          capture: capture, jobs: jobs, name: name, quantity: quantity, before: before.minimum,
          now: now.minimum, tolerance: tolerance,
          interval: isSomething
            ? [now.minimum / before.percentile90, now.percentile90 / before.minimum] : nil
        ))
    }
    add(now.whole.name, "wallSeconds", now.whole.wallSeconds, before.whole.wallSeconds)
    add(now.whole.name, "cpuSeconds", now.whole.cpuSeconds, before.whole.cpuSeconds)
    if let memory = now.whole.peakMemoryBytes, let earlier = before.whole.peakMemoryBytes {
      add(now.whole.name, "peakMemoryBytes", Double(memory), Double(earlier))
    }
    // The time that a stage takes depends on what runs beside it; its CPU time and bytes do not.
    var short: [String] = []
    for stage in now.stages {
      guard let earlier = before.stages.first(where: { $0.name == stage.name }) else {
        notes.append("\(capture), -j \(jobs): stage \(stage.name) is not in the baseline")
        continue
      }
      if earlier.cpuSeconds.minimum >= Self.leastSeconds {
        add(stage.name, "cpuSeconds", stage.cpuSeconds, earlier.cpuSeconds)
      } else {
        short.append(stage.name)
      }
      add(stage.name, "outputBytes", Double(stage.outputBytes), Double(earlier.outputBytes))
    }
    for stage in before.stages where !now.stages.contains(where: { $0.name == stage.name }) {
      notes.append("\(capture), -j \(jobs): stage \(stage.name) is in the baseline only")
    }
    if !short.isEmpty {
      notes.append(
        "\(capture), -j \(jobs): CPU time below \(NumberText.short(Self.leastSeconds)) s is not compared: "
          + short.joined(separator: ", "))
    }
  }
}
