import Core
import SystemPackage
/// The resources used by several runs, by a whole program or by one stage.
public struct Figures: Hashable, Sendable, Codable {
  /// The stage, or `whole`.
  public var name: String
  public var frames: Int
  var wallSeconds: Distribution
  public var cpuSeconds: Distribution
  /// The maximum over all runs. For a whole program that of its largest process; for a stage that
  /// of the capture's process while it ran, including concurrent stages.
  public var peakMemoryBytes: Int64?
  /// Bytes in each run; for a whole program only.
  var peakMemory: Distribution?
  /// Bytes of the input files, for a whole program only: a stage reads parts of files, and artifacts that are gone
  /// by then.
  var inputBytes: Int64?
  /// Bytes of the written files.
  var outputBytes: Int64

  /// Computed from medians.
  var framesPerSecond: Double
  var cpuMillisecondsPerFrame: Double
  var inputBytesPerSecond: Double?
  var outputBytesPerSecond: Double
  /// Average number of busy cores.
  var busyCores: Double

  static let wholeName = "whole"

  init?(
    name: String, frames: Int, wallSeconds: [Double], cpuSeconds: [Double], peakMemoryBytes: Int64?,
    inputBytes: Int64?, outputBytes: Int64
  ) {
    guard let wall = Distribution(wallSeconds), let cpu = Distribution(cpuSeconds) else {
      return nil
    }
    self.name = name
    self.frames = frames
    self.wallSeconds = wall
    self.cpuSeconds = cpu
    self.peakMemoryBytes = peakMemoryBytes
    self.inputBytes = inputBytes
    self.outputBytes = outputBytes
    let seconds = max(wall.median, 1e-9)
    framesPerSecond = Double(frames) / seconds
    cpuMillisecondsPerFrame = frames > 0 ? 1000 * cpu.median / Double(frames) : 0
    inputBytesPerSecond = inputBytes.map { Double($0) / seconds }
    outputBytesPerSecond = Double(outputBytes) / seconds
    busyCores = cpu.median / seconds
  }

  /// Figures of a whole program.
  init?(
    name: String = Figures.wholeName, _ samples: [RunSample], frames: Int, inputBytes: Int64
  ) {
    self.init(
      name: name, frames: frames, wallSeconds: samples.map(\.wallSeconds),
      cpuSeconds: samples.map(\.cpuSeconds),
      peakMemoryBytes: samples.map(\.peakMemoryBytes).max(), inputBytes: inputBytes,
      outputBytes: samples.last?.outputBytes ?? 0)
    peakMemory = Distribution(samples.map { Double($0.peakMemoryBytes) })
  }

  /// Figures of every stage that ran, in the order of the last run.
  static func ofStages(_ samples: [RunSample]) -> [Figures] {
    (samples.last?.stages ?? []).compactMap { last in
      let runs = samples.compactMap { $0.stages.first { $0.stage == last.stage } }
        .filter { $0.outcome == "made" }
      return Figures(
        name: last.stage, frames: last.frames ?? 0, wallSeconds: runs.compactMap(\.seconds),
        cpuSeconds: runs.compactMap(\.cpuSeconds),
        peakMemoryBytes: runs.compactMap(\.peakMemoryBytes).max(),
        inputBytes: nil, outputBytes: last.bytes ?? 0)
    }
  }
}

/// The resources used by one run of a program.
struct RunSample: Hashable {
  var wallSeconds: Double
  /// User and system time of all its processes.
  var cpuSeconds: Double
  /// The part of `cpuSeconds` spent in the kernel.
  var systemSeconds: Double = 0
  /// Peak memory of the largest process.
  var peakMemoryBytes: Int64
  /// Size of the output files.
  var outputBytes: Int64
  /// Stages, for runs of this program.
  var stages: [RunOutcome.Stage] = []
}

extension RunSample {
  init(_ outcome: ProgramRunner.Outcome, outputIn folder: FilePath) {
    self.init(
      wallSeconds: outcome.wallSeconds, cpuSeconds: outcome.end.cpuSeconds,
      systemSeconds: outcome.end.systemSeconds, peakMemoryBytes: outcome.end.peakMemoryBytes,
      outputBytes: FileCost.bytes(inFolder: folder))
  }
}

/// The part of `run --json` that benchmarks read.
public struct RunOutcome: Hashable, Sendable, Decodable {
  public struct Stage: Hashable, Sendable, Decodable {
    public var stage: String
    public var outcome: String
    var message: String?
    public var seconds: Double?
    public var cpuSeconds: Double?
    public var frames: Int?
    var bytes: Int64?
    public var peakMemoryBytes: Int64?
  }

  public struct Capture: Hashable, Sendable, Decodable {
    public var id: String
    public var outcome: String
    var message: String?
    public var stages: [Stage]
  }

  public var exit: Int
  public var captures: [Capture]

  /// The first problem of the run; its figures are then meaningless.
  var problem: String? {
    for capture in captures {
      for stage in capture.stages where stage.outcome == "failed" || stage.outcome == "blocked" {
        return
          "\(capture.id), stage \(stage.stage) \(stage.outcome): \(stage.message ?? "no reason given")"
      }
      if !["made", "up-to-date"].contains(capture.outcome) {
        return "\(capture.id) \(capture.outcome): \(capture.message ?? "no reason given")"
      }
    }
    return exit == 0 ? nil : "the run ended with code \(exit)"
  }
}
