import Captures
import Core

/// Facts about one stage of one capture.
public struct StageFacts: Sendable {
  public var applicability: Applicability
  /// Digests of the files that the stage reads; `nil` for a stage that reads only artifacts, and if
  /// nothing is published yet and the digests are not needed.
  public var captureInputs: CaptureInputs?
  var external: [String: Digest] = [:]
  /// Versions of libraries that determine the bytes, by library.
  var libraries: [String: String] = [:]
  public var published: PublishedArtifact?
  /// The record of a stage that found while running that it has nothing to do. Beside something published: that these
  /// parameters leave no frame.
  public var empty: ArtifactRecord?
  /// Why it cannot be published: something that is not ours, or that cannot be looked at, is in its place; `nil`: nothing
  /// is.
  var obstacle: FileError?
  /// Whether the folder of an artifact of ours is there whose record is gone.
  var hasLostRecord = false

  /// Warnings of its last run, whether that published something or not.
  public var warnings: [CaptureWarning] {
    (warningsOfNothing ?? []).merged(with: published?.record.warnings ?? [])
  }

  /// Whether the parameters leave no frame.
  var isNothingLeft: Bool { warningsOfNothing?.contains { $0.code == .nothingLeft } ?? false }

  /// What a stage has to tell that has nothing to do; `nil` where it has.
  var warningsOfNothing: [CaptureWarning]? {
    if case .nothingLeft(let warning) = applicability { [warning] } else { empty?.warnings }
  }
}

/// What will happen to one stage, and why.
public struct PlannedJob: Hashable, Sendable {
  public enum Action: String, Codable, Sendable {
    case run
    case upToDate = "up-to-date"
    case blocked
    case notApplicable = "not-applicable"
  }

  public var stage: String
  public var uses: String
  public var action: Action
  public var reason: Reason?
  /// Old and new values, missing files, or blocking stages.
  public var details: [String] = []
  /// Whether something that is not ours, or cannot be looked at, is in its place: it is tried, and fails before it reads anything.
  var isObstructed = false
  /// The number of frames of the artifact that the job replaces, or that `clean` removed.
  var frames = 0
  var bytes: Int64 = 0
  /// Whether it is an intermediate that is up to date and was removed. It is built again only if
  /// another stage needs it.
  var isRemoved = false
  /// Whether `clean` removed its artifact and the run asks for it.
  var isCleaned = false
  /// Whether its parameters leave nothing and what was made before stays: it is read as it is.
  var isKept = false
  /// Whether they leave nothing and what was made before goes: it was made from what is another by now.
  var isOutdated: Bool { removed != nil }
  /// What goes then.
  var removed: RemovedResult?
  /// Whether it is told of although there is nothing to do: it was asked for by name, or its parameters leave no frame.
  public var isTold = false
}

/// Compares recorded fingerprints with planned ones. Pure: takes facts, returns jobs.
public struct Planner: Sendable {
  public let pipeline: PipelineDefinition
  let selection: Selection
  private let choice: StageChoice
  /// Names of the selected stages.
  let selected: Set<String>
  /// Parameters by stage, in the form of records.
  private let parameters: [String: [String: JSONValue]]
  /// Whether a stage that had nothing to do with the same files has none with other parameters either, or because of an
  /// input that could not be made then and is to be tried again: so it stands. A run tries it again.
  var keepsFindings = false
}

extension Planner {
  /// May be used for any number of captures.
  ///
  /// - Parameters:
  ///   - selection: what is forced.
  ///   - choice: what is selected; `nil`: what `selection` does.
  ///   - selected: the stages, in place of those of the choice.
  init(
    _ pipeline: PipelineDefinition, selection: Selection = Selection(), choice: StageChoice? = nil,
    selected: Set<String>? = nil
  ) {
    let choice = choice ?? StageChoice(selection)
    self.init(
      pipeline: pipeline, selection: selection, choice: choice,
      selected: selected ?? choice.stages(of: pipeline),
      parameters: Dictionary(
        pipeline.stages.map { ($0.name, $0.parameters.json) },
        uniquingKeysWith: { first, _ in first }
      ))
  }

