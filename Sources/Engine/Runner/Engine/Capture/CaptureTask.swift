import Captures
import Core
import FoundationEssentials
import SystemPackage

/// All that a run does about one capture: lock, open, plan, process, describe. The same in a worker and
/// inline.
struct CaptureTask {
  let registry: CaptureRegistry
  let asking: RunRequest
  let options: RunOptions
  let clock: RunClock
  let run: String
  let budget: CoreBudget
  let events: any EventSink
  let interruption: Interruption
  /// Told that work goes on; `nil`: there is no listener.
  var heartbeat: Heartbeat?

  /// Never throws: what went wrong is in the outcome.
  func execute(_ target: CaptureTarget) -> CaptureOutcome {
    // The finder gives paths without links.
    EnclosedPaths.enclose(target.recognition.path, links: .inside, followsPath: false)
    var removed: [RemovedResult] = []
    do {
      // Before a folder is made for it.
      if let decided = decided(target) { return decided }
      if let why = try Ownership.refusal(target) {
        return CaptureOutcome(
          target.report(.failed, why), codes: [ExitStatus.cannotWrite])
      }
      var who = "another run"
      let output = try CaptureOutput(making: target.layout)
      guard let lock = try lock(output, &who) else {
        if interruption.isRequested {
          return CaptureOutcome(target.report(.interrupted, Failure(message: "not started")))
        }
        return CaptureOutcome(target.skipped("locked by \(who)"), codes: [ExitStatus.locked])
      }
      defer { withExtendedLifetime(lock) {} }
      // `mark` takes the same lock, so a mark is looked for under it.
      if let decided = decided(target) { return decided }
      let watch = LockWatch(
        output, attempt: attempt,
        spared: try StagingCleanup(output: output, attempt: attempt).perform(), clock: clock,
        events: events)
      let scratch = try ScratchFolder(options, run: run, capture: target.layout.name)
      defer { ScratchFolder.clear(options, run: run, capture: target.layout.name) }
      let session = try CaptureSession(
        target.recognition, registry: registry, layout: target.layout, verify: options.verify,
        scratch: scratch?.output, clock: clock)
      try output.checkDocument()
      let joined = asking.joined(to: CaptureCache(of: target.layout)?.requests ?? Requests())
      let pipeline = joined.planner.pipeline
      removed = try session.removeInapplicable(for: pipeline, in: output, attempt: attempt)
      try session.writeDocument(for: pipeline, in: output)
      let planner = joined.planner.adapted(
        to: session.collector.summary, known: session.collector.store.known)
      try session.remember(joined.requests(made: planner), in: output)
      session.rememberOwner(in: output)
      var outcome = CaptureRun(self, session, output, planner).execute()
      outcome.report.take(removed)
      outcome.report.noteOwners { pipeline[$0]?.partOf }
      watch.look(lock)
      output.tidy()
      try output.checkInPlace()
      session.digests.save(in: output.notes)
      try session.writeDocument(for: pipeline, in: output)
      session.writeIndex(for: pipeline, registry: registry, in: output)
      if outcome.report.hasSucceeded { try? output.notes.remove(OutputNames.triage) }
      return outcome
    } catch {
      // The capture's folder may have been retired or removed during the run.
      if let decided = decided(target) { return decided }
      let failure = FailureClassifier(
        output: target.layout.root, capture: target.recognition.path
      ).failure(error)
      var outcome = CaptureOutcome(target.report(.failed, failure), codes: [failure.exit])
      outcome.report.take(removed)
      outcome.isUnreadable = error is CaptureError && failure.cause != .machine
      outcome.lacksResources = failure.isShortage
      return outcome
    }
  }

  /// The id that names in staging carry.
  var attempt: String { options.attempt(of: run) }

  /// The end of a capture that a person has marked to be left alone since the run was given it.
  private func decided(_ target: CaptureTarget) -> CaptureOutcome? {
    guard target.heedsMarks,
      let mark = MarkBook(ofOutput: target.layout.root).mark(
        of: target.layout, at: CaptureLocation(resolving: target.recognition)),
      mark.isLeftAlone
    else { return nil }
    return CaptureOutcome(target.skipped(mark.words))
  }

  private func lock(_ output: CaptureOutput, _ who: inout String) throws(FileError) -> FileLock? {
    var isAnnounced = false
    var holder = who
    let begin = clock.monotonicSeconds()
    let lock = try FileLock(
      in: output.notes, holder: FileLock.holderText("run \(run)", job: options.jobName)
    ) { name in
      holder = name ?? holder
      heartbeat?.wait()
      guard options.waitsForLocks, !interruption.isRequested else { return false }
      if let patience = options.lockPatienceSeconds,
        clock.monotonicSeconds() - begin >= patience
      {
        return false
      }
      if !isAnnounced {
        events.send(.waiting, clock, capture: output.layout.name) {
          $0.message = "locked by \(holder)"
        }
      }
      isAnnounced = true
      return true
    }
    who = holder
    return lock
  }
}

