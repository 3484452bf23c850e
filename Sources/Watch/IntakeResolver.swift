import Captures
import Logging
import Engine
import Core
import SystemPackage

/// Finds out, after each scan, where captures go in the output and which of them are ready, done or incomplete. The
/// watcher's loop calls it on its own thread; it keeps nothing between two calls.
struct IntakeResolver {
  let state: WatchState
  let setup: WatchSetup
  let clock: RunClock
  let interruption: Interruption
  let service: SystemdNotifier
  let log: Logger

  /// Number of captures that are looked into between two signs of life to the service manager.
  private static let blockLength = 256

  /// Gives captures without one a folder in the output. Decides about all of them together.
  ///
  /// - Parameter isFirst: results may be those of captures that were renamed while no watcher looked.
  func assignTargets(isFirst: Bool) {
    moveResults()
    assign()
    guard isFirst else { return }
    let new = state.with { state in
      state.intake.entries.values.filter { $0.target?.isNew == true && !$0.isRunning }
        .sorted { $0.order < $1.order }.compactMap(\.recognition)
    }
    let found = RenamedResults(root: setup.output).find(new)
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
    log.notice(
      "\(name) was renamed: its results are those of \(new) now",
      metadata: ["capture": "\(new)"])
    state.with { state in
      state.intake.noteRenamed(name, to: new)
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
    let resolver = CaptureStatusResolver(
      work: work, triage: Triage(settings: setup.settings), clock: clock)
    let now = clock.monotonicSeconds()
    let questions = state.with { $0.intake.questions(nowSeconds: now) }
    for start in stride(from: 0, to: questions.count, by: Self.blockLength) {
      if interruption.isRequested { return }
      let end = min(questions.count, start + Self.blockLength)
      let answers = resolver.answers(Array(questions[start..<end]))
      state.with { [answers] state in
        for (question, answer) in answers { state.intake.answer(question, answer) }
        if !answers.isEmpty { state.hasChanged = true }
      }
      service.alive()
    }
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