  /// The planner of one capture, with the pipeline adapted to it (`PipelineDefinition.adapted`);
  /// itself if nothing changes. Stages that were cleaned are intermediates; connections to them stay, since tables name
  /// their files until they are made again.
  ///
  /// - Parameter known: what is known about the artifact of a stage.
  func adapted(
    to capture: CaptureSummary, known: @escaping (_ stage: String) -> KnownArtifact
  ) -> Planner {
    var adapted = pipeline.adapted(to: capture, choice, known: known)
    for index in adapted.stages.indices where choice.cleaned.contains(adapted.stages[index].name) {
      adapted.stages[index].keep = false
    }
    let isSame =
      pipeline.stages.count == adapted.stages.count
      && zip(pipeline.stages, adapted.stages).allSatisfy {
        $0.inputs.count == $1.inputs.count && $0.keep == $1.keep
      }
    return isSame
      ? self
      : Planner(
        pipeline: adapted, selection: selection, choice: choice,
        selected: choice.stages(of: adapted), parameters: parameters)
  }

  /// Plans one job for each selected stage, in pipeline order, for each removed artifact that a
  /// job needs, and for each published artifact that names files of an artifact to be rebuilt,
  /// since those files may disappear.
  ///
  /// A stage whose input will be rebuilt is planned to run with `input-rebuilt`. When its turn
  /// comes it is compared again and does nothing if the rebuilt input equals the old one.
  public func plan(_ facts: [String: StageFacts]) -> [PlannedJob] {
    var jobs: [String: PlannedJob] = [:]
    for stage in pipeline.stages {
      jobs[stage.name] = job(for: stage, facts, before: jobs)
    }
    // Only some of the jobs are selected.
    var needed: Set<String> = []
    var following: Set<String> = []
    func isPlanned(_ stage: String) -> Bool {
      selected.contains(stage) || needed.contains(stage) || following.contains(stage)
    }
    for stage in pipeline.stages.reversed() {
      guard let job = jobs[stage.name], job.action == .run else { continue }
      if mustFollow(stage, jobs, facts) { following.insert(stage.name) }
      guard isPlanned(stage.name) else { continue }
      for input in stage.inputs {
        guard let source = jobs[input.stage] else { continue }
        if source.isRemoved {
          needed.insert(input.stage)
          jobs[input.stage]?.action = .run
          jobs[input.stage]?.reason = .outputsMissing
          jobs[input.stage]?.details = ["removed after use, needed by \(stage.name)"]
        } else if source.action == .run,
          isGone(input.stage, facts)
            || needed.contains(stage.name) && !selected.contains(stage.name)
        {
          // Stale, and nothing is there that a reader could take as it is; or the reader itself is only made for others.
          needed.insert(input.stage)
        }
      }
    }
    return pipeline.stages.compactMap { stage in
      guard isPlanned(stage.name), var job = jobs[stage.name] else { return nil }
      // A parameter of a step inside of a stage is set by the name of the stage.
      let step = pipeline.stages.first {
        $0.partOf == stage.name && isPlanned($0.name) && jobs[$0.name]?.reason == .parameters
      }
      if job.reason == .inputRebuilt, let step, let cause = jobs[step.name] {
        (job.reason, job.details) = (cause.reason, cause.details)
      }
      return job
    }
  }

  /// Whether a stage that was cleaned makes something else by now than its readers had. A part that could not be made
  /// then is not tried again for them.
  private func isMadeForReaders(_ job: PlannedJob, _ facts: [String: StageFacts]) -> Bool {
    choice.cleaned.contains(job.stage) && isGone(job.stage, facts) && job.reason != .outputsMissing
  }

  /// Whether the artifact of a stage was removed and its record is there.
  private func isGone(_ stage: String, _ facts: [String: StageFacts]) -> Bool {
    facts[stage]?.published?.state == .removed
  }

