import Captures
import Core
import FoundationEssentials
import Synchronization
import SystemPackage

/// Looks at what is published of captures, without a lock and without writing: also while a run goes on.
///
/// May be used from several threads.
public final class OutputExaminer: Sendable {
  let captures: CaptureRegistry
  private let stages: StageRegistry
  /// In place of the pipelines that the captures were processed with.
  private let chosen: PipelineDefinition?
  /// For captures that have no cache.
  private let standard: PipelineDefinition
  /// On top of the pipelines that the captures were processed with.
  private let settings: [ParameterSetting]
  private let look: CaptureLook
  private let pool = ParameterPool()
  /// Thousands of captures share a few.
  private let read = Mutex<[PipelineSource: PipelineDefinition]>([:])
  /// Pipelines with stages that earlier runs asked for.
  private let joined = Mutex<[Joined: PipelineDefinition]>([:])

  private struct Joined: Hashable {
    var last: PipelineSource
    var earlier: EarlierRequests
  }

  /// - Parameters:
  ///   - chosen: the pipeline to compare with; `nil`: that of each capture's last run, `standard` where
  ///     none is noted.
  ///   - settings: further parameters.
  ///   - look: opens captures that have changed since they were last opened; by default in this process.
  public init(
    captures: CaptureRegistry, stages: StageRegistry, chosen: PipelineDefinition?,
    standard: PipelineDefinition, settings: [ParameterSetting] = [], look: CaptureLook? = nil
  ) {
    self.look = look ?? CaptureSummary.look(captures)
    self.captures = captures
    self.stages = stages
    self.chosen = chosen
    self.standard = standard
    self.settings = settings
  }

  /// The pipeline that `cache`'s capture is compared with where nothing earlier is published, and a word about it
  /// where it is not the noted one. Throws `SettingError` for a setting that the pipeline does not know.
  public func pipeline(_ cache: CaptureCache?) throws -> (PipelineDefinition, note: String?) {
    func set(_ pipeline: PipelineDefinition) throws -> PipelineDefinition {
      try settings.reduce(pipeline) { try $0.setting($1) }
    }
    if let chosen { return (try set(chosen), nil) }
    guard let source = cache?.pipeline else {
      return (try set(standard), "its pipeline is not recorded; compared with \(standard.name)")
    }
    if let known = read.withLock({ $0[source] }) { return (known, nil) }
    let pipeline: PipelineDefinition
    do {
      pipeline = try source.definition(stages)
    } catch {
      return (
        try set(standard),
        "its pipeline \(source.name) cannot be read any more\(Self.reason(error)); compared with "
          + standard.name
      )
    }
    let changed = try set(pipeline)
    read.withLock { $0[source] = changed }
    return (changed, nil)
  }

