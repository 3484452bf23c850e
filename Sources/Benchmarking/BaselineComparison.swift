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
    /// `wallSeconds`, `cpuSeconds`, `peakMemoryBytes` or `outputBytes`.
    public var quantity: String
    public var before: Double
    public var now: Double
    public var isWorse: Bool

    /// 0.1 = a tenth more than before.
    public var change: Double { before > 0 ? now / before - 1 : 0 }
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
    if !now.machine.isComparable(with: before.machine) {
      notes.append(
        "the baseline was measured on another machine (\(before.machine.processor), "
          + "\(before.machine.cores) cores): times say little")
    }
    if now.settings.isCold != before.settings.isCold {
      notes.append("one of the two was measured with a cold cache, the other with a warm one")
    }
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
    }
  }

  private mutating func add(_ capture: String, _ now: JobsFigures, _ before: JobsFigures) {
    func add(_ name: String, _ quantity: String, _ now: Double, _ before: Double) {
      lines.append(
        Line(
          capture: capture, jobs: jobs, name: name, quantity: quantity, before: before, now: now,
          isWorse: now > before * (1 + tolerance)))
    }
    let jobs = now.jobs
    add(
      now.whole.name, "wallSeconds", now.whole.wallSeconds.minimum, before.whole.wallSeconds.minimum
    )
    add(now.whole.name, "cpuSeconds", now.whole.cpuSeconds.minimum, before.whole.cpuSeconds.minimum)
    if let memory = now.whole.peakMemoryBytes, let earlier = before.whole.peakMemoryBytes {
      add(now.whole.name, "peakMemoryBytes", Double(memory), Double(earlier))
    }
    // The time that a stage takes depends on what runs beside it; its CPU time and bytes do not.
    for stage in now.stages {
      guard let earlier = before.stages.first(where: { $0.name == stage.name }) else { continue }
      if earlier.cpuSeconds.minimum >= Self.leastSeconds {
        add(stage.name, "cpuSeconds", stage.cpuSeconds.minimum, earlier.cpuSeconds.minimum)
      }
      add(stage.name, "outputBytes", Double(stage.outputBytes), Double(earlier.outputBytes))
    }
  }
}