  /// Whether a stage that is not selected is published and names files that a selected stage
  /// replaces or removes.
  private func mustFollow(
    _ stage: StageDefinition, _ jobs: [String: PlannedJob], _ facts: [String: StageFacts]
  ) -> Bool {
    guard stage.kind.namesFilesOfInputs, !selected.contains(stage.name),
      jobs[stage.name]?.action == .run, facts[stage.name]?.published != nil
    else { return false }
    return stage.inputs.contains { input in
      guard selected.contains(input.stage), let job = jobs[input.stage] else { return false }
      return job.action == .run
        || job.action == .notApplicable && facts[input.stage]?.published != nil
    }
  }

  private func job(
    for stage: StageDefinition, _ facts: [String: StageFacts], before jobs: [String: PlannedJob]
  ) -> PlannedJob {
    let isSelected = selected.contains(stage.name)
    func planned(
      _ action: PlannedJob.Action, _ reason: Reason? = nil, _ details: [String] = []
    ) -> PlannedJob {
      PlannedJob(
        stage: stage.name, uses: stage.kind.name, action: action, reason: reason, details: details)
    }

    guard let own = facts[stage.name] else { return planned(.blocked, nil, ["nothing is known"]) }
    switch own.applicability {
    case .notApplicable(let why): return planned(.notApplicable, nil, [why])
    case .nothingLeft(let warning):
      return keeping(planned(.notApplicable, nil, [warning.message]), of: stage, facts, jobs)
    case .applies, .unreadable: break
    }
    var upstream: [String: PlannedInput] = [:]
    for input in stage.inputs {
      guard let job = jobs[input.stage] else { continue }
      let digest = facts[input.stage]?.published?.believedRecord.map {
        pipeline.port(of: input, in: stage).digest(of: $0)
      }
      switch job.action {
      case .upToDate,
        .notApplicable where job.isKept:
        upstream[input.port] = digest.map(PlannedInput.artifact) ?? PlannedInput.none
      case .run
      where selected.contains(input.stage) || !isSelected || isMadeForReaders(job, facts):
        upstream[input.port] = .willBeRebuilt
      case .run where input.isOptional,
        .blocked where input.isOptional && !selected.contains(input.stage):
        // The input is not selected, so its published artifact is used as it is.
        upstream[input.port] = digest.map(PlannedInput.artifact) ?? PlannedInput.none
      case .run:
        return planned(.blocked, nil, [notUpToDate(job, for: stage, jobs)])
      case .blocked where !input.isOptional:
        // Of inputs that are blocked themselves, what they are blocked by.
        return planned(
          .blocked, nil,
          job.isObstructed ? ["its input '\(input.stage)' is obstructed"] : job.details)
      case .notApplicable where !input.isOptional:
        return planned(.notApplicable, nil, job.details)
      case .blocked, .notApplicable:
        upstream[input.port] = PlannedInput.none
      }
    }
    let decision = Decision(
      published: own.published, planned: fingerprintInputs(of: stage, own, artifacts: [:]),
      upstream: upstream, isForced: isSelected && selection.isForced(stage),
      hasLostRecord: own.hasLostRecord, settingName: { settingName(of: stage, $0) },
      text: { stage.text(of: $0, recorded: $1) })
    if let why = emptiness(of: stage, own, upstream) {
      return keeping(planned(.notApplicable, nil, [why]), of: stage, facts, jobs)
    }
    let isCleaned = own.published?.state == .removed && stage.keep && isSelected
    guard let reason = decision.reason ?? (isCleaned ? .outputsMissing : nil) else {
      var job = planned(.upToDate)
      job.isRemoved = own.published?.state == .removed
      return job
    }
    if let obstacle = own.obstacle {
      var job = planned(.blocked, nil, [obstacle.description])
      job.isObstructed = true
      return job
    }
    let details = decision.reason == nil ? ["removed by clean"] : decision.details
    var job = replacing(planned(.run, reason, details), own)
    job.isCleaned = isCleaned
    return job
  }