/// How the work on one capture ended.
public struct CaptureOutcome: Hashable, Sendable, Codable {
  public var report: CaptureReport
  /// The exit codes that it asks for, besides that of its report.
  public var codes: Set<Int>
  /// Whether it failed because threads, processes, descriptors or memory were short: it may be taken up
  /// again when others have given some back.
  var lacksResources = false
  /// Whether the capture could not even be opened.
  var isUnreadable = false
  /// Whether its worker came to use more memory than it may.
  public var exceededMemory = false

  private enum CodingKeys: String, CodingKey {
    case report, codes, isUnreadable, exceededMemory
    case lacksResources = "isShort"
  }

  public init(_ report: CaptureReport, codes: Set<Int> = []) {
    self.report = report
    self.codes = codes
  }
}

/// One capture opened for a run: the lock on its output, the description, what is published so far.
struct CaptureSession {
  let capture: Capture
  let recognition: Recognition
  let layout: OutputLayout
  let collector: FactsCollector
  let digests: DigestCache
  /// The input files as they were when the capture was opened.
  let identities: [String: FileStamp]
  /// Listing of the files for later runs; `nil` for a capture with too many files, or that could not be read as a
  /// whole.
  let inputs: InputListing?

  /// Opens a capture for `layout`. Reads; writes nothing.
  init(
    _ recognition: Recognition, registry: CaptureRegistry, layout: OutputLayout, verify: Bool,
    scratch: CaptureOutput? = nil, clock: RunClock = .system
  ) throws(CaptureError) {
    let mark = DeviceErrors.mark
    // Identities first: a change while opening is then seen as a change too.
    var inputs = InputListing(recognition, nowNanoseconds: clock.fileNanoseconds())
    var identities = try Self.identities(of: recognition)
    var recognition = recognition
    // A recognition from before the files stopped changing is repeated.
    if let seen = recognition.surroundings?.listedNanoseconds,
      inputs?.isSettled(nowNanoseconds: seen) != true
    {
      recognition.surroundings = nil
    }
    recognition.surroundings = registry.surroundings(of: recognition)
    capture = try registry.open(recognition)
    // Files that lie deeper or under another spelling of the path count from now on.
    var stamps = FileStamps()
    for file in capture.files.values.joined() where identities[file.text] == nil {
      identities[file.text] = stamps.stamp(of: file.text)
    }
    inputs?.add(capture.files.values.joined())
    // What could not be read this time is not to be remembered for files that stay as they are.
    self.inputs = capture.isToBeOpenedAgain ? nil : inputs
    self.recognition = recognition
    self.identities = identities
    self.layout = layout
    digests = DigestCache(layout.digestCache, capture: recognition.path)
    let summary = CaptureSummary(
      capture, readerVersion: registry.readerVersion(of: recognition.family))
    var collector = FactsCollector(
      summary: summary, folder: recognition.path, store: ArtifactStore(layout, scratch: scratch),
      digests: digests, verify: verify)
    collector.opened = (recognition, mark)
    self.collector = collector
  }

  /// Writes `capture.json`, with the damage and the payload kinds that published artifacts of this
  /// capture have met, the verdict on its quality and which pictures were picked, unless it says the same already.
  func writeDocument(for pipeline: PipelineDefinition, in output: CaptureOutput) throws {
    var found: [CaptureWarning] = []
    var encodings: [String: String] = [:]
    var holes: [String: FrameHoles] = [:]
    var measured: [String: any Encodable & Sendable] = [:]
    var records: [ArtifactRecord] = []
    // Steps that an export of some frames has for itself are none of the pipeline as it was given.
    let adapted = pipeline.adapted(
      to: collector.summary, StageChoice(Selection()), known: collector.store.known
    )
    let steps = adapted.stages.filter(\.isOfSubset)
    for stage in pipeline.stages + steps {
      if case .nothingLeft(let warning) = stage.applicability(collector.summary) {
        found = found.merged(with: [warning])
      }
      guard
        let record = collector.store.record(stage.name) ?? collector.store.empty(stage.name)
      else { continue }
      if stage.kind.content(stage.parameters) == .timeOffset {
        // An earlier run asked for the record: this one does not look whether it still holds.
        guard adapted[stage.name] != nil else { continue }
        measured["timeOffset"] = JSONValue.object(record.recorded)
      }
      if measured["picked"] == nil, let picked = record.pickedPictures {
        measured["picked"] = picked
      }
      found = found.merged(with: record.warnings)
      encodings.merge(record.streamEncodings) { first, _ in first }
      holes.take(record)
      records.append(record)
    }
    if let quality = records.quality { measured["quality"] = quality }
    let bytes = PathText.shown(
      try JSONText.pretty(
        CaptureDocument(
          capture, opening: pipeline.unsettled(capture.warnings), found: found,
          encodings: encodings, holes: holes, measured: measured)))
    try output.checkDocument()
    let name = OutputNames.document
    if try output.folder.contents(of: name) == bytes { return }
    try output.folder.replace(name, with: bytes)
  }

