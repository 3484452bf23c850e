/// Compares current figures with those of an earlier report.
///
/// Medians are compared. A figure is worse, or better, if the whole confidence interval of the
/// ratio of medians is outside the tolerance, the same if the whole interval is inside, and otherwise
/// uncertain: the runs show neither. The interval follows from the spread of the runs in both reports
/// and is wider if a machine was busy, so that two reports of the same program give no difference.
public struct BaselineComparison: Hashable, Sendable, Codable {
  public struct Line: Hashable, Sendable, Codable {
    public var capture: String
    var jobs: Int
    /// The stage, or `whole`.
    public var name: String
    /// `wallSeconds`, `cpuSeconds`, `peakMemoryBytes`, `outputBytes` or
    /// `aboveFloorMillisecondsPerMegapixel`.
    var quantity: String
    /// Medians of the runs, in the unit of the quantity.
    public var before: Double
    public var now: Double
    public var isWorse: Bool
    /// `nil` if `before` is 0.
    var nowByBefore: Double?
    /// The interval of `nowByBefore` (`RatioInterval`); `nil` for quantities that are the same in every
    /// run, and without a ratio.
    var interval: [Double]?
    var verdict: Verdict

    /// Relative change: 0.1 = a tenth more than before.
    public var change: Double { before > 0 ? now / before - 1 : 0 }

    /// - Parameters:
    ///   - interval: that of the ratio; `nil` if runs do not vary.
    ///   - isMeasured: whether runs vary; without an interval nothing is then certain.
    init(
      capture: String, jobs: Int, name: String, quantity: String, before: Double, now: Double,
      tolerance: Double, interval: RatioInterval? = nil, isMeasured: Bool
    ) {
      self.capture = capture
      self.jobs = jobs
      self.name = name
      self.quantity = quantity
      self.before = before
      self.now = now
      self.interval = interval.map { [$0.lower, $0.upper] }
      nowByBefore = before > 0 ? now / before : nil
      let most = 1 + tolerance
      let isMore = now > max(before, 0) * most
      let isLess = now < before && max(now, 0) * most < before
      if let interval {
        verdict =
          interval.lower > most
          ? .worse
          : interval.upper * most < 1
            ? .better : interval.upper <= most && interval.lower * most >= 1 ? .same : .uncertain
      } else if isMeasured {
        verdict = .uncertain
      } else {
        verdict = isMore ? .worse : isLess ? .better : .same
      }
      isWorse = verdict == .worse
    }
  }

  enum Verdict: String, Hashable, Codable {
    /// Certainly outside the tolerance.
    case better, worse
    /// Certainly within the tolerance.
    case same
    /// The runs show neither.
    case uncertain
  }

  public var schema = 1
  /// Relative tolerance: 0.1 = a tenth.
  public var tolerance: Double
  public var lines: [Line] = []
  /// Notes about the comparison.
  public var notes: [String] = []
  /// How busy the busier of the two machines was (`MachineDescription.busyShare`), which widens
  /// intervals.
  var busyShare: Double

  public var regressions: [Line] { lines.filter(\.isWorse) }

  /// The verdict over all figures: worse if any is, else uncertain if any is, else better if any
  /// is.
  var verdict: Verdict {
    [.worse, .uncertain, .better].first { verdict in lines.contains { $0.verdict == verdict } }
      ?? .same
  }

  /// CPU times below this are not compared.
  private static let leastSeconds = 0.05
  /// Relative variation of peak memory between runs of the same program, for reports with only the
  /// maximum of all runs.
  private static let variationOfMemory = 0.25
  /// Additional uncertainty of wall times, because other processes used the machine.
  private var doubtOfWallTime: Double { busyShare }
  /// Other processes affect CPU time only through caches, clock rates and shared cores.
  private var doubtOfCPUTime: Double { busyShare / 2 }