  /// `its input 'depth' is not up to date (never-built)`, in names that lists show: of a step inside of another stage what
  /// the step itself lacks, else the stage that it is a part of.
  private func notUpToDate(
    _ input: PlannedJob, for reader: StageDefinition, _ jobs: [String: PlannedJob]
  ) -> String {
    let step = pipeline[input.stage]
    let owner = step?.partOf
    if owner != nil,
      let earlier = step?.inputs.lazy.compactMap({ jobs[$0.stage] }).first(where: {
        $0.action == .run
      })
    {
      return notUpToDate(earlier, for: reader, jobs)
    }
    let name = owner == reader.name ? input.stage : owner ?? input.stage
    return "its input '\(name)' is not up to date (\(input.reason?.rawValue ?? "stale"))"
  }

  /// Keeps what was made before, unless an artifact that it was made from is another by now: readers would put results
  /// of two recordings side by side. Connections of a stage with nothing to do are gone (`adapted`), so the artifacts
  /// are found by their digests.
  private func keeping(
    _ job: PlannedJob, of stage: StageDefinition, _ facts: [String: StageFacts],
    _ jobs: [String: PlannedJob]
  ) -> PlannedJob {
    var job = job
    guard let own = facts[stage.name] else { return job }
    job.isTold = own.isNothingLeft
    guard own.published?.state != .removed, let record = own.published?.believedRecord else {
      return job
    }
    job.isKept = record.inputs.artifacts.allSatisfy { name, digest in
      guard let port = stage.kind.ports.first(where: { $0.name == name }) else { return false }
      return facts.contains { other, fact in
        (jobs[other].map { $0.action == .upToDate || $0.isKept } ?? true)
          && fact.published?.believedRecord.map { port.digest(of: $0) == digest } == true
      }
    }
    if job.isKept {
      job.details.append("what was made before stays")
    } else {
      job.removed = RemovedResult(own.published, reason: job.details.joined(separator: "; "))
    }
    return job
  }

  /// The name of a parameter as `--set` takes it, without the stage where that is the stage itself: `size`, `color.size`.
  private func settingName(of stage: StageDefinition, _ parameter: String) -> String {
    let name = pipeline.settingName(of: stage, parameter)
    return name.stage == stage.partOf ?? stage.name
      ? parameter : "\(name.stage).\(name.parameter)"
  }

  private func replacing(_ job: PlannedJob, _ facts: StageFacts) -> PlannedJob {
    guard let record = facts.published?.record else { return job }
    var job = job
    job.frames = record.frames
    job.bytes = record.bytes
    return job
  }

  /// Why a stage that was tried before has nothing to do, if its inputs are the same as then.
  func emptiness(
    of stage: StageDefinition, _ facts: StageFacts, _ upstream: [String: PlannedInput]
  ) -> String? {
    guard let record = facts.empty, case .string(let why) = record.recorded[Self.emptyKey],
      !selection.isForced(stage)
    else { return nil }
    var planned = fingerprintInputs(of: stage, facts, artifacts: [:])
    var upstream = upstream
    if keepsFindings {
      planned.parameters = record.parameters
      upstream = upstream.filter {
        $0.value != .willBeRebuilt || record.inputs.artifacts[$0.key] != nil
      }
    }
    let decision = Decision(
      published: PublishedArtifact(record: record, state: .removed), planned: planned,
      upstream: upstream, isForced: false)
    return decision.reason == nil ? why : nil
  }

  /// The key of the reason in the record of a stage that had nothing to do.
  static let emptyKey = "doesNotApply"

  /// The kinds of the selected stages that read what `stage` makes.
  func readers(of stage: String) -> Set<String> {
    Set(
      pipeline.stages.filter { reader in
        selected.contains(reader.name) && reader.inputs.contains { $0.stage == stage }
      }.map { $0.kind.name })
  }

