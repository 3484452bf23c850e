import Captures
import Parallel
import Pipeline
import Storage
import Synchronization
import SystemPackage

/// How one attempt at a job ended.
struct JobResult: Sendable {
  var report: StageReport
  /// Of a failure: what it means for the run.
  var verdict: FailureVerdict? {
    didSet { report.cause = verdict?.cause }
  }
  var warnings: [CaptureWarning] = []
  /// It is up to date, but was removed after use: nothing can be read from it unless it is built again.
  var isRemoved = false

  init(report: StageReport) {
    self.report = report
  }

  /// What the artifact's record tells, whether it was made now or before.
  mutating func take(_ record: ArtifactRecord) {
    report.frames = record.frames
    report.outputBytes = record.outputs.reduce(0) { $0 + $1.bytes }
    warnings = record.warnings
  }
}

/// What a job says to the one who started it.
enum JobMessage: Sendable {
  case ended(String, JobResult)
  /// It must run and needs intermediates that were removed.
  case needs(String, inputs: [String])
}

/// Runs one stage of one capture: compares once more, works in a staging folder, publishes.
struct JobRunner: Sendable {
  let capture: Capture
  let stage: StageDefinition
  let planner: Planner
  let collector: FactsCollector
  let layout: OutputLayout
  let output: CaptureOutput
  let run: String
  let budget: CoreBudget
  let clock: RunClock
  let progress: StageProgress
  let cancellation: Cancellation
  /// The input files as they were when the capture was opened.
  let identities: [String: FileStamp]
  /// Optional inputs that failed in this run or do not apply: not read, whatever an earlier run left.
  let unusableInputs: Set<String>
  /// A removed intermediate that a dependent asked for.
  let isDemanded: Bool
  let log: LogFile
  /// Where results must go; `nil`: wherever the path leads.
  let place: OutputPlace?
  /// The build that the record names.
  let program: ProgramIdentity?

  func execute() -> JobMessage {
    var result = JobResult(
      report: StageReport(stage: stage.name, uses: stage.kind.name, outcome: .failed))
    let start = clock.monotonicSeconds()
    do {
      // Before anything of it is read.
      let listing =
        stage.kind.readsFolder(stage.parameters) ? collector.folderListing() : nil
      let facts = try collector.facts(of: stage, forPlan: false)
      if case .unreadable(let why) = facts.applicability {
        throw StageFailure(why, cause: .input)
      }
      let (inputs, missing) = gatherInputs()
      let decision = decide(facts, inputs)
      result.report.reason = decision.reason
      if decision.reason == nil {
        result.report.outcome = .upToDate
        result.isRemoved = facts.published?.state == .removed
        if let record = facts.published?.record { result.take(record) }
        return .ended(stage.name, result)
      }
      if !missing.isEmpty { return .needs(stage.name, inputs: missing) }
      let ingredients = planner.ingredients(
        of: stage, facts, artifacts: inputs.mapValues(\.record.outputDigest))
      let record = try work(ingredients, inputs, start, listing)
      result.take(record)
      result.report.outcome = .ran
      if !record.problems.isEmpty { fail(&result, record.problems) }
      result.report.seconds = record.seconds
      result.report.cpuSeconds = record.cpuSeconds
      if record.seconds > 0 {
        result.report.framesPerSecond = Double(record.frames) / record.seconds
      }
    } catch {
      result.report.seconds = clock.monotonicSeconds() - start
      result.report.message = "\(error)"
      if wasStopped(by: error) {
        result.report.outcome = .cancelled
        try? output.existingStaging()?.remove(stagingName)
      } else {
        var verdict = FailureJudge(output: layout.root, capture: capture.folder).verdict(error)
        if let path = changedInput(), (error as? FileError)?.kind != .changedWhileReading {
          verdict = .graver(verdict, FailureTable.verdict(.input, .gone))
          result.report.message =
            "input-changed: \(path) changed while the stage read it, run again once the upload has "
            + "settled; \(error)"
        }
        if isOutputFull(error) {
          verdict = .graver(verdict, FailureTable.verdict(.output, .space))
        }
        leaveNote(result.report.message ?? "", verdict)
        result.verdict = verdict
      }
    }
    return .ended(stage.name, result)
  }

  /// What could be made is published and the stage has failed: it says so here and under `.failed/`.
  private func fail(_ result: inout JobResult, _ problems: [String]) {
    let message = problems.joined(separator: "; ")
    result.report.outcome = .failed
    result.report.message = message
    let verdict = FailureJudge(output: layout.root, capture: capture.folder)
      .verdict(StageFailure(message, cause: .input))
    FailureNote(message: message, time: clock.wallText(), cause: verdict.cause).leave(
      for: stage.name, partial: nil, output: output, run: run)
    result.verdict = verdict
  }

  /// A stage that ran out of its own time has failed; one stopped with the whole run has not.
  private func wasStopped(by error: any Error) -> Bool {
    error is CancelledError && cancellation.isCancelledFromOutside
  }

  /// Says under `.failed/` why, with what the attempt had written; a success removes it. On a full disk
  /// what it had written is of less use than the space, and is removed. Somewhere else than where results
  /// must go nothing is left at all.
  private func leaveNote(_ message: String, _ verdict: FailureVerdict) {
    guard (try? place?.check()) != nil || place == nil else { return }
    guard (try? output.checkInPlace()) != nil else { return }
    let staging = try? output.existingStaging()
    if verdict == FailureTable.verdict(.output, .space) { try? staging?.remove(stagingName) }
    let isLeft = (try? staging?.entry(stagingName))?.kind == .folder
    FailureNote(message: message, time: clock.wallText(), cause: verdict.cause).leave(
      for: stage.name, partial: isLeft ? stagingName : nil, output: output, run: run)
  }