  public init(now: BenchmarkReport, before: BenchmarkReport, tolerance: Double) {
    self.tolerance = tolerance
    busyShare = max(now.machine.busyShare, before.machine.busyShare)
    notes = Self.notes(now: now, before: before)
    for capture in now.captures {
      guard let earlier = before.figures(of: capture.id, capture.inputBytes) else {
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

  /// Adds the time above the floor per megapixel, which does not depend on the video.
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
        let before = Distribution(old.aboveFloorMillisecondsPerMegapixelOfRounds),
        let now = Distribution(stage.aboveFloorMillisecondsPerMegapixelOfRounds)
      else { continue }
      lines.append(
        Line(
          capture: id, jobs: floor.jobs, name: stage.name,
          quantity: "aboveFloorMillisecondsPerMegapixel", before: before.median, now: now.median,
          tolerance: tolerance,
          interval: RatioInterval(
            now: now.samples, before: before.samples, doubt: doubtOfCPUTime),
          isMeasured: true))
    }
  }

  private mutating func add(_ capture: String, _ now: JobsFigures, _ before: JobsFigures) {
    let jobs = now.jobs
    func add(
      _ name: String, _ quantity: String, _ now: Distribution, _ before: Distribution,
      doubt: Double
    ) {
      lines.append(
        Line(
          capture: capture, jobs: jobs, name: name, quantity: quantity, before: before.median,
          now: now.median, tolerance: tolerance,
          interval: RatioInterval(now: now.samples, before: before.samples, doubt: doubt),
          isMeasured: true))
    }
    add(
      now.whole.name, "wallSeconds", now.whole.wallSeconds, before.whole.wallSeconds,
      doubt: doubtOfWallTime)
    add(
      now.whole.name, "cpuSeconds", now.whole.cpuSeconds, before.whole.cpuSeconds,
      doubt: doubtOfCPUTime)
    if let memory = now.whole.peakMemory, let earlier = before.whole.peakMemory {
      add(now.whole.name, "peakMemoryBytes", memory, earlier, doubt: 0)
    } else if let memory = now.whole.peakMemoryBytes, let earlier = before.whole.peakMemoryBytes {
      let (memory, earlier) = (Double(memory), Double(earlier))
      lines.append(
        Line(
          capture: capture, jobs: jobs, name: now.whole.name, quantity: "peakMemoryBytes",
          before: earlier, now: memory, tolerance: tolerance,
          interval: RatioInterval(
            now: memory, before: earlier, varyingBy: Self.variationOfMemory),
          isMeasured: true))
    }
    // The wall time of a stage depends on concurrent stages; its CPU time and bytes do not.
    var short: [String] = []
    for stage in now.stages {
      guard let earlier = before.stages.first(where: { $0.name == stage.name }) else {
        notes.append("\(capture), -j \(jobs): stage \(stage.name) is not in the baseline")
        continue
      }
      if earlier.cpuSeconds.minimum >= Self.leastSeconds {
        add(
          stage.name, "cpuSeconds", stage.cpuSeconds, earlier.cpuSeconds, doubt: doubtOfCPUTime)
      } else {
        short.append(stage.name)
      }
      // Output bytes are equal in every run of the same program.
      lines.append(
        Line(
          capture: capture, jobs: jobs, name: stage.name, quantity: "outputBytes",
          before: Double(earlier.outputBytes), now: Double(stage.outputBytes),
          tolerance: tolerance, isMeasured: false))
    }
    for stage in before.stages where !now.stages.contains(where: { $0.name == stage.name }) {
      notes.append("\(capture), -j \(jobs): stage \(stage.name) is in the baseline only")
    }
    if !short.isEmpty {
      notes.append(
        "\(capture), -j \(jobs): CPU time below \(shortText(Self.leastSeconds)) s is not compared: "
          + short.joined(separator: ", "))
    }
  }
}

/// How much worse than before is not yet a regression.
public struct Tolerance: Hashable, Sendable {
  /// 0.1 = a tenth.
  public let share: Double

  /// A number of percent with its sign, as in `10%`; `nil` for anything else and for negative ones.
  public init?(_ text: String) {
    guard text.hasSuffix("%"), let percent = Double(text.dropLast()), percent >= 0,
      percent.isFinite
    else { return nil }
    share = percent / 100
  }
}

extension BaselineComparison {
  /// A sentence for each kind of difference. None of them prevents the comparison.
  private static func notes(now: BenchmarkReport, before: BenchmarkReport) -> [String] {
    var notes: [String] = []
    let machine = machine(now.machine, before.machine)
    if !machine.isEmpty {
      let isOther = !now.machine.isComparable(with: before.machine)
      notes.append(
        (isOther
          ? "the baseline was measured on another machine: times say little ("
          : "the machine was in another state: times may differ because of it (")
          + machine.joined(separator: "; ") + ")")
    }
    let program = program(now, before)
    if !program.isEmpty { notes.append("another program: " + program.joined(separator: "; ")) }
    let settings = settings(now.settings, before.settings)
    if !settings.isEmpty {
      notes.append("measured in another way: " + settings.joined(separator: "; "))
    }
    if now.settings.isCold != before.settings.isCold {
      notes.append("one of the two was measured with a cold cache, the other with a warm one")
    }
    for (name, report) in [("the baseline", before), ("the later report", now)] {
      notes += report.problems.map { "\(name): \($0)" }
    }
    return notes
  }

