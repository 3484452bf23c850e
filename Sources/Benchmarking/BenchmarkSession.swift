import Processes
import Storage
import SystemPackage

/// Measures runs of this program and of peers, each with an empty output folder that is removed after it.
public struct BenchmarkSession: Sendable {
  private let program: String
  private let scratch: FilePath
  private let runner: ProgramRunner
  private let settings: BenchmarkReport.Settings
  /// Called with what is about to run; throws to end the benchmark.
  private let willRun: @Sendable (String) throws -> Void

  /// What to run on.
  public struct Subject: Sendable {
    /// As given to `run`.
    public var path: String
    public var inputs: [FilePath]
    public var frames: Int

    public init(path: String, inputs: [FilePath], frames: Int) {
      self.path = path
      self.inputs = inputs
      self.frames = frames
    }
  }

  /// - Parameters:
  ///   - program: the executable that is measured.
  ///   - scratch: a folder for output and words; on the file system that results would go to.
  public init(
    program: FilePath, scratch: FilePath, settings: BenchmarkReport.Settings,
    willRun: @escaping @Sendable (String) throws -> Void
  ) {
    self.program = program.string
    self.scratch = scratch
    self.settings = settings
    self.willRun = willRun
    runner = ProgramRunner(wordsIn: scratch)
  }

  /// The whole pipeline, once per number of jobs and repetition, the numbers of jobs in turn.
  public func measure(_ subject: Subject, jobs: [Int]) throws -> [(jobs: Int, samples: [RunSample])]
  {
    let samples = try inTurn(jobs.count) { index in
      try run(subject, jobs: jobs[index], ["--pipeline", settings.pipeline])
    }
    return zip(jobs, samples).map { ($0, $1) }
  }

  /// The color stage of the default pipeline against peers on `video`, all in turn on all cores.
  public func compare(
    _ subject: Subject, video: FilePath, compressions: [String], peers: [PeerCommand],
    peerProgram: String
  ) throws -> PeerComparison {
    let ours = compressions.map { "scanmill, \($0)" }
    let samples = try inTurn(ours.count + peers.count) { index in
      if index < ours.count {
        var sample = try run(
          subject, jobs: 0,
          ["--only", "color", "--set", "color.compression=\(compressions[index])"])
        if let bytes = sample.stages.first(where: { $0.stage == "color" })?.outputBytes {
          sample.outputBytes = bytes
        }
        return sample
      }
      let peer = peers[index - ours.count]
      try willRun(peer.name)
      return try self.sample(peerProgram, subject) {
        peer.arguments(video: video.string, folder: $0.string)
      }.sample
    }
    return PeerComparison(
      note: "color export and ffmpeg in turn on the same video, all cores",
      ours: Array(zip(ours, samples)),
      peers: Array(zip(peers.map(\.name), samples.dropFirst(ours.count))), frames: subject.frames,
      inputBytes: FileCost.bytes(of: [video]))
  }

  /// Runs 0 ..< count in turn, first to warm up, then to measure; a slow minute of the machine hits all.
  private func inTurn(
    _ count: Int, _ body: (Int) throws -> RunSample
  ) throws -> [[RunSample]] {
    var samples = [[RunSample]](repeating: [], count: count)
    for round in 0..<(settings.warmups + settings.repeats) {
      for index in 0..<count {
        let sample = try body(index)
        if round >= settings.warmups { samples[index].append(sample) }
      }
    }
    return samples
  }

  private func run(_ subject: Subject, jobs: Int, _ options: [String]) throws -> RunSample {
    try willRun(([subject.path, "-j", "\(jobs)"] + options).joined(separator: " "))
    let (outcome, sample) = try sample(program, subject) {
      ["run", subject.path, "--output", $0.string, "--json", "-q", "--progress", "none"]
        + ["-j", "\(jobs)"] + options
    }
    guard let report = try? RunOutcome(json: outcome.output) else {
      throw BenchmarkError("a run printed no report and \(outcome.end.phrase)")
    }
    if let problem = report.problem { throw BenchmarkError(problem) }
    var own = sample
    own.stages = report.captures.first?.stages ?? []
    return own
  }

  /// `arguments` gets the folder for output.
  private func sample(
    _ program: String, _ subject: Subject, _ arguments: (FilePath) -> [String]
  ) throws -> (outcome: ProgramRunner.Outcome, sample: RunSample) {
    let folder = scratch.appending("output")
    try FileSystem.remove(folder)
    try FileSystem.makeFolder(folder)
    defer { try? FileSystem.remove(folder) }
    if settings.isCold { FileCost.dropFromCache(subject.inputs) }
    let outcome = try runner.run(program, arguments(folder))
    guard outcome.end.isSuccess else {
      let words = String(decoding: outcome.error.suffix(2000), as: UTF8.self)
      throw BenchmarkError("\(program) \(outcome.end.phrase): \(words)")
    }
    let sample = RunSample(
      wallSeconds: outcome.wallSeconds, cpuSeconds: outcome.end.cpuSeconds,
      peakMemoryBytes: outcome.end.peakMemoryBytes, outputBytes: FileCost.bytes(inFolder: folder))
    return (outcome, sample)
  }
}
