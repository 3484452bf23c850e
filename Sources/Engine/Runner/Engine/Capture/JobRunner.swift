import Captures
import Core
import Glibc
import Synchronization
import SystemPackage

/// How one attempt at a job ended.
struct JobResult {
  var report: StageReport
  var warnings: [CaptureWarning] = []
  /// Frames that could not be decoded, by stream.
  var holes: [String: FrameHoles] = [:]
  /// Whether the artifact is up to date, but was removed after use: it must be built again to be read.
  var isRemoved = false
  /// Whether the stage is not possible and what was made before stays: it is read as it is.
  var isKept = false
  /// What was made before and went.
  var removed: RemovedResult?

  /// What the artifact's record tells, whether it was made now or before.
  mutating func take(_ record: ArtifactRecord) {
    report.frames = record.frames
    report.bytes = record.bytes
    warnings = record.warnings
    holes.take(record)
  }

  /// What an artifact tells that is up to date.
  ///
  /// - Parameter unlisted: files in its folder that its record does not list.
  mutating func take(_ record: ArtifactRecord, unlisted: [String]) {
    take(record)
    if let warning = CaptureWarning(unlisted: unlisted, in: report.stage) {
      warnings.append(warning)
    }
  }
}

extension CaptureWarning {
  /// `nil`: there is no file in the folder of the stage that its record does not list.
  init?(unlisted: [String], in stage: String) {
    guard let first = unlisted.first else { return nil }
    let isOne = unlisted.count == 1
    self.init(
      .unlistedFile, stage, count: unlisted.count,
      "\(first.onOneLine)\(isOne ? " is" : " and others are") in \(stage)/, and its artifact.json does not list "
        + "\(isOne ? "it" : "them"): no result")
  }
}

extension JobResult {
  init(_ stage: StageDefinition, _ outcome: RunOutcome, _ why: Failure = Failure()) {
    self.init(report: StageReport(stage: stage.name, uses: stage.kind.name, outcome: outcome))
    report.why = why
  }

  /// The exit code that the run ends with if nothing graver happens; `nil`: it has not failed.
  var exit: Int? { report.outcome == .failed ? report.why.exit : nil }
}

extension StageFailure {
  /// An input that this run had made or found is no longer there.
  static func vanished(input: String) -> StageFailure {
    StageFailure(
      "its input '\(input)' was there and is gone: is another machine working on this output?",
      cause: .machine)
  }
}

/// What a job says to the one who started it.
enum JobMessage {
  case ended(JobResult)
  /// The stage must run and needs intermediates that were removed.
  case needs(String, inputs: [String])
}

/// Runs one stage of one capture: compares once more, works in a staging folder, publishes.
struct JobRunner {
  let task: CaptureTask
  let session: CaptureSession
  let output: CaptureOutput
  let planner: Planner
  let stage: StageDefinition
  let progress: StageProgress
  let cancellation: Cancellation
  /// Optional inputs that failed in this run or do not apply: not read, whatever an earlier run left.
  let unusableInputs: Set<String>
  /// What became of those of them that failed or were blocked in this run: `its input 'color' failed`.
  let failedInputs: [String: String]
  /// Inputs that this run has made or found up to date.
  let expectedInputs: Set<String>
  /// A removed intermediate that a dependent asked for.
  let isDemanded: Bool
  let log: LogFile

  private var capture: Capture { session.capture }
  private var collector: FactsCollector { session.collector }
  private var attempt: String { task.attempt }
  private var clock: RunClock { task.clock }
  /// The output, or the scratch folder for intermediates of a run that has one.
  private var home: CaptureOutput {
    ScratchFolder.takes(stage) ? collector.store.scratch ?? output : output
  }
  private var isInScratch: Bool { home.layout != output.layout }
  private var judge: FailureClassifier {
    FailureClassifier(
      output: session.layout.root, capture: capture.path,
      scratch: collector.store.scratch?.layout.root)
  }