  /// Whether the disk that results go to is full, whatever became of it in the stage.
  private func isOutputFull(_ error: any Error) -> Bool {
    do throws(FileError) {
      try FileSystem.checkSpace(for: 0, at: layout.folder)
    } catch {
      return error.kind == .noSpace
    }
    return (error as? FileError)?.kind == .noSpace
  }

  private var stagingName: String { OutputLayout.stagingName(stage.name, run: run) }

  /// A file of the capture that is not as it was when the capture was opened.
  private func changedInput() -> FilePath? {
    collector.captureFiles(of: stage).first { path in
      identities[path.text].map { FileStamp(of: path) != $0 } ?? false
    }
  }

  /// The artifacts at the ports; removed intermediates are named apart.
  private func gatherInputs() -> ([String: InputArtifact], missing: [String]) {
    var inputs: [String: InputArtifact] = [:]
    var missing: [String] = []
    for binding in stage.inputs where !unusableInputs.contains(binding.stage) {
      if let input = collector.shelf.input(binding.stage) {
        inputs[binding.port] = input
      } else if let removed = collector.shelf.published(binding.stage, verify: false),
        removed.state == .removed
      {
        missing.append(binding.stage)
        inputs[binding.port] = InputArtifact(
          stage: binding.stage, folder: layout.artifact(binding.stage), record: removed.record)
      }
    }
    return (inputs, missing)
  }

  private func decide(_ facts: StageFacts, _ inputs: [String: InputArtifact]) -> Decision {
    var upstream: [String: PlannedInput] = [:]
    for binding in stage.inputs {
      upstream[binding.port] =
        inputs[binding.port].map { .artifact($0.record.outputDigest) } ?? PlannedInput.none
    }
    let decision = Decision(
      published: facts.published,
      planned: planner.ingredients(of: stage, facts, artifacts: [:]), upstream: upstream,
      isForced: planner.selection.isForced(stage))
    if decision.reason == nil, isDemanded { return Decision(reason: .outputsMissing) }
    return decision
  }

  /// With how much space the job needs in all, when it ran out of it.
  private func explained(_ error: any Error, _ staging: StagingFolder) -> any Error {
    guard var error = error as? FileError, error.kind == .noSpace else { return error }
    let written = staging.bytesWritten
    let (done, total) = (progress.done, progress.total)
    let projected = done > 0 && total > done ? Double(written) / Double(done) * Double(total) : nil
    let expected = stage.kind.expectedBytes(stage.parameters, capture).map(Double.init)
    guard let needed = [projected, expected].compactMap({ $0 }).max(), needed < 9e18 else {
      error.reason += "; \(ByteCount.text(written)) were written by then"
      return error
    }
    error.reason +=
      "; about \(ByteCount.text(max(Int64(needed), written))) are needed in all, "
      + "\(ByteCount.text(written)) were written by then"
    return error
  }

  private func work(
    _ ingredients: Ingredients, _ inputs: [String: InputArtifact], _ start: Double,
    _ listing: InputListing?
  ) throws -> ArtifactRecord {
    try cancellation.check()
    try place?.check()
    try output.checkInPlace()
    try output.checkPlace(stage.name)
    try output.removeFailure(stage.name)
    if let needed = stage.kind.expectedBytes(stage.parameters, capture) {
      try FileSystem.checkSpace(for: needed, at: layout.folder)
    }
    let staging = try output.stagingFolder(stage.name, run: run)
    let stageBudget = budget.view(chargesThisThread: true)
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
          memoryBytes: stage.memoryBytes))
    } catch {
      throw explained(error, staging)
    }
    try cancellation.check()
    try checkInputsUnchanged(ingredients, externalFiles, listing)
    let record = try ArtifactRecord(
      stage: stage.name, ingredients: ingredients, recorded: result.recorded,
      outputs: staging.outputs, started: started, finished: clock.wallText(),
      seconds: clock.monotonicSeconds() - start,
      cpuSeconds: stageBudget.cpuSeconds + result.externalCPUSeconds,
      peakMemoryBytes: max(ProcessUsage.peakMemoryBytes, result.externalPeakMemoryBytes),
      frames: result.frames,
      warnings: warnings.warnings, problems: result.problems, program: program)
    try place?.check()
    var publication = Publication(staging, record, output: output, run: run)
    do {
      try publication.perform()
    } catch {
      // What lies in staging now is the old artifact, not a failed attempt.
      if publication.isInPlace { try? staging.parent.remove(staging.name) }
      throw error
    }
    return record
  }

  /// Nobody may have touched the files that were read: those of the capture since it was opened, those
  /// that parameters name since they were digested.
  private func checkInputsUnchanged(
    _ ingredients: Ingredients, _ externalFiles: [String: FilePath], _ listing: InputListing?
  ) throws {
    func changed(_ path: FilePath) -> FileError {
      FileError(
        kind: .changedWhileReading, path: path, operation: "read",
        reason: "input-changed: the file changed while the stage read it",
        remedy: "run again once the upload has settled")
    }
    for path in collector.captureFiles(of: stage) {
      guard let before = identities[path.text], FileStamp(of: path) == before else {
        throw changed(path)
      }
    }
    if let listing {
      guard let now = collector.folderListing() else { throw changed(collector.folder) }
      if let name = listing.firstDifference(to: now) {
        throw changed(collector.folder.pushing(FilePath(text: name)))
      }
    }
    for (name, path) in externalFiles
    where (try? collector.digests.digest(of: path)) != ingredients.inputs.external[name] {
      throw changed(path)
    }
  }
}
