import Core
import Synchronization

/// What a run asks for, put together with what each capture was asked for before.
package final class RunRequest: Sendable {
  /// What a run does about captures with one history.
  struct Joined {
    /// The requests that a run records for the capture.
    var requests: Requests
    /// The pipeline as requested, before it is adapted to a capture.
    var requested: RequestedPipeline
    var planner: Planner
    /// Settings of earlier requests that this one leaves in force.
    var held: [ParameterSetting] = []
  }

  /// The pipeline as it was given, with secrets.
  let pipeline: PipelineDefinition
  let source: PipelineSource?
  private let selection: Selection
  /// Whether it makes again what `clean` removed.
  private let isByHand: Bool
  private let reader: RequestReader
  private let known = Mutex<[Requests: Joined]>([:])

  /// - Parameter registry: `nil`: only kinds of stages that the pipeline has are known.
  convenience init(
    _ pipeline: PipelineDefinition, _ options: RunOptions, _ registry: StageRegistry?
  ) {
    self.init(
      pipeline, options.pipelineSource, selection: options.selection, isByHand: options.isByHand,
      RequestReader(registry ?? StageRegistry(pipeline.stages.map(\.kind))))
  }

  init(
    _ pipeline: PipelineDefinition, _ source: PipelineSource?, selection: Selection = Selection(),
    isByHand: Bool = true, _ reader: RequestReader
  ) {
    self.pipeline = pipeline
    self.source = source
    self.selection = selection
    self.isByHand = isByHand
    self.reader = reader
  }

  /// - Parameter noted: what a capture was asked for so far.
  func joined(to noted: Requests) -> Joined {
    if let known = known.withLock({ $0[noted] }) { return known }
    let result = join(noted)
    known.withLock { $0[noted] = result }
    return result
  }

  /// The pipeline as it was given, whatever was asked for before.
  private func alone(_ requests: Requests) -> Joined {
    Joined(
      requests: requests,
      requested: RequestedPipeline(pipeline: pipeline, choice: StageChoice(selection)),
      planner: Planner(pipeline, selection: selection))
  }

  private func join(_ noted: Requests) -> Joined {
    guard let source else { return alone(noted) }
    var all = noted.adding(source, reader)
    guard var whole = reader.read(all, last: pipeline) else { return alone(all) }
    if isByHand {
      let own =
        selection.limits == nil
        ? Set(pipeline.stages.map(\.name)) : selection.stages(of: whole.pipeline)
      all.cleaned = all.cleaned.filter { !own.contains($0.key) }
    }
    if selection.limits != nil { whole.choice = StageChoice(selection) }
    let withoutSecrets = withoutSecrets(whole.pipeline)
    whole.choice.cleaned = Set(all.cleaned.keys).subtracting(withoutSecrets)
    whole.choice.without = Set(all.cleaned.keys).union(withoutSecrets)
    let own = source.settings + (source.settingsOfOthers ?? [])
    let chosen = whole.choice.stages(of: whole.pipeline)
    let stages = Dictionary(uniqueKeysWithValues: whole.pipeline.stages.map { ($0.name, $0) })
    return Joined(
      requests: all, requested: whole,
      planner: Planner(whole.pipeline, selection: selection, choice: whole.choice),
      held: whole.settings.filter { setting in
        let owners = PipelineReader.owners(of: setting.parameter, in: setting.stage, stages)
        let isNamed = pipeline[setting.stage]?.parameters.named.contains(setting.parameter) == true
        return !isNamed && !chosen.isDisjoint(with: owners)
          && !own.contains { $0.isAboutSame(as: setting) }
      })
  }

  /// Stages of earlier requests whose secrets only digests are noted of: they cannot be made without naming them anew.
  private func withoutSecrets(_ whole: PipelineDefinition) -> [String] {
    whole.stages.filter { stage in
      let hidden = stage.kind.parameters.filter(\.isSecret).map(\.name)
      return hidden.contains { name in
        guard case .list(let texts)? = stage.parameters[name] else { return false }
        return pipeline[stage.name]?.parameters.named.contains(name) != true
          && texts.contains { $0.contains("sha256:") }
      }
    }.map(\.name)
  }
}
