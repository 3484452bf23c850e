import Captures
import Core
import Engine
import FoundationEssentials
import Logging
import SystemPackage

/// Finds out, after each scan, where captures go in the output and which of them are ready, done or incomplete. The
/// watcher's loop calls it on its own thread; it keeps nothing between two calls.
struct IntakeResolver {
  let state: WatchState
  let service: SystemdNotifier

  private var setup: WatchSetup { state.setup }

  /// Number of captures that are looked into between two signs of life to the service manager.
  private static let blockLength = 256

  /// Gives captures without one a folder in the output. Decides about all of them together.
  ///
  /// - Parameter looksForRenamed: results may be those of captures that were renamed while no watcher looked. `false`
  ///   afterwards, unless the output could not be read: what is not at work by the next scan is looked for again.
  func assignTargets(_ looksForRenamed: inout Bool) {
    moveResults()
    assign()
    guard looksForRenamed else { return }
    let new = state.with { state in
      state.intake.entries.values.filter { $0.target?.isNew == true && !$0.isRunning }
        .sorted { $0.order < $1.order }.compactMap(\.recognition)
    }
    let found: [CaptureLocation: String]
    do throws(FileError) {
      found = try RenamedResults(root: setup.output).find(new)
    } catch {
      state.log.warning("results of captures that were renamed are not found yet: \(error)")
      return
    }
    looksForRenamed = false
    guard !found.isEmpty else { return }
    for (location, name) in found { move(name, to: location) }
    assign()
  }

  /// Lets results follow their captures. Cost while there are none: a lock.
  func moveResults() {
    for wanted in state.with({ $0.intake.takeMoves() }) { move(wanted.name, to: wanted.to) }
  }

  private func move(_ name: String, to location: CaptureLocation) {
    guard let recognition = state.with({ $0.intake.entries[location]?.recognition }),
      let new = RenamedResults(root: setup.output).move(name, to: recognition)
    else { return }
    state.log.notice(
      "\(name) was renamed: its results are those of \(new) now",
      metadata: ["capture": "\(new)"])
    state.with { state in
      state.intake.forgetTarget(location)
      state.hasChanged = true
    }
  }

  private func assign() {
    let open = state.with { state in
      state.intake.entries.values.contains { $0.recognition != nil && $0.target == nil }
        ? state.intake.unassigned : []
    }
    guard !open.isEmpty else { return }
    let targets = Ownership(root: setup.output).resolve(open.compactMap(\.recognition))
    var given: [CaptureLocation: CaptureTarget] = [:]
    for (entry, target) in zip(open, targets) { given[entry.location] = target }
    state.with { [given] in $0.intake.assign(given) }
  }

  /// Answers what the intake asks, on all cores. Ends early when the watcher is interrupted.
  func resolve(_ work: WatchWork) {
    let questions = state.with { $0.intake.questions }
    for start in stride(from: 0, to: questions.count, by: Self.blockLength) {
      if state.interruption.isRequested { return }
      let end = min(questions.count, start + Self.blockLength)
      let answers = answers(to: Array(questions[start..<end]), work)
      state.with { [answers] state in
        for answer in answers { state.intake.answer(answer) }
        if !answers.isEmpty { state.hasChanged = true }
      }
      service.alive()
    }
  }

