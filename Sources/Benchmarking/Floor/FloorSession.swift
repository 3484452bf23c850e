import Core
import SystemPackage

/// Measures runs of this program and the parts of the floor alternately, each in a separate
/// process.
///
/// Every run and every copy has its own folder, and nothing is removed here: creating files within
/// seconds after others were deleted takes several times the system time. The caller removes
/// everything at the end.
struct FloorSession {
  /// The executable to measure; its verb `floor` also measures the parts.
  let program: FilePath
  /// For everything that is written, on the file system to be measured.
  let folder: FilePath
  let settings: BenchmarkReport.Settings
  /// As `run -j`.
  let jobs: Int
  let runner: ProgramRunner
  /// Called before each run with its description; throws to end the benchmark.
  let willRun: @Sendable (String) throws -> Void

  /// The result: figures, and the runs of all stages, for other tables.
  public struct Measured: Sendable {
    var figures: FloorFigures
    /// Empty when a stage of the pipeline failed.
    var wholeRuns: [RunSample]
  }

  /// - Parameter usedJobs: the number of cores that `jobs` means.
  /// - Throws: `FileError` (`noSpace`) before anything is written if the disk space does not
  ///   suffice; `BenchmarkError` when a program cannot be measured. A failed stage is left out with
  ///   a note.
  func measure(_ subject: BenchmarkSubject, usedJobs: Int) throws -> Measured {
    var figures = FloorFigures(jobs: usedJobs, rounds: settings.repeats)
    figures.notes = subject.floorNotes
    var stages = subject.stages.filter { !$0.reading.isEmpty }
    var rounds = FloorRounds()
    var wholeRuns: [RunSample] = []
    // The run's output and its copy, of each stage and of all together.
    let expected = stages.map { min($0.expectedBytes, 1 << 60 / 3) }.reduce(0, &+)
    try FileSystem.checkSpace(for: 3 * expected, at: folder)
    var isEverything = true
    let total = settings.warmups + settings.repeats
    for number in 0..<total {
      let place = folder.appending("round-\(number)")
      var round: [FloorRounds.Stage] = []
      // Written by the round, without the run of all stages.
      var bytes: Int64 = 0
      for stage in stages {
        do {
          let (samples, written) = try measure(stage, of: subject, in: place)
          round.append(samples)
          bytes += written
        } catch let error as BenchmarkError where error.isOfStage {
          guard number == 0 else {
            throw BenchmarkError(description: "\(stage.name): \(error)")
          }
          figures.notes.append("\(stage.name): left out, \(error)")
          stages.removeAll { $0 == stage }
          isEverything = false
        }
      }
      if stages.isEmpty { return Measured(figures: figures, wholeRuns: []) }
      let whole: RunSample
      do {
        whole = try runAll(isEverything ? [] : stages, of: subject, in: place)
      } catch let error as BenchmarkError where error.isOfStage {
        guard number == 0, isEverything else { throw error }
        figures.notes.append("whole: stages with a floor only, \(error)")
        isEverything = false
        whole = try runAll(stages, of: subject, in: place)
      }
      if number >= settings.warmups {
        rounds.add(round, whole: FloorSample(whole))
        if isEverything { wholeRuns.append(whole) }
      }
      if number == 0 { try prepare(for: bytes + whole.outputBytes, rounds: total - 1, &figures) }
    }
    figures.stages = rounds.figures
    figures.whole = rounds.wholeFigures(frames: subject.frames)
    figures.notes += rounds.notes
    return Measured(figures: figures, wholeRuns: wholeRuns)
  }

  /// Checks the disk space once the first round has shown how much each writes, and touches the
  /// memory that the page cache will use.
  private func prepare(
    for once: Int64, rounds: Int, _ figures: inout FloorFigures
  ) throws {
    let (all, overflow) = once.multipliedReportingOverflow(by: Int64(rounds))
    try FileSystem.checkSpace(for: overflow ? .max : all, at: folder)
    guard rounds > 0, settings.warmups > 0 else { return }
    try willRun("floor touch \(all)")
    let outcome = try runner.run(program.string, ["floor", "touch", "\(all)"])
    guard outcome.end.isSuccess else { throw Self.failure("floor touch", outcome) }
    figures.notes.append(
      "every run and copy wrote to a new folder, \(ByteCount.text(once)) a round, all removed at the end; "
        + "the warm-up round and memory touched once came before")
  }