  private static func machine(
    _ now: MachineDescription, _ before: MachineDescription
  ) -> [String] {
    [
      change("processor", before.processor, now.processor),
      change("cores", "\(before.cores)", "\(now.cores)"),
      change("kernel", before.system, now.system),
      change("governor", before.governor, now.governor),
      change("file system", before.fileSystem, now.fileSystem),
    ].compactMap(\.self)
  }

  private static func program(_ now: BenchmarkReport, _ before: BenchmarkReport) -> [String] {
    var changes = [change("version", before.version, now.version)]
    if let old = before.build, let new = now.build {
      changes += [
        change("commit", old.commit ?? "unknown", new.commit ?? "unknown"),
        change("Swift", old.swift, new.swift),
        change("build", old.configuration, new.configuration),
      ]
      for name in Set(old.libraries.keys).union(new.libraries.keys).sorted() {
        changes.append(change(name, old.libraries[name] ?? "none", new.libraries[name] ?? "none"))
      }
    }
    if let old = before.peers, let new = now.peers {
      for name in Set(old.keys).intersection(new.keys).sorted() {
        changes.append(change(name, old[name], new[name]))
      }
    }
    return changes.compactMap(\.self)
  }

  private static func settings(
    _ now: BenchmarkReport.Settings, _ before: BenchmarkReport.Settings
  ) -> [String] {
    [
      change("pipeline", before.pipeline, now.pipeline),
      change("runs", "\(before.repeats)", "\(now.repeats)"),
      change("runs to warm up", "\(before.warmups)", "\(now.warmups)"),
    ].compactMap(\.self)
  }

  /// A note about a changed value that both reports have.
  private static func change(_ what: String, _ before: String?, _ now: String?) -> String? {
    guard let before, let now, before != now else { return nil }
    return "\(what) \(before) → \(now)"
  }
}

/// How the measured program was built.
public struct BuildDescription: Hashable, Sendable, Codable {
  /// The commit, followed by `+changes` if files had been changed; `nil` if unknown to the build.
  var commit: String?
  /// The Swift release that built it.
  public var swift: String
  /// `debug` or `release`. Figures of a debug build are meaningless.
  var configuration: String
  /// Versions at run time: FFmpeg's libraries and libpng.
  var libraries: [String: String]

  public init(
    commit: String?, swift: String, configuration: String, libraries: [String: String]
  ) {
    self.commit = commit
    self.swift = swift
    self.configuration = configuration
    self.libraries = libraries
  }

  var words: String {
    let versions = libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return
      (["commit \(commit ?? "unknown")", "Swift \(swift)", "\(configuration) build"]
      + [versions.joined(separator: ", ")].filter { !$0.isEmpty }).joined(separator: " · ")
  }
}

/// The values of one quantity in repeated runs.
public struct Distribution: Hashable, Sendable, Codable {
  /// In the order of the runs.
  public var samples: [Double]
  var minimum: Double
  var percentile10: Double
  public var median: Double
  var percentile90: Double
  var maximum: Double

  /// `nil` without samples.
  init?(_ samples: [Double]) {
    let sorted = samples.sorted()
    guard let first = sorted.first, let last = sorted.last else { return nil }
    self.samples = samples
    minimum = first
    maximum = last
    percentile10 = Self.percentile(0.1, ofSorted: sorted)
    median = Self.percentile(0.5, ofSorted: sorted)
    percentile90 = Self.percentile(0.9, ofSorted: sorted)
  }

  /// Interpolates linearly between two samples; `fraction` 0 is the smallest, 1 the largest.
  /// `sorted` must not be empty.
  private static func percentile(_ fraction: Double, ofSorted sorted: [Double]) -> Double {
    let place = fraction * Double(sorted.count - 1)
    let lower = Int(place)
    let upper = min(lower + 1, sorted.count - 1)
    return sorted[lower] + (sorted[upper] - sorted[lower]) * (place - Double(lower))
  }
}