  /// Why a pipeline or settings that an earlier version took are refused: a length without its unit, a parameter that
  /// there is no more.
  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as PipelineError:
      error.diagnostics.first.map { ": \($0.message)" } ?? ""
    default: ": \(error)"
    }
  }

  /// What a capture was asked for by its last run and those before it. A request that cannot be read any more
  /// is left out: nothing can be compared with it.
  private func request(_ open: OpenOutput, _ cache: CaptureCache?) throws -> Request {
    let (pipeline, note) = try pipeline(cache)
    var request = Request(pipeline: pipeline, note: note)
    guard chosen == nil, note == nil, let source = cache?.pipeline else { return request }
    request.limits = source.limits ?? Selection()
    let earlier = EarlierRequests(open)
    if earlier.requests.isEmpty { return request }
    let key = Joined(last: source, earlier: earlier)
    request.pipeline =
      joined.withLock { $0[key] }
      ?? earlier.requests.reduce(pipeline) { joined, earlier in
        (try? earlier.source.definition(stages)).map { joined.adding(earlier.stages, of: $0) }
          ?? joined
      }
    joined.withLock { [pipeline = request.pipeline] in $0[key] = pipeline }
    request.added = Set(request.pipeline.stages.map(\.name)).subtracting(
      pipeline.stages.map(\.name))
    return request
  }

  /// The pipeline that a capture is compared with, with stages that earlier runs asked for; before anything of it
  /// is opened.
  public func pipeline(of layout: OutputLayout) throws -> PipelineDefinition {
    let open = OpenOutput(layout)
    return try request(open, CaptureCache(open)).pipeline
  }

  /// Before it is known what is published.
  private struct Request {
    var pipeline: PipelineDefinition
    /// Limits of the last run.
    var limits = Selection()
    /// Stages that the pipeline of the last run does not have.
    var added: Set<String> = []
    var note: String?
  }

  /// Everything known of one capture.
  ///
  /// - Parameters:
  ///   - place: where the input is, if that is known better than from the notes.
  ///   - comparesTimesOnly: its files count as those of the last run by names, sizes and times of modification, so
  ///     that none is opened of a capture that was copied or restored; else by all stamps, and where these differ by
  ///     content.
  public func examine(
    _ layout: OutputLayout, at place: Recognition? = nil, comparesTimesOnly: Bool = false
  ) throws -> ExaminedCapture {
    try examine(OpenOutput(layout), at: place, comparesTimesOnly: comparesTimesOnly)
  }

  /// Examines an output that is held open.
  func examine(
    _ open: OpenOutput, at place: Recognition? = nil, comparesTimesOnly: Bool = false
  ) throws -> ExaminedCapture {
    let layout = open.layout
    let index = RecordIndex(open, pool: pool)
    let cache = index.map { remembered($0.core, open) } ?? CaptureCache(open)
    let request = try request(open, cache)
    var examined = ExaminedCapture(open: open, cache: cache, pipeline: request.pipeline)
    examined.digests = index?.digests ?? [:]
    examined.limits = request.limits
    examined.notes = request.note.map { [$0] } ?? []
    if let notes = open.notes, FileLock.isHeld(in: notes, name: OutputNames.lock) {
      examined.lockedBy = FileLock.holder(of: layout.lock) ?? "another run"
    }
    do throws(CaptureError) {
      try fill(&examined, index, place, comparesTimesOnly ? .times : .stamps)
    } catch {
      examined.notes.append("cannot be read: \(error)")
      fillFromRecords(&examined)
    }
    examined.asked = AskedStages(
      of: examined.pipeline, limits: request.limits, added: request.added,
      published: Set(examined.facts.filter { $0.value.published != nil }.keys))
    return examined
  }

  /// The cache, without reading it where its pipeline is known from another capture.
  private func remembered(_ core: RecordIndex.Core, _ open: OpenOutput) -> CaptureCache? {
    guard let digest = core.pipeline else { return CaptureCache(core, pipeline: nil) }
    let pipeline = pool.pipeline(digest) {
      let noted = CaptureCache(open)?.pipeline
      return CaptureCache.digest(of: noted) == digest ? noted : nil
    }
    return pipeline.map { CaptureCache(core, pipeline: $0) } ?? CaptureCache(open)
  }

  private func fill(
    _ examined: inout ExaminedCapture, _ index: RecordIndex?, _ place: Recognition?,
    _ comparison: KnownCapture.Comparison
  ) throws(CaptureError) {
    let layout = examined.layout
    func known(_ recognition: Recognition?) -> KnownCapture? {
      KnownCapture.ifCurrent(
        recognition, examined.open, index, registry: captures, comparison: comparison)
    }
    // Most captures have a folder of their own and are as they were: no file of them is opened.
    if let known = known(place) {
      examined.recognition = known.recognition
      examined.inputs = known.inputs
      examined.collector = known.collector(verify: false)
    } else {
      guard let recognition = place ?? recognition(layout, examined.cache) else {
        examined.notes.append(
          "its input is gone: \(path(layout, examined.cache) ?? "its place was not recorded")")
        fillFromRecords(&examined)
        return
      }
      examined.recognition = recognition
      examined.collector =
        place == nil ? known(recognition)?.collector(verify: false) : nil
      if examined.collector == nil {
        examined.collector = FactsCollector(
          summary: try look(recognition), folder: recognition.path, layout, verify: false)
      }
    }
    if let collector = examined.collector {
      examined.pipeline = examined.pipeline.adapted(
        to: collector.summary, examined.limits, known: collector.store.known)
    }
    examined.facts = examined.collector?.facts(of: examined.pipeline) ?? [:]
    // A run notes no digest of files that had just been written. Without it every look would read them again.
    if examined.lockedBy == nil, let notes = examined.open.notes, Catalog.isWritable(layout.root) {
      examined.collector?.noteDigests(in: notes)
    }
  }

  /// Where the input is gone: as if it were what the artifacts were made from.
  private func fillFromRecords(_ examined: inout ExaminedCapture) {
    examined.isInputGone = true
    let store = ArtifactStore(examined.layout)
    if let cache = examined.cache {
      examined.pipeline = examined.pipeline.adapted(
        to: cache.summary, examined.limits, known: store.known)
    }
    for stage in examined.pipeline.stages {
      let published = store.published(stage.name, verify: false)
      let applicability =
        examined.cache.map { stage.kind.applicability(stage.parameters, $0.summary) }
        ?? Applicability.applies
      examined.facts[stage.name] = StageFacts(
        applicability: applicability, captureInputs: published?.record.inputs.capture,
        external: published?.record.inputs.external ?? [:], published: published)
      examined.facts[stage.name]?.libraries = published?.record.libraries ?? [:]
    }
  }

  /// The capture behind an output folder, if it is still there: as noted, else behind the path in
  /// `capture.json`.
  private func recognition(_ layout: OutputLayout, _ cache: CaptureCache?) -> Recognition? {
    if let cache {
      if cache.isOneFile {
        guard !CaptureLocation(FilePath(text: cache.folder)).isGone else { return nil }
        return captures.capture(atFile: FilePath(text: cache.folder)).flatMap {
          cache.isAbout($0) ? $0 : nil
        } ?? cache.recognition
      }
      guard let listing = try? FolderListing(of: FilePath(text: cache.folder)) else { return nil }
      return captures.recognize(listing).first { cache.isAbout($0) }
        // Damaged meanwhile beyond recognition, not gone.
        ?? (listing.files.contains { cache.stem.map($0.hasPrefix) ?? true }
          ? cache.recognition : nil)
    }
    if let owner = OwnerRecord(in: layout),
      let listing = try? FolderListing(of: FilePath(text: owner.folder)),
      let found = captures.recognize(listing).first(where: {
        $0.family == owner.family && $0.stem == owner.stem
      })
    {
      return found
    }
    if let owner = OwnerRecord(in: layout), owner.stem == nil,
      let found = captures.capture(atFile: FilePath(text: owner.folder)),
      found.family == owner.family
    {
      return found
    }
    guard let document = RecordedDocument(of: layout), let path = document.path else { return nil }
    return CaptureFinder(captures).find(FilePath(path)).captures
      .first { $0.id == document.id }
  }

  private func path(_ layout: OutputLayout, _ cache: CaptureCache?) -> String? {
    cache?.folder ?? RecordedDocument(of: layout)?.path
  }
}