  /// The fingerprint's inputs of a stage, given the digests of what it reads of its inputs.
  public func fingerprintInputs(
    of stage: StageDefinition, _ facts: StageFacts, artifacts: [String: Digest]
  ) -> FingerprintInputs {
    FingerprintInputs(
      uses: stage.kind.name, version: stage.kind.version, libraries: facts.libraries,
      parameters: parameters[stage.name] ?? stage.parameters.json,
      inputs: ArtifactRecord.Inputs(
        artifacts: artifacts, capture: facts.captureInputs, external: facts.external))
  }
}

/// A result of an earlier run that goes because its stage has nothing to do for the capture any more: a file of the
/// capture is gone, or another one came. A run tells of it at its end, `-n` before it happens.
public struct RemovedResult: Sendable, Codable, Hashable {
  public var stage: String
  /// Why the stage has nothing to do.
  public var reason: String
  /// Files that it lists, and their bytes.
  public var files: Int
  public var bytes: Int64

  public init(stage: String, reason: String, files: Int, bytes: Int64) {
    (self.stage, self.reason, self.files, self.bytes) = (stage, reason, files, bytes)
  }

  /// `nil` where nothing lies in the output any more: an intermediate that was removed after use.
  init?(_ published: PublishedArtifact?, reason: String) {
    guard let published, published.state != .removed else { return nil }
    let record = published.record
    self.init(
      stage: record.stage, reason: reason, files: record.outputs.count,
      bytes: record.bytes)
  }

  /// `aligned of 1 capture (no intrinsics), 12 files`: one line per stage and reason, in the order of first appearance.
  ///
  /// - Parameter captures: the removed results of each capture.
  public static func lines(_ captures: some Sequence<[RemovedResult]>) -> [String] {
    var sums: [(one: RemovedResult, captures: Int)] = []
    for result in captures.joined() {
      if let index = sums.firstIndex(where: {
        $0.one.stage == result.stage && $0.one.reason == result.reason
      }) {
        sums[index].captures += 1
        sums[index].one.files += result.files
      } else {
        sums.append((result, 1))
      }
    }
    return sums.map { one, captures in
      "\(one.stage) of \(Plural.text(captures, "capture")) (\(one.reason)), \(Plural.text(one.files, "file"))"
        .onOneLine
    }
  }
}

/// What one look at an open capture tells: what planning needs, and how many pictures there are, from which follows how
/// much stages write.
public struct OpenedCapture: Sendable, Codable {
  /// The pictures of a stream.
  public struct Pictures: Sendable, Codable {
    public var count: Int
    public var width: Int
    public var height: Int

    /// `nil`: it has none, or not all numbers are known.
    public init?(count: Int?, width: Int?, height: Int?) {
      guard let count, let width, let height, count > 0, width > 0, height > 0 else { return nil }
      (self.count, self.width, self.height) = (count, width, height)
    }
  }

  public var summary: CaptureSummary
  /// Upright.
  public var color: Pictures?
  public var depth: Pictures?
  public var confidence: Pictures?

  public init(_ capture: Capture, _ summary: CaptureSummary) {
    self.summary = summary
    let stream = capture.color.value?.description
    color = Pictures(count: stream?.frames, width: stream?.width, height: stream?.height)
    depth = capture.depth.value.flatMap {
      Pictures(count: $0.description.frames, width: $0.width, height: $0.height)
    }
    confidence = capture.confidence.value.flatMap {
      Pictures(count: $0.description.frames, width: $0.width, height: $0.height)
    }
  }
}

/// How much a stage writes for a capture that was not processed yet.
public struct ExpectedBytes: Hashable, Sendable {
  /// Less it cannot be: a job is not started if the disk has less space.
  public var least: Int64
  /// Most recordings take between a half and twice as much.
  public var usual: Int64

  public init(least: Int64, usual: Int64) { (self.least, self.usual) = (least, usual) }
}
