import Captures
import Core
import SystemPackage

/// What a run leaves for those who come after it.
extension CaptureSession {
  /// Writes the cache unless it says the same already. Only for the holder of the lock, before the first
  /// stage: a killed run leaves a cache as well.
  func remember(_ source: PipelineSource?, in output: CaptureOutput) throws {
    guard let inputs else { return }
    try CaptureCache(
      capture, recognition, summary: collector.summary, inputs: inputs,
      pipeline: source ?? CaptureCache(of: layout)?.pipeline
    ).write(to: output)
  }

  /// Brings the owner's record up to date with what lies in the capture, so that it is known again where
  /// it is moved to. Only for the holder of the lock. Failing to is no harm and not reported.
  func rememberOwner(in output: CaptureOutput) {
    guard let inputs, var owner = OwnerRecord(in: layout) else { return }
    let before = owner
    owner.content = ContentKey.of(inputs, in: recognition)
    if owner != before { try? owner.replace(in: output.notes, layout) }
  }

  /// Writes the index that planning reads. Only for the holder of the lock, after the last stage and
  /// `capture.json`. Failing to is no harm and not reported.
  func writeIndex(
    for pipeline: PipelineDefinition, registry: CaptureRegistry, in output: CaptureOutput
  ) {
    guard let inputs, let cacheStamp = FileStamp(of: layout.captureCache) else { return }
    let index = RecordIndex(
      core: RecordIndex.Core(
        summary: collector.summary, generation: capture.generation, warnings: capture.warnings,
        inputs: inputs, document: FileStamp(of: layout.captureDocument),
        onlyCaptureBy: isOnlyCapture(registry) ? registry.signature : nil,
        pipeline: CaptureCache.digest(of: CaptureCache(of: layout)?.pipeline)),
      digests: digests.remembered, records: records(of: pipeline))
    guard let bytes = try? index.encoded(cacheStamp: cacheStamp),
      (try? output.notes.contents(of: layout.indexName)) != .some(bytes)
    else { return }
    try? output.notes.replace(layout.indexName, with: bytes, durably: false)
  }

  /// Whether the folder holds this capture and no other, so that it need not be recognized again.
  private func isOnlyCapture(_ registry: CaptureRegistry) -> Bool {
    guard recognition.isWholeFolder, recognition.id == collector.summary.id,
      let listing = try? FolderListing(of: recognition.folder)
    else { return false }
    let found = registry.recognize(listing)
    return found.count == 1 && found[0] == recognition
  }

  /// The believable records of all stages with the stamps of their files, taken before they are read.
  private func records(of pipeline: PipelineDefinition) -> [String: RecordIndex.Entry] {
    var records: [String: RecordIndex.Entry] = [:]
    for stage in pipeline.stages {
      for file in [layout.record(stage.name), layout.removedRecord(stage.name)] {
        guard let stamp = FileStamp(of: file),
          let record = ArtifactRecord(at: file, of: layout),
          record.problem(of: stage.name) == nil
        else { continue }
        records[stage.name] = RecordIndex.Entry(
          stamp: stamp, isSound: record.isSound, record: record)
        break
      }
    }
    return records
  }

  /// Removes what earlier runs published of stages that have nothing to do for this capture any more:
  /// folders of such stages are absent. Only for the holder of the lock.
  func removeInapplicable(
    for pipeline: PipelineDefinition, in output: CaptureOutput, attempt: String
  ) throws(FileError) {
    let pipeline = pipeline.adapted(
      to: collector.summary, Selection(), known: collector.store.known)
    for stage in Self.inapplicable(
      pipeline, collector.facts(of: pipeline).mapValues(\.applicability))
    {
      // Only what is ours.
      if try output.place(stage) == .ours { try output.removeArtifact(stage, attempt: attempt) }
      try output.existingRemovedRecords()?.remove("\(stage).json")
      try output.removeFailure(stage)
    }
  }

  /// Stages without anything to do, themselves or because a required input has nothing.
  static func inapplicable(
    _ pipeline: PipelineDefinition, _ applicability: [String: Applicability]
  ) -> [String] {
    var names: Set<String> = []
    for stage in pipeline.stages {
      let isBehind = stage.inputs.contains { !$0.isOptional && names.contains($0.stage) }
      if case .notApplicable = applicability[stage.name] {
        names.insert(stage.name)
      } else if isBehind {
        names.insert(stage.name)
      }
    }
    return pipeline.stages.map(\.name).filter(names.contains)
  }
}
