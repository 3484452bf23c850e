import Captures
import Core
import FoundationEssentials
import SystemPackage

/// Looks at what is published of captures, without a lock and without writing: also while a run goes on.
///
/// May be used from several threads.
public final class OutputExaminer: Sendable {
  let captures: CaptureRegistry
  /// What a run by hand would add to what the captures were asked for; `nil`: nothing.
  private let asking: RunRequest?
  /// For captures that have no cache.
  private let standard: PipelineDefinition
  private let look: CaptureLook
  private let pool = ParameterPool()
  private let reader: RequestReader

  /// - Parameters:
  ///   - chosen: the pipeline to compare with; `nil`: what each capture was asked for, `standard` where nothing is
  ///     noted.
  ///   - source: that of `chosen`, with its settings: as in a run with it, it is added to what each capture was asked
  ///     for. `nil`: `chosen` alone.
  ///   - look: opens captures that have changed since they were last opened; by default in this process.
  public init(
    captures: CaptureRegistry, stages: StageRegistry, chosen: PipelineDefinition?,
    source: PipelineSource? = nil, standard: PipelineDefinition, look: CaptureLook? = nil
  ) {
    self.look = look ?? OpenedCapture.look(captures)
    self.captures = captures
    reader = RequestReader(stages)
    asking = chosen.map { [reader] in RunRequest($0, source, reader) }
    self.standard = standard
  }

  /// What a capture was asked for as a whole, and words about it where it is not what is noted.
  private func request(_ cache: CaptureCache?) -> (RequestedPipeline, notes: [String]) {
    func whole(_ note: String) -> (RequestedPipeline, notes: [String]) {
      (RequestedPipeline(pipeline: standard, choice: StageChoice(Selection())), [note])
    }
    if let asking {
      let joined = asking.joined(to: cache?.requests ?? Requests())
      return (joined.requested, joined.lost.map { $0.words() })
    }
    guard let requests = cache?.requests, let last = requests.last else {
      return whole("its pipeline is not recorded; compared with \(standard.name)")
    }
    guard let requested = reader.read(requests) else {
      let why = reader.lost(Requests(last)).first.map { ": \($0.why)" } ?? ""
      return whole(
        "its pipeline \(last.name) cannot be read any more\(why); compared with \(standard.name)")
    }
    return (requested, requested.lost.map { $0.words() })
  }

  /// The pipeline that a capture is compared with, before anything of it is opened.
  public func pipeline(of layout: OutputLayout) -> PipelineDefinition {
    request(CaptureCache(OpenOutput(layout))).0.pipeline
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
  ) -> ExaminedCapture {
    examine(OpenOutput(layout), at: place, comparesTimesOnly: comparesTimesOnly)
  }

  /// Examines an output that is held open.
  func examine(
    _ open: OpenOutput, at place: Recognition? = nil, comparesTimesOnly: Bool = false
  ) -> ExaminedCapture {
    let layout = open.layout
    let index = RecordIndex(open, pool: pool)
    let cache = index.map { remembered($0.core, open) } ?? CaptureCache(open)
    let (requested, notes) = request(cache)
    var examined = ExaminedCapture(open: open, cache: cache, requested)
    examined.isAskedAnew = asking != nil
    examined.digests = index?.digests ?? [:]
    examined.notes = notes
    if let notes = open.notes, FileLock.isHeld(in: notes, name: OutputNames.lock) {
      examined.lockedBy = FileLock.holder(of: layout.lock) ?? "another run"
    }
    do throws(CaptureError) {
      try fill(&examined, index, place, comparesTimesOnly ? .times : .stamps)
    } catch {
      examined.notes.append("cannot be read: \(error)")
      fillFromRecords(&examined)
    }
    examined.asked = requested.choice.stages(of: examined.pipeline)
    return examined
  }

