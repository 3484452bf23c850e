import Captures
import Pipeline
import Storage
import SystemPackage

/// Gathers from disk what the planner compares.
struct FactsCollector: Sendable {
  let summary: CaptureSummary
  let shelf: ArtifactShelf
  let digests: DigestCache
  /// Whether outputs are compared by digest, not by size only.
  let verify: Bool

  init(summary: CaptureSummary, shelf: ArtifactShelf, digests: DigestCache, verify: Bool) {
    self.summary = summary
    self.shelf = shelf
    self.digests = digests
    self.verify = verify
  }

  /// For a capture whose description is all that is at hand.
  init(summary: CaptureSummary, _ layout: OutputLayout, verify: Bool) {
    self.init(
      summary: summary, shelf: ArtifactShelf(layout), digests: DigestCache(layout.digestCache),
      verify: verify)
  }

  /// - Parameter forPlan: input files of a stage that has nothing published are not digested: the plan
  ///   does not need them.
  func facts(of stage: StageDefinition, forPlan: Bool) throws(FileError) -> StageFacts {
    let published = shelf.published(stage.name, verify: verify)
    var facts = StageFacts(
      applicability: stage.kind.applicability(stage.parameters, summary), published: published)
    guard case .applies = facts.applicability, !(forPlan && published == nil) else { return facts }
    facts.captureInputs = try captureInputs(of: stage)
    for (name, path) in stage.kind.externalFiles(stage.parameters, summary) {
      facts.external[name] = try digests.digest(of: path)
    }
    return facts
  }

  /// All stages of a pipeline; a file that cannot be read counts as changed, and the job will say why.
  func facts(of pipeline: PipelineDefinition) -> [String: StageFacts] {
    var all: [String: StageFacts] = [:]
    for stage in pipeline.stages {
      do throws(FileError) {
        all[stage.name] = try facts(of: stage, forPlan: true)
      } catch {
        all[stage.name] = StageFacts(
          applicability: stage.kind.applicability(stage.parameters, summary),
          published: shelf.published(stage.name, verify: false))
      }
    }
    return all
  }

  /// The files that a stage reads from the capture, without duplicates.
  func captureFiles(of stage: StageDefinition) -> [FilePath] {
    var seen: Set<String> = []
    return parts(of: stage).flatMap { summary.files[$0] ?? [] }
      .filter { seen.insert($0).inserted }.map { FilePath($0) }
  }

  private func captureInputs(of stage: StageDefinition) throws(FileError) -> CaptureInputs? {
    let parts = parts(of: stage)
    guard !parts.isEmpty else { return nil }
    var files: [String: [Digest]] = [:]
    for part in parts {
      var list: [Digest] = []
      for path in summary.files[part] ?? [] {
        list.append(try digests.digest(of: FilePath(path)))
      }
      files[part.rawValue] = list
    }
    return CaptureInputs(
      family: summary.family, readerVersion: summary.readerVersion, files: files)
  }

  private func parts(of stage: StageDefinition) -> [CapturePart] {
    stage.kind.reads(stage.parameters, connected: Set(stage.inputs.map(\.port)))
      .sorted { $0.rawValue < $1.rawValue }
  }
}
