import Captures
import Core
import SystemPackage

/// Gathers from disk what the planner compares.
struct FactsCollector {
  let summary: CaptureSummary
  /// The capture's; the file if the capture is one file.
  let folder: FilePath
  let store: ArtifactStore
  let digests: DigestCache
  /// Whether outputs are compared by digest, not by size only.
  let verify: Bool
  /// What was opened, and when that began; `nil`: its description is all that is at hand.
  var opened: (recognition: Recognition, mark: DeviceErrors.Mark)?
}

extension FactsCollector {
  /// For a capture whose description is all that is at hand.
  init(summary: CaptureSummary, folder: FilePath, _ layout: OutputLayout, verify: Bool) {
    self.init(
      summary: summary, folder: folder, store: ArtifactStore(layout),
      digests: DigestCache(layout.digestCache, capture: folder), verify: verify)
  }

  /// Files in the folder of an artifact that its record does not list; without `verify` none is looked for.
  func unlisted(in stage: String) -> [String] { verify ? store.unlisted(in: stage) : [] }

  /// Notes the digests of files that were read for them, where that took reading much. Failing to is no harm and not
  /// reported.
  func noteDigests(in notes: HeldFolder) {
    if digests.unsavedBytes >= 1 << 20 { digests.save(in: notes) }
  }

  /// - Parameter forPlan: input files of a stage that has nothing published are not digested: the plan
  ///   does not need them.
  func facts(of stage: StageDefinition, forPlan: Bool) throws(FileError) -> StageFacts {
    let published = store.published(stage.name, verify: verify)
    var facts = StageFacts(applicability: stage.applicability(summary), published: published)
    if case .nothingLeft(let warning) = facts.applicability, let record = published?.record,
      !isOfSameFiles(record, try captureInputs(of: stage))
    {
      facts.applicability = .notApplicable(warning.message)
    }
    if let why = vanished(of: stage, facts) { facts.applicability = .unreadable(why) }
    facts.libraries = stage.kind.libraries(stage.parameters, summary)
    if case .applies = facts.applicability {
      facts.empty = empty(stage, beside: published)
      // What a record says that is not to be believed does not make the folder ours.
      if published?.isUnsound != false {
        (facts.obstacle, facts.hasLostRecord) = obstacle(stage.name)
      } else if case .missing(let names) = published?.state {
        facts.obstacle = store.unknown(names, of: stage.name)
      }
    }
    guard case .applies = facts.applicability,
      !(forPlan && published == nil && facts.empty == nil)
    else { return facts }
    facts.captureInputs = try captureInputs(of: stage)
    for (name, path) in stage.kind.externalFiles(stage.parameters, summary) {
      EnclosedPaths.leaveOpen(path)
      facts.external[name] = try digests.digest(of: path)
    }
    return facts
  }

  /// The note that a stage has nothing to do. What is published counts more, unless these parameters leave no frame of
  /// the same files.
  private func empty(
    _ stage: StageDefinition, beside published: PublishedArtifact?
  ) -> ArtifactRecord? {
    guard let record = published?.record else { return store.empty(stage.name) }
    let parameters = stage.parameters.json
    guard record.parameters != parameters, let empty = store.empty(stage.name),
      empty.parameters == parameters,
      StageDoesNotApply("", warnings: empty.warnings).keepsPublished,
      isOfSameFiles(record, empty.inputs.capture)
    else { return nil }
    return empty
  }

  /// Whether an artifact was made from these files, as far as both name the same parts.
  func isOfSameFiles(_ record: ArtifactRecord, _ inputs: CaptureInputs?) -> Bool {
    guard let old = record.inputs.capture, let inputs else { return true }
    return old.family == inputs.family
      && old.files.allSatisfy { part, digests in inputs.files[part].map { $0 == digests } ?? true }
  }

  /// Why the artifact of a stage that has none cannot be published, or what is there cannot be known. Or that it is
  /// ours, and its record is gone. Cost: a system call where nothing is in its place.
  private func obstacle(_ stage: String) -> (error: FileError?, hasLostRecord: Bool) {
    let layout = store.layout
    let place = layout.artifact(stage)
    guard FileSystem.exists(place), let output = try? CaptureOutput(existing: layout) else {
      return (nil, false)
    }
    do throws(FileError) {
      try output.checkPlace(stage)
      return (nil, try output.place(stage) == .ours)
    } catch {
      return (error.kind == .notOurs || error.leavesUnknown ? error : nil, false)
    }
  }