  func execute() -> JobMessage {
    var result = JobResult(stage, .failed)
    let start = clock.monotonicSeconds()
    let mark = DeviceErrors.mark
    do {
      // Before anything of it is read.
      let listing =
        stage.kind.readsFolder(stage.parameters) ? collector.folderListing() : nil
      let facts = try collector.facts(of: stage, forPlan: false)
      if case .unreadable(let why) = facts.applicability {
        throw cause(of: [why])
      }
      let (inputs, missing) = try gatherInputs()
      if let why = planner.emptiness(of: stage, facts, upstream(inputs)) {
        result.report.outcome = .notPossible
        result.report.why.message = why
        result.warnings = facts.empty?.warnings ?? []
        result.isKept = facts.published?.record.inputs.artifacts == digests(of: inputs)
        return .ended(result)
      }
      let decision = decide(facts, upstream(inputs))
      result.report.reason = decision.reason
      if decision.reason == nil {
        result.report.outcome = .upToDate
        result.isRemoved = facts.published?.state == .removed
        if let record = facts.published?.record {
          result.take(record, unlisted: collector.unlisted(in: stage.name))
        }
        return .ended(result)
      }
      if let why = failureThatKeeps(facts, inputs) {
        facts.published.map { result.take($0.record) }
        result.isKept = true
        result.report.reason = nil
        result.report.outcome = .blocked
        result.report.why.message = "\(why); what was made before stays"
        return .ended(result)
      }
      if let obstacle = facts.obstacle { throw obstacle }
      if !missing.isEmpty { return .needs(stage.name, inputs: missing) }
      let ingredients = planner.fingerprintInputs(
        of: stage, facts, artifacts: digests(of: inputs))
      let record: ArtifactRecord
      do {
        record = try work(ingredients, inputs, start, listing, mark)
      } catch let reason as StageDoesNotApply {
        try checkRead(inputs, mark)
        if let failedInput = stage.inputs.lazy.compactMap({ failedInputs[$0.stage] }).first,
          facts.published != nil
        {
          // With that input it may have something to do: this is no finding about the capture.
          try? home.existingStaging()?.remove(stagingName)
          result.report.outcome = .blocked
          result.report.why.message =
            "\(failedInput), and without it \(reason.description); what was made before stays"
        } else {
          result.isKept =
            reason.keepsPublished
            && facts.published.map {
              collector.isOfSameFiles($0.record, ingredients.inputs.capture)
                && $0.record.inputs.artifacts == ingredients.inputs.artifacts
            } == true
          try takeNote(of: reason, ingredients, start, mark, keeps: result.isKept)
          if !result.isKept {
            result.removed = RemovedResult(facts.published, reason: reason.description)
          }
          result.report.outcome = .notPossible
          result.report.why.message = reason.description
        }
        result.report.reason = nil
        result.warnings = reason.warnings
        return .ended(result)
      }
      result.take(record)
      result.report.outcome = .made
      if !record.problems.isEmpty { fail(&result, record.problems) }
      result.report.seconds = record.seconds
      result.report.cpuSeconds = record.cpuSeconds
      if record.seconds > 0 {
        result.report.framesPerSecond = Double(record.frames) / record.seconds
      }
    } catch {
      result.report.seconds = clock.monotonicSeconds() - start
      if wasStopped(by: error) {
        result.report.outcome = .interrupted
        result.report.why.message = "\(error)"
        try? home.existingStaging()?.remove(stagingName)
      } else {
        var failure = judge.failure(error)
        var message = "\(error)"
        if let path = changedInput(), (error as? FileError)?.kind != .changedWhileReading,
          DeviceErrors.since(mark, at: path).isEmpty
        {
          failure = .graver(
            failure,
            Failure(
              cause: .machine,
              detail: FailureDetail(.inputChanged, file: path.name.map(\.shown.onOneLine))))
          message =
            "input-changed: \(path) changed while the stage read it; run again once the upload has "
            + "settled; \(error)"
        }
        // However a stage put it: libraries name neither mode nor user.
        if failure.cause == .input || failure.cause == .permission,
          let path = collector.captureFiles(of: stage).first(where: AccessRefusal.isRefused)
        {
          failure = FailureClassifier.refused(path)
          message = "\(AccessRefusal.error(path))"
        }
        // A file that could not be read is not damaged, whatever the stage made of what it got.
        if failure.cause == .input || failure.cause == .program,
          let failed = collector.deviceErrors(since: failure.cause == .input ? nil : mark).first
        {
          failure = FailureClassifier.failure(failed, .input)
          if !message.contains(failed.reason) { message = "\(failed)" }
        }
        let isTold = FileError.tellsOfFullDisk(message)
        if isOutputFull(error) || isTold && failure.cause == .program {
          failure = .graver(failure, FailureTable.failure(.output, .space))
          if !isTold { message += "; \(FileError.noSpacePhrase) on the disk of the output" }
        }
        failure.message = message
        result.report.why = failure
        leaveNote(result.report)
      }
    }
    return .ended(result)
  }

  /// What could be made is published and the stage has failed: it says so here and under `.failed/`.
  private func fail(_ result: inout JobResult, _ problems: [String]) {
    result.report.outcome = .failed
    result.report.why = judge.failure(cause(of: problems))
    result.report.why.message = problems.joined(separator: "; ")
    note(result.report, partial: nil)
  }