  /// The entries of a block as they stand now: by what earlier runs noted, and by opening captures where they noted
  /// nothing. An entry whose state is not known without opening it stays as it is.
  private func answers(to questions: [StagingEntry], _ work: WatchWork) -> [StagingEntry] {
    let batch = work.supervisor.batch
    let known = questions.compactMap { entry in entry.target.map { (entry: entry, target: $0) } }
    // Before it is looked whether they are done: what goes from them afterwards makes another signature.
    let signatures = known.map { OutputSignature(of: $0.target.layout) }
    var upToDate = batch.upToDate(known.map(\.target))
    let outdated = known.indices.filter { upToDate[$0] == nil }
    let byTimes = batch.upToDate(outdated.map { known[$0].target }, byTimes: true)
    var unverified: Set<Int> = []
    for (index, report) in zip(outdated, byTimes) where report != nil {
      upToDate[index] = report
      unverified.insert(index)
    }
    let now = state.clock.monotonicSeconds()
    var answers: [StagingEntry] = []
    var open: [(entry: StagingEntry, target: CaptureTarget)] = []
    for (index, asked) in known.enumerated() {
      var (entry, target) = asked
      if let report = upToDate[index], report.hasSucceeded {
        // Whatever kept its results from being looked at is over.
        NotesFile.remove(OutputNames.triage, of: target.layout)
        entry.phase = .done(report)
        entry.outputSignature = signatures[index]
        entry.isUnverified = unverified.contains(index)
      } else if let trouble = noted(entry, target, work) {
        entry.phase = .failed(trouble)
      } else if entry.mayOpen, !entry.asksForFiles(nowSeconds: now, setup.settings) {
        entry.phase = .queued
      } else {
        open.append((entry, target))
        continue
      }
      answers.append(entry)
    }
    let opened = try? concurrentMap(count: open.count) { [open] index in
      var (entry, target) = open[index]
      // Whole or not, a run has worked on these very files: they are neither waited for nor have to come to rest.
      if batch.hasWorkedOn(target, isAtRest: entry.mayOpen) {
        entry.phase = .queued
      } else if entry.mayOpen {
        entry.phase = lacking(target, entry.mark.waitsFor, batch)
      }
      return entry
    }
    return answers
      + (opened
        ?? open.map {
          var entry = $0.entry
          entry.phase = .queued
          return entry
        })
  }

  private func noted(
    _ entry: StagingEntry, _ target: CaptureTarget, _ work: WatchWork
  ) -> Failure? {
    guard let record = Failure(triageOf: target.layout), record.key == work.key(entry.stamp) else {
      return nil
    }
    return Triage(settings: setup.settings).failure(
      noted: record, nowSeconds: state.clock.monotonicSeconds(), now: Date.now)
  }

  /// A capture that cannot be opened is queued: its worker says why; unless an upload server waits for files of it.
  private func lacking(
    _ target: CaptureTarget, _ waitsFor: [String], _ batch: BatchRun
  ) -> StagingEntry.Phase {
    let summary = try? batch.summary(of: target)
    var missing = summary?.missingFiles ?? []
    missing += waitsFor.filter { !missing.contains($0) }
    return missing.isEmpty ? .queued : .incomplete(missing: missing, device: summary?.deviceID)
  }

  /// Takes in what people decided about captures. Whether anything is otherwise than before. Cost: one system call per
  /// capture, and one per file of those that are marked until their files change.
  func noticeMarks() -> Bool {
    let places = state.with { state in
      state.intake.entries.values.map { ($0.location, $0.target?.layout) }
    }
    let book = MarkBook(ofOutput: setup.output)
    let now = FileStamp.nowNanoseconds()
    var marks: [CaptureLocation: CaptureMark] = [:]
    var unproven: [MarkRecord] = []
    for (location, layout) in places {
      guard let record = book.record(of: layout, at: location) else { continue }
      let likeness = record.until == MarkRecord.untilChanged ? record.likeness : .same
      marks[location] = CaptureMark(record, nowNanoseconds: now, likeness: likeness)
      if likeness == .otherTimes { unproven.append(record) }
    }
    return state.with { [marks, unproven] state in
      state.unprovenMarks = unproven
      let hasChanged = state.intake.take(marks)
      if hasChanged { state.hasChanged = true }
      return hasChanged
    }
  }

  /// Asks anew about done captures whose results were removed or made anew. Whether there were any. Cost: a
  /// listing and some ten system calls per done capture.
  @discardableResult
  func noticeOutputs() -> Bool {
    let done = state.with { state in
      state.intake.entries.values.compactMap {
        entry -> (CaptureLocation, OutputLayout, OutputSignature?)? in
        guard case .done = entry.phase, !entry.isDoubted, let target = entry.target else {
          return nil
        }
        return (entry.location, target.layout, entry.outputSignature)
      }
    }
    var hasChanged = false
    for (location, layout, signature) in done where OutputSignature(of: layout) != signature {
      state.with { $0.intake.judgeAgain(location) }
      hasChanged = true
    }
    return hasChanged
  }
}

