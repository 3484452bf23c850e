import ArgumentParser
import Captures
import Cluster
import Engine
import Core
import Pages
import Synchronization
import SystemPackage

extension RunCommand {
  /// The supervisor of a run on a cluster.
  func clusterSupervisor(
    _ batch: BatchRun, _ source: PipelineSource, _ profile: ClusterProfile,
    _ pipeline: PipelineDefinition,
    _ runOptions: RunOptions
  ) throws -> ClusterSupervisor {
    let program = try profile.program.map { try FileSystem.absolute($0) } ?? ownProgram()
    let limits = ClusterLimits(
      profile, cores: options.processing.jobs == 0 ? nil : options.processing.jobs,
      memoryBytes: runOptions.memoryBytes, promised: Admission.expectedMemoryBytes(pipeline),
      asked: pipeline.resources(of: runOptions.selection.stages(of: pipeline)))
    return ClusterSupervisor(
      batch, source: source, profile: profile, limits: limits, options: runOptions,
      graceSeconds: try options.processing.graceSeconds(), program: Version.program,
      programPath: program,
      makeSystem: { SlurmSystem(profile: profile, runFolder: $0) })
  }

  private func ownProgram() throws -> FilePath {
    guard let program = ProgramPath.ofThisProgram else {
      throw CommandFailure(
        code: ExitStatus.internalError,
        text: "cannot find this program's own file, which elements run (is /proc mounted?)")
    }
    return program
  }

  /// Prints the ID or JSON description of a detached run.
  func announce(detached run: String, elements: Int, jobs: [String]) {
    struct Detached: Encodable {
      var schema = 1
      var run: String
      var elements: Int
      var jobs: [String]
    }
    if json {
      let answer = Detached(run: run, elements: elements, jobs: jobs)
      if let bytes = try? JSONText.pretty(answer) { Console.print(json: bytes) }
    } else {
      Console.print(run)
    }
  }
}

/// Whether the terminal is gone; thread-safe.
final class TerminalGone: Sendable {
  private let state = Mutex(false)
  var isTrue: Bool { state.withLock { $0 } }
  func set() { state.withLock { $0 = true } }
}