  /// A stage that has nothing to do only because a file is gone that the same parameters named when its
  /// artifact was made. Taken for a capture without anything to align, what is published would be removed
  /// and every table that names it emptied.
  private func vanished(of stage: StageDefinition, _ facts: StageFacts) -> String? {
    guard case .notApplicable = facts.applicability, let record = facts.published?.record,
      !record.inputs.external.isEmpty, record.parameters == stage.parameters.json
    else { return nil }
    let named = stage.kind.externalFiles(stage.parameters, summary)
    let gone = record.inputs.external.keys.filter { named[$0] == nil }.sorted()
    guard !gone.isEmpty else { return nil }
    return
      "what is published was made with the file of '\(gone.joined(separator: "', '"))', which is gone; "
      + "put it back, or change the parameter"
  }

  /// All stages of a pipeline; a file that cannot be read counts as changed, and the job will say why.
  func facts(of pipeline: PipelineDefinition) -> [String: StageFacts] {
    var all: [String: StageFacts] = [:]
    for stage in pipeline.stages {
      do throws(FileError) {
        all[stage.name] = try facts(of: stage, forPlan: true)
      } catch {
        all[stage.name] = StageFacts(
          applicability: stage.applicability(summary),
          published: store.published(stage.name, verify: false))
      }
    }
    return all
  }

  /// The files that a stage reads from the capture, and those of the parts that it has copied, without duplicates.
  func captureFiles(
    of stage: StageDefinition, copied: Set<CapturePart> = []
  ) -> [FilePath] {
    (parts(of: stage) + copied.sorted { $0.rawValue < $1.rawValue })
      .flatMap { summary.files[$0] ?? [] }.uniqued.map { FilePath(text: $0) }
  }

  /// Files of the capture that the machine has failed at since it was opened, or since `mark`, oldest first.
  func deviceErrors(since mark: DeviceErrors.Mark? = nil) -> [FileError] {
    opened.map { $0.recognition.deviceErrors(since: mark ?? $0.mark) } ?? []
  }

  private func captureInputs(of stage: StageDefinition) throws(FileError) -> CaptureInputs? {
    let parts = parts(of: stage)
    guard !parts.isEmpty else { return nil }
    var files: [String: [Digest]] = [:]
    for part in parts {
      files[part.rawValue] = try digests.digests(of: summary.files[part] ?? [])
    }
    if stage.kind.readsFolder(stage.parameters) {
      files[CaptureInputs.folderKey] = try folderDigests()
    }
    return CaptureInputs(
      family: summary.family, readerVersion: summary.readerVersion, files: files)
  }

  /// What lies in the capture's folder now, or the file that the capture is; `nil` when it cannot be
  /// listed.
  func folderListing() -> InputListing? { InputListing.all(in: folder.text) }

  /// One digest per file of name and content; a link that leads out of the capture counts by its name
  /// and is not followed.
  private func folderDigests() throws(FileError) -> [Digest] {
    let mark = DeviceErrors.mark
    guard let listing = folderListing() else {
      throw DeviceErrors.since(mark, at: folder).first
        ?? FileError(
          kind: .other, path: folder, operation: "list",
          reason: "cannot be read, or holds too many files to be shown to a program")
    }
    if listing.isOneFile {
      return [Digest(of: "\0\(try digests.digest(of: folder).hex)")]
    }
    let root = try EnclosedFolder(folder)
    var list: [Digest] = []
    for entry in listing.entries {
      let path = folder.pushing(FilePath(text: entry.name))
      let isOutside: Bool
      switch root.look(at: entry.name) {
      case .outside: isOutside = true
      case .failed(let error): throw error
      default: isOutside = false
      }
      let content = isOutside ? "leads outside" : try digests.digest(of: path).hex
      list.append(Digest(of: "\(entry.name)\0\(content)"))
    }
    return list
  }

  private func parts(of stage: StageDefinition) -> [CapturePart] {
    stage.kind.reads(stage.parameters, connected: Set(stage.inputs.map(\.port)))
      .sorted { $0.rawValue < $1.rawValue }
  }
}