  /// The cache, without reading it where its requests are known from another capture.
  private func remembered(_ core: RecordIndex.Core, _ open: OpenOutput) -> CaptureCache? {
    guard let digest = core.requests else { return CaptureCache(core, requests: Requests()) }
    let requests = pool.requests(digest) { CaptureCache(open)?.requests }
    return requests.map { CaptureCache(core, requests: $0) } ?? CaptureCache(open)
  }

  private func fill(
    _ examined: inout ExaminedCapture, _ index: RecordIndex?, _ place: Recognition?,
    _ comparison: KnownCapture.Comparison
  ) throws(CaptureError) {
    let layout = examined.layout
    func known(_ recognition: Recognition?) -> KnownCapture? {
      KnownCapture.ifCurrent(
        recognition, examined.open, index, cache: examined.cache, registry: captures,
        comparison: comparison)
    }
    // Most captures have a folder of their own and are as they were: no file of them is opened.
    if let known = known(place) {
      examined.recognition = known.recognition
      examined.inputs = known.inputs
      examined.collector = known.collector
    } else {
      guard let recognition = place ?? recognition(layout, examined.cache) else {
        examined.notes.append(
          "its input is gone, the results stay: \(path(layout, examined.cache) ?? "its place was not recorded")"
        )
        fillFromRecords(&examined)
        return
      }
      examined.recognition = recognition
      examined.collector = place == nil ? known(recognition)?.collector : nil
      if examined.collector == nil {
        examined.collector = FactsCollector(
          summary: try look(recognition).summary, folder: recognition.path, layout, verify: false)
      }
    }
    if let collector = examined.collector {
      examined.pipeline = examined.pipeline.adapted(
        to: collector.summary, examined.choice, known: collector.store.known)
    }
    examined.facts = examined.collector?.facts(of: examined.pipeline) ?? [:]
    // A run notes no digest of files that had just been written. Without it every look would read them again.
    if examined.lockedBy == nil, let notes = examined.open.notes, Catalog.isWritable(layout.root) {
      examined.collector?.noteDigests(in: notes)
    }
  }