/// One capture as it stands in an output folder.
public struct ExaminedCapture: Sendable {
  public let open: OpenOutput
  public var cache: CaptureCache?
  public var pipeline: PipelineDefinition
  /// `nil` when the input is gone.
  public var recognition: Recognition?
  var isInputGone = false
  /// Who works on it now.
  var lockedBy: String?
  /// What a reader has to know of all this, one sentence each.
  public var notes: [String] = []
  var facts: [String: StageFacts] = [:]
  /// The files of the capture, where they are those of its last run; `nil` where it had to be opened.
  var inputs: InputListing?
  /// Digests of files of the capture, as a run noted them.
  var digests: [String: DigestCache.Entry] = [:]
  /// What the last run was limited to.
  var limits = Selection()
  /// `nil` when the input is gone.
  var collector: FactsCollector?

  /// The stages that count.
  var asked: AskedStages

  var layout: OutputLayout { open.layout }

  init(open: OpenOutput, cache: CaptureCache?, pipeline: PipelineDefinition) {
    self.open = open
    self.cache = cache
    self.pipeline = pipeline
    asked = AskedStages(of: pipeline)
  }
}

/// Which stages of a capture were asked for: the one place that decides it for status, report, pages, metrics
/// and the watcher.
///
/// Asked for are the stages that the capture's last run was about, with the settings of that run, and every stage
/// of which a result is published, with the settings of the run that asked for it last: an export of last week
/// is asked for until `clean` removes it. A stage that was not asked for has the state `not-requested`; it
/// counts nowhere and makes nothing queued.
public struct AskedStages: Hashable, Sendable {
  private let names: Set<String>

  /// - Parameters:
  ///   - pipeline: adapted to the capture.
  ///   - limits: what the last run was limited to; without limits it was about every stage of its pipeline.
  ///   - added: stages of `pipeline` that are of earlier runs' pipelines only.
  ///   - published: stages with a record, also those of which the files were removed after use.
  init(
    of pipeline: PipelineDefinition, limits: Selection = Selection(), added: Set<String> = [],
    published: Set<String> = []
  ) {
    let steps = pipeline.stages.filter { $0.partOf.map(added.contains) == true }.map(\.name)
    names = limits.stages(of: pipeline).subtracting(added).subtracting(steps).union(published)
  }

  public func contains(_ stage: String) -> Bool { names.contains(stage) }

  /// Plans what was asked for and nothing else: what lies before it and was not asked for is used as it is.
  func planner(_ pipeline: PipelineDefinition) -> Planner {
    Planner(pipeline, stages: names)
  }
}

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
