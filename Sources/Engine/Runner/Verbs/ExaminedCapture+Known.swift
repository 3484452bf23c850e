import Captures
import Core
import SystemPackage

/// What others want to know of an examined capture.
extension ExaminedCapture {
  /// Records of what is published, in pipeline order.
  public var published: [ArtifactRecord] { artifacts.map(\.record) }

  /// Published artifacts, with whether they are there.
  public var artifacts: [PublishedArtifact] {
    pipeline.stages.compactMap { facts[$0.name]?.published }
  }

  /// The verdict on its quality, of records that are to be believed; `nil`: no stage has judged it.
  public var quality: CaptureQuality? {
    pipeline.stages.compactMap { stage -> ArtifactRecord? in
      guard let published = facts[stage.name]?.published else { return nil }
      if case .unsound = published.state { return nil }
      return published.record
    }.quality
  }

  /// Whether its stages look at files that lie in neither the capture nor the output: calibrations that a
  /// parameter names, folders that programs are shown.
  var readsOtherFiles: Bool {
    let summary = collector?.summary ?? cache?.summary
    return pipeline.stages.contains { stage in
      let external = summary.map { stage.kind.externalFiles(stage.parameters, $0) } ?? [:]
      let record = facts[stage.name]?.published?.record
      return !external.isEmpty || record?.inputs.external.isEmpty == false
        || stage.kind.readsFolder(stage.parameters)
        || stage.kind.parameters.contains {
          Self.isPath($0) && stage.parameters.text($0.name) != nil
        }
    }
  }

  private static func isPath(_ parameter: ParameterDescription) -> Bool {
    switch parameter.kind {
    case .file, .folder: true
    default: false
    }
  }

  /// How the last attempts of stages that were asked for failed, in pipeline order.
  var failures: [FailureNote] {
    let asked = asked
    return FailureNote.all(
      of: pipeline.stages.map(\.name).filter { asked.contains($0) }, in: open)
  }

  /// Files of the capture as they were found, for who looks at them again at once; `nil` where it had to be opened.
  func seenInputs(_ manifest: UploadCounts?) -> EntrySources.Seen? {
    inputs.map { EntrySources.Seen(inputs: $0, digests: digests, manifest: manifest) }
  }
}