  private func measure(
    _ stage: BenchmarkSubject.Stage, of subject: BenchmarkSubject, in folder: FilePath
  ) throws -> (samples: FloorRounds.Stage, bytes: Int64) {
    var samples = FloorRounds.Stage(name: stage.name)
    samples.reading = stage.reading
    for part in stage.reading {
      samples.parts[part] = [try measure(part, [subject.path.string])]
    }
    let output = folder.appending("ours-\(stage.name)")
    let ours = try run(subject, to: output, ["--until", stage.name])
    samples.ours = [FloorSample(ours)]
    guard let artifact = BenchmarkSession.artifact(stage.name, in: output) else {
      throw BenchmarkError(description: "it wrote nothing", isOfStage: true)
    }
    let copy = folder.appending("copy-\(stage.name)")
    let copied = try measure(.copy, [artifact.string, copy.string])
    samples.parts[.copy] = [copied]
    // Otherwise the kernel would write the copy back during the next run.
    try HeldFolder.following(copy).flushFileSystem()
    return (samples, ours.outputBytes + copied.bytes)
  }

  /// Runs the pipeline up to these stages; without any, all of it.
  private func runAll(
    _ stages: [BenchmarkSubject.Stage], of subject: BenchmarkSubject, in folder: FilePath
  ) throws -> RunSample {
    try run(
      subject, to: folder.appending(stages.isEmpty ? "ours" : "ours-stages"),
      stages.flatMap { ["--until", $0.name] })
  }

  private func measure(_ part: FloorPart, _ words: [String]) throws -> FloorSample {
    let words = ["floor", part.rawValue] + words
    try willRun(words.joined(separator: " "))
    let outcome = try runner.run(program.string, words)
    guard outcome.end.isSuccess, let sample = try? FloorSample(json: outcome.output) else {
      throw Self.failure(words.joined(separator: " "), outcome)
    }
    return sample
  }

  private func run(
    _ subject: BenchmarkSubject, to output: FilePath, _ options: [String]
  ) throws -> RunSample {
    let words = ["-j", "\(JobNumbers.cores(of: jobs))", "--pipeline", settings.pipeline] + options
    try willRun(([subject.path.string] + words).joined(separator: " "))
    let outcome = try runner.run(
      program.string,
      ["run", subject.path.string, "--output", output.string, "--json", "-q", "--progress", "none"]
        + ["--grace", "1s"] + words)
    guard let report = try? RunOutcome(json: outcome.output) else {
      throw Self.failure("run", outcome)
    }
    if let problem = report.problem { throw BenchmarkError(description: problem, isOfStage: true) }
    var sample = RunSample(outcome, outputIn: output)
    sample.stages = report.captures.first?.stages ?? []
    return sample
  }

  private static func failure(_ what: String, _ outcome: ProgramRunner.Outcome) -> BenchmarkError {
    BenchmarkError(description: "\(what) \(outcome.end.phrase): \(outcome.lastWords)")
  }
}

extension FloorRounds {
  mutating func add(_ round: [Stage], whole: FloorSample) {
    for new in round {
      if let index = stages.firstIndex(where: { $0.name == new.name }) {
        stages[index].ours += new.ours
        for (part, samples) in new.parts { stages[index].parts[part, default: []] += samples }
      } else {
        stages.append(new)
      }
    }
    self.whole.append(whole)
  }

  /// Notes about these samples.
  var notes: [String] {
    var notes: [String] = []
    for stage in stages {
      let problem = stage.parts.values.joined().lazy.compactMap(\.problem).first
      if let problem { notes.append("\(stage.name): the floor is of what can be read: \(problem)") }
    }
    if systemTimeSpread > 1.5 {
      notes.append(
        "system time of the same run varied by \(shortText(systemTimeSpread)) times: compare user time"
      )
    }
    return notes
  }
}