/// What a watcher processes captures with: made at its start and again when it is told to read its
/// pipeline anew.
public struct WatchWork: Sendable {
  public var supervisor: Supervisor
  /// For `run.json`.
  var context: RunContext
  /// The text of the pipeline without secrets.
  var pipelineText: String
  /// Tells pipelines and settings apart.
  var pipelineKey: String

  /// `pipelineKey` cut to 16 characters: results of one are no measure for those of another.
  var diskKey: String { String(pipelineKey.prefix(16)) }

  /// What captures of this pipeline are expected to need, by what lies in the output. Cost: that of `RunNeeds`.
  var needs: RunNeeds {
    RunNeeds(
      supervisor.batch.pipeline, root: supervisor.batch.options.output, look: supervisor.batch.look)
  }

  /// What attempts at a capture with these files are counted for.
  func key(_ stamp: FolderSignature) -> String {
    Triage.key(stamp, program: context.program, pipeline: pipelineKey)
  }

  public init(_ supervisor: Supervisor, context: RunContext, pipelineText: String) {
    (self.supervisor, self.context, self.pipelineText) = (supervisor, context, pipelineText)
    let options = supervisor.batch.options
    pipelineKey = Triage.pipelineKey(options.pipelineSource, strict: options.strict)
  }
}

/// Tells results of a capture from changed ones: it differs once a run has published something, or once a user has
/// removed, replaced or edited the folder of a stage. Valid in this process only.
///
/// Made from the stamps of the notes and of the folder of each stage. A file that is overwritten in place is not seen.
struct OutputSignature: Hashable {
  private let hash: Int

  /// After a run; `nil` if something that it reports to be there is not any more: a stage, or a file of one. What goes
  /// after that makes another signature.
  ///
  /// Intermediates that a run has removed left a record elsewhere. Cost: a system call for each published file.
  init?(of layout: OutputLayout, holding report: CaptureReport) {
    self.init(of: layout)
    let store = ArtifactStore(layout)
    for stage in report.stages where stage.outcome.isDone {
      guard
        FileSystem.exists(layout.record(stage.stage))
          || FileSystem.exists(layout.removedRecord(stage.stage))
      else { return nil }
      switch store.published(stage.stage, verify: false)?.state {
      case .missing, .altered: return nil
      case .intact, .removed, .unsound, nil: continue
      }
    }
  }

  /// Why it is not known whether what a run reports to be there is: a folder that is there and cannot be opened, a
  /// file that cannot be looked at.
  static func unknown(_ report: CaptureReport, in layout: OutputLayout) -> FileError? {
    do throws(FileError) {
      let folder = try HeldFolder(reading: layout.folder, followsLast: false)
      let store = ArtifactStore(layout)
      for stage in report.stages where stage.outcome.isDone {
        _ = try folder.folder(stage.stage)
        if case .missing(let names) = store.published(stage.stage, verify: false)?.state,
          let error = store.unknown(names, of: stage.stage)
        {
          return error
        }
      }
    } catch {
      return error.leavesUnknown ? error : nil
    }
    return nil
  }

  /// `nil` if the capture has no folder in the output that can be listed. Cost: a listing, and a system call for each stage.
  init?(of layout: OutputLayout) {
    guard let folder = HeldFolder(layout.folder, followsLast: false),
      let entries = try? folder.list()
    else { return nil }
    var hasher = Hasher()
    hasher.combine(folder.below(OutputNames.notes)?.stamp(of: OutputNames.index))
    let stages = entries.filter { $0.kind == .folder && !$0.name.hasPrefix(".") }
    for name in stages.map(\.name).sorted() {
      hasher.combine(name)
      hasher.combine(folder.status(of: name)?.stamp)
    }
    hash = hasher.finalize()
  }
}
