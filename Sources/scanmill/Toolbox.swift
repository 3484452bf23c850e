import Captures
import Media
import Stages
import Engine
import SystemPackage

/// The families and stages of this executable.
enum Toolbox {
  static let captures = CaptureRegistry.builtIn

  static let stages = StageRegistry.shipped

  /// What processes captures, which other processes open.
  ///
  /// - Parameters:
  ///   - atOnce: number of captures that are opened concurrently.
  ///   - mostSeconds: how long a capture is waited for that is opened.
  static func batch(
    _ pipeline: PipelineDefinition, _ options: RunOptions, atOnce: Int, mostSeconds: Double? = nil
  ) throws -> BatchRun {
    BatchRun(
      registry: captures, pipeline: pipeline, options: options,
      look: try InspectionCommand.client(atOnce: atOnce, mostSeconds: mostSeconds).look,
      stages: stages)
  }

  /// Throws if FFmpeg's libraries are obviously missing, before work starts. A library that exists
  /// but cannot be loaded is reported when the first video is opened.
  static func checkLibraries() throws {
    guard let problem = FFmpegLibraries.obviousProblem else { return }
    throw CommandFailure(
      FailureTable.failure(.ourselves, .noSuchFileOrDirectory).exit, problem)
  }
}