  /// The error of a part of the capture that cannot be read, by the sentences about it: what is in its file is not known
  /// where the machine failed or rights were lacking. Without one the stage itself refuses the capture.
  private func cause(of problems: [String]) -> any Error {
    capture.errors.first { problems.contains($0.error.description) }?.error
      ?? StageFailure(problems.joined(separator: "; "), cause: .input)
  }

  private func note(_ report: StageReport, partial: String?) {
    guard var failure = report.failure else { return }
    failure.time = clock.wallText()
    failure.leave(
      for: stage.name, partial: partial, output: output, attempt: attempt)
  }

  /// A stage that ran out of its own time has failed; one stopped with the whole run has not.
  private func wasStopped(by error: any Error) -> Bool {
    error is CancelledError && cancellation.isCancelledFromOutside
  }

  /// Says under `.failed/` why, with what the attempt had written; a success removes it. On a full disk
  /// what it had written is of less use than the space, and is removed. Somewhere else than where results
  /// must go nothing is left at all.
  private func leaveNote(_ report: StageReport) {
    guard (try? task.options.outputPlace?.check()) != nil || task.options.outputPlace == nil else {
      return
    }
    guard (try? output.checkInPlace()) != nil else { return }
    let staging = try? home.existingStaging()
    if isInScratch || report.why.detail?.code == .diskFull {
      try? staging?.remove(stagingName)
    }
    let isLeft = (try? staging?.entry(stagingName))?.kind == .folder
    note(report, partial: isLeft ? stagingName : nil)
  }

  /// Whether the disk that results go to is full, whatever became of it in the stage.
  private func isOutputFull(_ error: any Error) -> Bool {
    do throws(FileError) {
      try FileSystem.checkSpace(for: 0, at: home.layout.folder)
    } catch {
      return error.kind == .noSpace
    }
    return (error as? FileError)?.kind == .noSpace
  }

  private var stagingName: String { OutputLayout.stagingName(stage.name, attempt: attempt) }

  /// A file of the capture that is not as it was when the capture was opened.
  private func changedInput() -> FilePath? {
    var stamps = FileStamps()
    return collector.captureFiles(of: stage).first { path in
      session.identities[path.text].map { stamps.stamp(of: path.text) != $0 } ?? false
    }
  }

  /// The artifacts at the ports; removed intermediates are named apart.
  ///
  /// An input that this run knows to be there and that is not was taken away by a run on another machine,
  /// where locks are not shared: while that one publishes its own there is none for a moment. It is waited for;
  /// without it the stage would be made as if there had never been one.
  private func gatherInputs() throws -> ([String: InputArtifact], missing: [String]) {
    var inputs: [String: InputArtifact] = [:]
    var missing: [String] = []
    for binding in stage.inputs where !unusableInputs.contains(binding.stage) {
      var found = lookFor(binding.stage)
      if expectedInputs.contains(binding.stage) {
        for _ in 0..<100 where found == nil {
          try cancellation.check()
          // A record that exists and cannot be read ends the wait with its error.
          _ = try output.folder.folder(binding.stage)?.contents(of: ArtifactRecord.fileName)
          usleep(50_000)
          found = lookFor(binding.stage)
        }
        if found == nil { throw StageFailure.vanished(input: binding.stage) }
      }
      guard let found else { continue }
      inputs[binding.port] = found.input
      if found.isRemoved { missing.append(binding.stage) }
    }
    return (inputs, missing)
  }

  private func lookFor(_ name: String) -> (input: InputArtifact, isRemoved: Bool)? {
    if let input = collector.store.input(name) { return (input, false) }
    guard let removed = collector.store.published(name, verify: false), removed.state == .removed
    else { return nil }
    let input = InputArtifact(
      folder: session.layout.artifact(name), record: removed.record)
    return (input, true)
  }

  /// The digests of what the stage reads, by port.
  private func digests(of inputs: [String: InputArtifact]) -> [String: Digest] {
    var digests: [String: Digest] = [:]
    for binding in stage.inputs {
      digests[binding.port] = inputs[binding.port].map {
        planner.pipeline.port(of: binding, in: stage).digest(of: $0.record)
      }
    }
    return digests
  }

  private func upstream(_ inputs: [String: InputArtifact]) -> [String: PlannedInput] {
    let digests = digests(of: inputs)
    var upstream: [String: PlannedInput] = [:]
    for binding in stage.inputs {
      upstream[binding.port] = digests[binding.port].map(PlannedInput.artifact) ?? PlannedInput.none
    }
    return upstream
  }