extension FloorSample {
  /// From one run of this program.
  init(_ run: RunSample) {
    self.init(
      userSeconds: max(0, run.cpuSeconds - run.systemSeconds), systemSeconds: run.systemSeconds,
      wallSeconds: run.wallSeconds, bytes: run.outputBytes)
  }
}

/// The samples of all measured rounds of one capture.
struct FloorRounds {
  /// The samples of one stage.
  struct Stage {
    var name: String
    /// Samples by part, in the order of the rounds.
    var parts: [FloorPart: [FloorSample]] = [:]
    var ours: [FloorSample] = []
    /// The parts that read for this stage.
    var reading: [FloorPart] = []

    var pictures: Int { parts[.copy]?.last?.pictures ?? 0 }
    var pixels: Int64 { parts[.copy]?.last?.pixels ?? 0 }
  }

  var stages: [Stage] = []
  var whole: [FloorSample] = []

  /// Figures of every stage that was measured.
  var figures: [FloorStage] {
    stages.compactMap { stage in
      let frames = stage.pictures
      func cost(_ part: FloorPart?) -> FloorCost? {
        part.flatMap { stage.parts[$0] }.flatMap { FloorCost($0, frames: frames) }
      }
      guard let copy = cost(.copy), let ours = FloorCost(stage.ours, frames: frames),
        let written = stage.parts[.copy]?.last
      else { return nil }
      return FloorStage(
        name: stage.name, frames: frames, pixels: stage.pixels, files: written.files,
        bytes: written.bytes, decode: cost(stage.reading.first { $0 != .convert }),
        convert: cost(stage.reading.first { $0 == .convert }), copy: copy, ours: ours)
    }
  }

  /// Figures of all stages in one run. What several stages read is decoded and counted once; parts
  /// are summed per round before medians are taken.
  ///
  /// - Parameter frames: frames of the capture, whose stages may have written different numbers of
  ///   pictures.
  func wholeFigures(frames: Int) -> FloorStage? {
    var counted: Set<FloorPart> = []
    var decode: [[FloorSample]] = []
    var convert: [[FloorSample]] = []
    for stage in stages {
      let fresh = stage.reading.filter { !counted.contains($0) }
      counted.formUnion(fresh)
      decode += fresh.filter { $0 != .convert }.compactMap { stage.parts[$0] }
      // If nothing is converted, the floor is reading alone.
      let last = fresh.contains(.convert) ? FloorPart.convert : fresh.first
      convert += [last.flatMap { stage.parts[$0] }].compactMap(\.self)
    }
    let copies = stages.compactMap { $0.parts[.copy] }
    guard let copy = FloorCost(Self.sum(copies), frames: frames),
      let ours = FloorCost(whole, frames: frames)
    else { return nil }
    let last = copies.compactMap(\.last)
    return FloorStage(
      name: Figures.wholeName, frames: frames, pixels: stages.map(\.pixels).reduce(0, &+),
      files: last.map(\.files).reduce(0, +), bytes: last.map(\.bytes).reduce(0, +),
      decode: FloorCost(Self.sum(decode), frames: frames),
      convert: counted.contains(.convert) ? FloorCost(Self.sum(convert), frames: frames) : nil,
      copy: copy, ours: ours)
  }

  /// The sums of times, per round.
  private static func sum(_ parts: [[FloorSample]]) -> [FloorSample] {
    let rounds = parts.map(\.count).min() ?? 0
    var sums: [FloorSample] = []
    for round in 0..<rounds {
      var sum = FloorSample()
      for part in parts { sum.add(part[round]) }
      sums.append(sum)
    }
    return sums
  }

  /// The largest system time of the runs as a multiple of the smallest, for the stage where it
  /// varies most.
  var systemTimeSpread: Double {
    stages.compactMap { stage -> Double? in
      let times = stage.ours.map(\.systemSeconds)
      guard let least = times.min(), let most = times.max(), least > 0.02 else { return nil }
      return most / least
    }.max() ?? 1
  }
}