  /// Takes an input that is gone for what the artifacts were made from.
  private func fillFromRecords(_ examined: inout ExaminedCapture) {
    examined.isInputGone = true
    let store = ArtifactStore(examined.layout)
    if let cache = examined.cache {
      examined.pipeline = examined.pipeline.adapted(
        to: cache.summary, examined.choice, known: store.known)
    }
    for stage in examined.pipeline.stages {
      let published = store.published(stage.name, verify: false)
      let applicability =
        examined.cache.map { stage.applicability($0.summary) }
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
  /// Whether it is compared with what a command line asks for, not with what it was asked for.
  var isAskedAnew = false
  /// Who works on it now.
  var lockedBy: String?
  /// What a reader has to know of all this, one sentence each.
  public var notes: [String] = []
  var facts: [String: StageFacts] = [:]
  /// The files of the capture, where they are those of its last run; `nil` where it had to be opened.
  var inputs: InputListing?
  /// Digests of files of the capture, as a run noted them.
  var digests: [String: DigestCache.Entry] = [:]
  let choice: StageChoice
  /// Values in force that the texts of the pipelines do not have, without secrets.
  private let settings: [ParameterSetting]
  /// `nil` when the input is gone.
  var collector: FactsCollector?

  /// The stages that it was asked for: the one place that decides it for status, report, pages, metrics and the
  /// watcher. All others have the state `not-requested`, count nowhere and make nothing queued.
  var asked: Set<String>

  var layout: OutputLayout { open.layout }

  init(open: OpenOutput, cache: CaptureCache?, _ requested: RequestedPipeline) {
    self.open = open
    self.cache = cache
    pipeline = requested.pipeline
    choice = requested.choice
    settings = requested.settings
    asked = choice.stages(of: pipeline)
  }

  // Text about an examined capture.

  /// What it is compared with: `default.yaml, imu.window=20ms`.
  var pipelineWords: String { ([pipeline.name] + settings.map(\.text)).joined(separator: ", ") }

  /// How it was asked for, request by request, with all settings in force; requests that differ in settings alone are
  /// told once: `default.yaml; exports.yaml, --until export-tum, depth.range=1m..2m`.
  var askedWords: String {
    guard let requests = cache?.requests, let last = requests.last else { return pipelineWords }
    var earlier: [String] = []
    for words in requests.sources.map({ $0.words([]) })
    where words != last.words([]) && !earlier.contains(words) {
      earlier.append(words)
    }
    return (earlier + [last.words(settings.map(\.text))]).joined(separator: "; ")
  }

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
          Self.isPath($0) && stage.parameters[$0.name] != nil
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
  var failures: [Failure] {
    let asked = asked
    return Failure.all(
      of: pipeline.stages.map(\.name).filter { asked.contains($0) }, in: open)
  }

  /// Files of the capture as they were found, for who looks at them again at once; `nil` where it had to be opened.
  func seenInputs(_ manifest: UploadCounts?) -> EntrySources.Seen? {
    inputs.map { EntrySources.Seen(inputs: $0, digests: digests, manifest: manifest) }
  }
}

/// What an examined capture tells of itself and of its stages.
extension ExaminedCapture {
  /// The input folder, as far as it is known.
  var path: String? { recognition?.path.shown ?? cache.map { PathText.shown($0.folder) } }

  var family: CaptureFamily? { recognition?.family ?? cache?.family }

  /// Files that a complete upload would have, as in `capture.json`.
  var missing: [String] { collector?.summary.missingFiles ?? cache?.summary.missingFiles ?? [] }

  /// Warnings of opening, as noted, those of published artifacts and of stages that had nothing left, and one for each
  /// shortfall.
  var warnings: [CaptureWarning] {
    pipeline.stages.filter { asked.contains($0.name) }
      .reduce(pipeline.unsettled(cache?.warnings ?? [])) { found, stage in
        found.merged(with: facts[stage.name]?.warnings ?? [])
      }
      .merged(with: shortfalls.map(\.warning))
  }

  /// Streams that have lost more of what the capture declares than the pipeline accepts: by what was found
  /// when it was last opened, and by what published artifacts could not decode.
  var shortfalls: [Shortfall] {
    var holes: [String: FrameHoles] = [:]
    for record in published { holes.take(record) }
    return Shortfall.found(
      lacking: collector?.summary.lacking ?? cache?.summary.lacking ?? [],
      holes: holes, percent: pipeline.shortfallPercent)
  }

  /// Plans exactly the stages that it was asked for, none of them forced. What was found to have nothing to do wants no
  /// run because of a setting.
  var planner: Planner {
    var cleaned = StageChoice(Selection())
    cleaned.cleaned = choice.cleaned
    var planner = Planner(pipeline, choice: cleaned, selected: asked)
    planner.keepsFindings = !isAskedAnew
    return planner
  }

  /// How all stages stand, in pipeline order; failures are read from their notes.
  var states: [StageStatus] {
    let jobs = planner.plan(facts)
    let notes = Failure.all(of: jobs.map(\.stage), in: open)
    var failures: [String: String] = [:]
    for job in jobs {
      let problems = facts[job.stage]?.published?.record.problems ?? []
      failures[job.stage] =
        notes.first { $0.stage == job.stage }?.message
        ?? (problems.isEmpty ? nil : problems.joined(separator: "; "))
    }
    var states = Self.states(
      jobs, asked, of: pipeline, published: facts.compactMapValues { $0.published?.record },
      removed: Set(facts.filter { $0.value.published?.state == .removed }.keys),
      failures: failures)
    // All requests in force count: what does not apply is told whatever was asked for last.
    let named = Set(
      (cache?.requests.sources ?? []).flatMap { ($0.named ?? []) + ($0.listed ?? []) })
    for index in states.indices {
      switch states[index].state {
      case .notApplicable where named.contains(states[index].stage):
        states[index].askedByName = true
      case .notRequested where choice.cleaned.contains(states[index].stage):
        states[index].details = "cleaned: a run by hand makes it again"
      default: break
      }
    }
    return states
  }

  /// The states of all stages, in pipeline order: those of planned jobs, and of what was not asked for. Pure.
  ///
  /// A failure counts until what failed is up to date; what needs a failed stage and would run is
  /// blocked.
  static func states(
    _ jobs: [PlannedJob], _ asked: Set<String>, of pipeline: PipelineDefinition,
    published: [String: ArtifactRecord], removed: Set<String> = [], failures: [String: String]
  ) -> [StageStatus] {
    var states: [String: StageState] = [:]
    // By stage, what it is blocked by.
    var blocked: [String: String] = [:]
    // What is as it was beside a failed input, and what was made from that.
    var same: Set<String> = []
    let planned = Dictionary(firstOf: jobs.map { ($0.stage, $0) })
    return pipeline.stages.compactMap { stage in
      // A step that was removed after use and is needed again is planned without having been asked for.
      guard asked.contains(stage.name) else {
        return StageStatus(
          stage: stage.name, uses: stage.kind.name, state: .notRequested,
          isInner: stage.partOf != nil)
      }
      guard let job = planned[stage.name] else { return nil }
      var status = StageStatus(
        stage: job.stage, uses: job.uses, state: .done, isInner: stage.partOf != nil)
      let needed = pipeline[job.stage]?.inputs.filter { !$0.isOptional }.map(\.stage) ?? []
      func isStuck(_ stage: String) -> Bool {
        [.failed, .obstructed, .blocked].contains(states[stage]) && !same.contains(stage)
      }
      /// What stopped an input: the stage that failed, not those behind it that are blocked.
      func cause(_ input: String) -> String {
        blocked[input]
          ?? "its input '\(input)' \(states[input] == .failed ? "failed" : "is obstructed")"
      }
      let stopper = needed.first(where: isStuck)
      let details = job.details.isEmpty ? nil : job.details.joined(separator: "; ")
      switch job.action {
      case .upToDate: break
      // Removed after use and wanted again: that is no lack.
      case .run
      where removed.contains(job.stage) && job.reason == .outputsMissing && !job.isCleaned:
        break
      case .notApplicable: (status.state, status.details) = (.notApplicable, details)
      case .blocked:
        (status.state, status.details) = (job.isObstructed ? .obstructed : .blocked, details)
        if !job.isObstructed { blocked[job.stage] = details }
      case .run:
        // First: a note of an earlier failure of its own says nothing while it cannot even be tried.
        if let stopper {
          (status.state, status.details) = (.blocked, cause(stopper))
          blocked[job.stage] = status.details
        } else if let message = failures[job.stage] {
          (status.state, status.reason, status.details) = (.failed, job.reason, message)
        } else {
          let record = published[job.stage]
          let inputs = pipeline[job.stage]?.inputs ?? []
          let failed = inputs.filter { isStuck($0.stage) }
          let tried = failed + inputs.filter { same.contains($0.stage) }
          let isSame =
            record != nil && job.reason == .inputRebuilt
            && job.details.allSatisfy { detail in
              tried.contains { detail.hasPrefix("\($0.port): ") }
            }
          if isSame { same.insert(job.stage) }
          if !removed.contains(job.stage),
            let lost = failed.first(where: { record?.inputs.artifacts[$0.port] != nil })
          {
            // Without the input it would be less than it is.
            let why = cause(lost.stage)
            (status.state, status.details) = (.blocked, "\(why); what was made before stays")
            blocked[job.stage] = why
            break
          }
          // Made without inputs that failed then and would be tried again now: all that can be.
          if isSame { break }
          // A record that cannot be believed is no record; something was made all the same.
          let isMade = record != nil || job.reason == .outputsAltered
          (status.state, status.reason) = (isMade ? .stale : .missing, job.reason)
          status.details = details
        }
      }
      states[job.stage] = status.state
      return status
    }
  }
}