  /// What became of an input that failed, where nothing else speaks against what was made with it before: that stays, and
  /// is not made again without the input.
  private func failureThatKeeps(
    _ facts: StageFacts, _ inputs: [String: InputArtifact]
  ) -> String? {
    guard let published = facts.published, published.state == .intact else { return nil }
    var upstream = upstream(inputs)
    var failure: String?
    for binding in stage.inputs {
      guard let what = failedInputs[binding.stage],
        let digest = published.record.inputs.artifacts[binding.port]
      else { continue }
      failure = failure ?? what
      upstream[binding.port] = .artifact(digest)
    }
    return failure != nil && decide(facts, upstream).reason == nil ? failure : nil
  }

  private func decide(_ facts: StageFacts, _ upstream: [String: PlannedInput]) -> Decision {
    let decision = Decision(
      published: facts.published,
      planned: planner.fingerprintInputs(of: stage, facts, artifacts: [:]),
      upstream: upstream,
      isForced: planner.selection.isForced(stage), hasLostRecord: facts.hasLostRecord,
      text: { stage.text(of: $0, recorded: $1) })
    // A kept artifact that `clean` has removed has a job only in a run that asks for it.
    let isCleaned = stage.keep && facts.published?.state == .removed
    if decision.reason == nil, isDemanded || isCleaned { return Decision(reason: .outputsMissing) }
    return decision
  }

  private var opened: OpenedCapture { OpenedCapture(capture, collector.summary) }

  /// Bytes that the stage writes for the whole capture at least; not known for some frames.
  private var leastBytes: Int64? {
    stage.isOfSubset ? nil : stage.kind.expectedBytes(stage.parameters, opened)?.least
  }

  /// Bytes that it is expected to write for the whole capture, as a run says before it starts. Cost: some small files of
  /// at most 60 captures.
  private var expectedBytes: Int64 {
    guard let recognition = collector.opened?.recognition else { return 0 }
    return RunNeeds(planner.pipeline, root: session.layout.root).bytes(
      of: stage, recognition, opened)
  }

  /// The error with the space that the job needs in all, when it ran out of it.
  private func explained(_ error: any Error, _ staging: StagingFolder) -> any Error {
    guard var error = error as? FileError, error.kind == .noSpace else { return error }
    let written = staging.bytesWritten
    let needed = max(expectedBytes, leastBytes ?? 0)
    if needed > written {
      error.reason += "; about \(ByteCount.text(needed)) are needed in all"
    }
    error.reason += "; \(ByteCount.text(written)) were written by then"
    return error
  }

  /// Files of the parts that the stage reads that could not be opened, where others of the part could: what
  /// is made of those is published, and the stage has failed.
  private func problemsOfParts(besides known: [String]) -> [String] {
    let parts = stage.kind.reads(stage.parameters, connected: Set(stage.inputs.map(\.port)))
    var seen = Set(known)
    return CapturePart.allCases.filter(parts.contains).compactMap {
      capture.partProblems[$0]?.description
    }.filter { seen.insert($0).inserted }
  }

  private func work(
    _ ingredients: FingerprintInputs, _ inputs: [String: InputArtifact], _ start: Double,
    _ listing: InputListing?, _ mark: DeviceErrors.Mark
  ) throws -> ArtifactRecord {
    try cancellation.check()
    try task.options.outputPlace?.check()
    try output.checkInPlace()
    try output.checkPlace(stage.name)
    try output.removeFailure(stage.name)
    if let least = leastBytes {
      try FileSystem.checkSpace(for: least, at: home.layout.folder) { expectedBytes }
    }
    let staging = try home.stagingFolder(stage.name, attempt: attempt)
    let stageBudget = task.budget.view(chargesThisThread: true)
    progress.follow { stageBudget.isWaiting }
    let warnings = WarningCollector()
    let started = clock.wallText()
    let externalFiles = stage.kind.externalFiles(stage.parameters, collector.summary)
    let result: StageResult
    do {
      result = try stage.kind.run(
        StageContext(
          capture: capture, stage: stage.name, parameters: stage.parameters, inputs: inputs,
          externalFiles: externalFiles, staging: staging, budget: stageBudget, warnings: warnings,
          progress: progress, cancellation: cancellation, log: log,
          readers: planner.readers(of: stage.name), memoryBytes: stage.memoryBytes))
    } catch {
      throw explained(error, staging)
    }
    try cancellation.check()
    try checkInputsUnchanged(
      ingredients, externalFiles, listing, copied: result.copied, mark)
    try checkRead(inputs, mark)
    let problems = result.problems + problemsOfParts(besides: result.problems)
    let record = try ArtifactRecord(
      stage: stage.name, ingredients: ingredients, recorded: result.recorded,
      outputs: staging.outputs, started: started, finished: clock.wallText(),
      seconds: clock.monotonicSeconds() - start,
      cpuSeconds: stageBudget.cpuSeconds + result.externalCPUSeconds,
      peakMemoryBytes: max(MemoryWatch.peakBytes, result.externalPeakMemoryBytes),
      frames: result.frames,
      warnings: warnings.warnings, problems: problems, program: task.options.program)
    try task.options.outputPlace?.check()
    var publication = Publication(
      staging, record, output: home, attempt: attempt, isLasting: !isInScratch)
    do {
      try publication.perform()
    } catch {
      // After the exchange, the folder in staging is the old artifact, not a failed attempt.
      if publication.isInPlace { try? staging.parent.remove(staging.name) }
      throw error
    }
    // An artifact from an earlier run without a scratch folder is obsolete.
    if isInScratch, try output.place(stage.name) == .ours {
      try output.removeArtifact(stage.name, attempt: attempt)
    }
    return record
  }