  /// The input files as they are, by path; without what links lead to outside of the folder.
  private static func identities(
    of recognition: Recognition
  ) throws(CaptureError) -> [String: FileStamp] {
    let folder = recognition.folder
    if recognition.isFile {
      let path = recognition.path.text
      return FileStamp(of: path).map { [path: $0] } ?? [:]
    }
    var all: [String: FileStamp] = [:]
    func add(_ prefix: String, _ open: HeldFolder, _ root: EnclosedFolder) throws(FileError) {
      for (name, kind) in try open.list() {
        let path = folder.pushing(FilePath(text: prefix + name)).text
        if kind == .file, let stamp = try open.lookable(name)?.fileStamp {
          all[path] = stamp
          continue
        }
        switch root.look(at: prefix + name) {
        case .file(let stamp): all[path] = stamp
        case .folder where prefix.isEmpty:
          if let inner = try? root.folder(name) { try add(name + "/", inner, root) }
        case .failed(let error): throw error
        case .folder, .other, .outside, .forbidden, .nothing: continue
        }
      }
    }
    do throws(FileError) {
      let root = try EnclosedFolder(folder)
      try add("", root.folder(), root)
    } catch {
      // What may not be seen, or is gone, is told by opening it.
      if error.isOfMachine { throw CaptureError(error, of: error.path) }
    }
    return all
  }

  // Records that later runs and views read.

  /// Writes the cache unless it says the same already. Only for the holder of the lock, before the first
  /// stage: a killed run leaves a cache as well.
  func remember(_ requests: Requests, in output: CaptureOutput) throws {
    guard let inputs else { return }
    try CaptureCache(
      capture, recognition, summary: collector.summary, inputs: inputs, requests: requests
    ).write(to: output)
  }

  /// Brings the owner's record up to date with what lies in the capture, so that it is known again where
  /// it is moved to. Only for the holder of the lock. Failing to is no harm and not reported.
  func rememberOwner(in output: CaptureOutput) {
    guard let inputs, var owner = OwnerRecord(in: layout) else { return }
    let before = owner
    owner.content = inputs.contentKey(in: recognition)
    if owner != before { try? owner.replace(in: output.notes) }
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
        onlyCaptureBy: isOnlyCapture ? registry.signature : nil,
        requests: CaptureCache(of: layout)?.requests.digest),
      digests: digests.remembered, records: records(of: pipeline))
    guard let bytes = try? index.encoded(cacheStamp: cacheStamp),
      (try? output.notes.contents(of: OutputNames.index)) != .some(bytes)
    else { return }
    try? output.notes.replace(OutputNames.index, with: bytes, durably: false)
  }

  /// Whether the folder holds this capture and no other, so that it need not be recognized again.
  private var isOnlyCapture: Bool {
    recognition.surroundings?.isOnlyCapture == true && recognition.id == collector.summary.id
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
  ///
  /// - Returns: what was there and is gone now.
  func removeInapplicable(
    for pipeline: PipelineDefinition, in output: CaptureOutput, attempt: String
  ) throws(FileError) -> [RemovedResult] {
    let pipeline = pipeline.adapted(
      to: collector.summary, StageChoice(Selection()), known: collector.store.known)
    var removed: [RemovedResult] = []
    for (stage, why) in Self.inapplicable(
      pipeline, collector.facts(of: pipeline).mapValues(\.applicability))
    {
      // Only what is ours.
      if try output.place(stage) == .ours {
        let published = collector.store.published(stage, verify: false)
        try output.removeArtifact(stage, attempt: attempt)
        removed += [RemovedResult(published, reason: why)].compactMap(\.self)
      }
      try output.existingRemovedRecords()?.remove("\(stage).json")
      try output.removeFailure(stage)
    }
    return removed
  }

  /// Stages without anything to do, themselves or because a required input has nothing.
  static func inapplicable(
    _ pipeline: PipelineDefinition, _ applicability: [String: Applicability]
  ) -> [(stage: String, why: String)] {
    var found: [(stage: String, why: String)] = []
    for stage in pipeline.stages {
      if case .notApplicable(let why) = applicability[stage.name] {
        found.append((stage.name, why))
      } else if let behind = found.first(where: { other in
        stage.inputs.contains { !$0.isOptional && $0.stage == other.stage }
      }) {
        found.append((stage.name, behind.why))
      }
    }
    return found
  }
}
