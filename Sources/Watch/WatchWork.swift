import Captures
import Engine
import Core

/// What a watcher processes captures with: made at its start and again when it is told to read its
/// pipeline anew.
public struct WatchWork: Sendable {
  public var batch: BatchRun
  var supervisor: Supervisor
  /// For `run.json`.
  var context: RunContext
  /// Without secrets.
  var pipelineText: String
  /// Tells pipelines and settings apart.
  var pipelineKey: String
  var program: ProgramIdentity

  /// `pipelineKey` cut to 16 characters: results of one are no measure for those of another.
  var diskKey: String { String(pipelineKey.prefix(16)) }

  public init(
    batch: BatchRun, supervisor: Supervisor, context: RunContext, pipelineText: String,
    pipelineKey: String, program: ProgramIdentity
  ) {
    self.batch = batch
    self.supervisor = supervisor
    self.context = context
    self.pipelineText = pipelineText
    self.pipelineKey = pipelineKey
    self.program = program
  }
}