  /// Writes down that there is nothing to do with these inputs, so that no later run tries it again, and
  /// takes away what an earlier one published, unless the run keeps that: a folder of a stage that does not apply is
  /// absent.
  private func takeNote(
    of reason: StageDoesNotApply, _ ingredients: FingerprintInputs, _ start: Double,
    _ mark: DeviceErrors.Mark, keeps: Bool
  ) throws {
    try? home.existingStaging()?.remove(stagingName)
    try checkInputsUnchanged(
      ingredients, stage.kind.externalFiles(stage.parameters, collector.summary), nil,
      copied: [], mark)
    if !keeps {
      if try output.place(stage.name) == .ours {
        try output.removeArtifact(stage.name, attempt: attempt)
      }
      try output.existingRemovedRecords()?.remove("\(stage.name).json")
    }
    let now = clock.wallText()
    let record = try ArtifactRecord(
      stage: stage.name, ingredients: ingredients,
      recorded: [Planner.emptyKey: .string(reason.description)], outputs: [], started: now,
      finished: now, seconds: clock.monotonicSeconds() - start, cpuSeconds: 0,
      peakMemoryBytes: 0, frames: 0, warnings: reason.warnings, program: task.options.program)
    try output.notes.makeFolder(OutputNames.empty)
      .replace("\(stage.name).json", with: JSONText.pretty(record))
  }

  /// The machine must not have failed at what other stages published: a picture that could not be read is no hole.
  private func checkRead(
    _ inputs: [String: InputArtifact], _ mark: DeviceErrors.Mark
  ) throws(FileError) {
    for input in inputs.values {
      if let failed = DeviceErrors.since(mark, at: input.folder).first { throw failed }
    }
  }

  /// The files that were read must not have been touched: those of the capture since it was opened, those
  /// that parameters name since they were digested. And the machine must not have failed at one of them since then:
  /// a picture that could not be read is no hole.
  private func checkInputsUnchanged(
    _ ingredients: FingerprintInputs, _ externalFiles: [String: FilePath], _ listing: InputListing?,
    copied: Set<CapturePart>, _ mark: DeviceErrors.Mark
  ) throws {
    func changed(_ path: FilePath) -> FileError {
      DeviceErrors.since(mark, at: path).last
        ?? FileError(
          kind: .changedWhileReading, path: path, operation: "read",
          reason: "input-changed: the file changed while the stage read it",
          remedy: "run again once the upload has settled")
    }
    var stamps = FileStamps()
    let files = collector.captureFiles(of: stage, copied: copied)
    for failed in collector.deviceErrors()
    where listing != nil || files.contains(where: { $0.starts(with: failed.path) }) {
      throw failed
    }
    // Rights that were lacking only while the capture was opened.
    if let failed = capture.unread.first(where: { files.contains($0.file) }) { throw failed }
    for path in files {
      guard let before = session.identities[path.text], stamps.stamp(of: path.text) == before else {
        throw changed(path)
      }
    }
    if let listing {
      guard let now = collector.folderListing() else { throw changed(collector.folder) }
      if let name = listing.firstDifference(to: now) {
        throw changed(
          name.isEmpty ? collector.folder : collector.folder.pushing(FilePath(text: name)))
      }
    }
    for (name, path) in externalFiles
    where (try? collector.digests.digest(of: path)) != ingredients.inputs.external[name] {
      throw changed(path)
    }
  }
}
