import Captures
import FoundationEssentials
import Logging
import Output
import Parallel
import Pipeline
import Processes
import Reports
import Runner
import Storage
import Synchronization
import SystemPackage

#if canImport(Glibc)
  import Glibc
#endif

/// When STAGING is looked at, and what is made of a look.
extension Watcher {
  var isLookDue: Bool {
    if isFrozen { return false }
    let since = now - lastLookSeconds
    if since >= setup.settings.pollSeconds { return true }
    guard since >= lookGapSeconds else { return false }
    return isNoticed || dueSeconds.map { now >= $0 } ?? false
  }

  /// Looks cost what they cost: never more than a twentieth of the time.
  var lookGapSeconds: Double {
    min(setup.settings.pollSeconds, max(0.2, 20 * lookTook))
  }

  /// When time alone changes something.
  var dueSeconds: Double? {
    let settings = setup.settings
    let ends = onceEndsSeconds
    return watchState.with { state in
      var due = ends ?? .infinity
      for entry in state.intake.entries.values {
        switch entry.phase {
        case .moving where !entry.stamp.isTransferring && !entry.isOnItsWay:
          due = min(due, entry.sinceSeconds + settings.settleSeconds)
        case .incomplete: due = min(due, entry.sinceSeconds + settings.patienceSeconds)
        case .failed(let trouble): due = min(due, trouble.retryAtSeconds ?? .infinity)
        default: continue
        }
      }
      return due == .infinity ? nil : due
    }
  }

  func look() {
    let start = now
    isNoticed = false
    let work = watchState.with { $0.work }
    do throws(FileError) {
      let snapshot = try looker.look(work.batch)
      let recorded = recorded
      let text = clock.wallText()
      watchState.with {
        $0.intake.take(
          snapshot, nowSeconds: start, nowText: text,
          recorded: { location, stamp in
            recorded[location].flatMap {
              $0.digest == stamp.digest ? (seconds: $0.seconds, text: $0.text) : nil
            }
          })
      }
      self.recorded = [:]
      if let notices {
        notices.watch(snapshot.folders)
        if let limit = notices.limit { tell("inotify: \(limit)", .notice) }
      } else {
        tell(
          "inotify is not available; changes are noticed every \(setup.settings.pollSeconds) s",
          .notice)
      }
      for error in snapshot.unreadable { tell("\(error)", .warning) }
      unreadable = snapshot.unreadable
    } catch {
      watchState.with { $0.intake.takeTrouble("STAGING cannot be read: \(error)") }
    }
    assign(work)
    judge(work)
    noticeOutputs()
    lastLookSeconds = start
    lookTook = now - start
    lastLook = clock.wallText()
    lastLookWallSeconds = Date.now.timeIntervalSince1970
    looksDone += 1
    if setup.isOnce { freezeIfSeen(start) }
  }

  /// `--once` waits for its second look once.
  func freezeIfSeen(_ start: Double) {
    let settle = setup.settings.settleSeconds
    let moving = watchState.with { state in
      state.intake.entries.values.contains { entry in
        if case .moving = entry.phase {
          return !entry.stamp.isTransferring && !entry.isOnItsWay
            && entry.sinceSeconds <= (onceEndsSeconds.map { $0 - settle } ?? start)
        }
        return false
      }
    }
    if onceEndsSeconds == nil { onceEndsSeconds = start + settle }
    if !moving || start >= (onceEndsSeconds ?? start) + settle { isFrozen = true }
  }

  /// Folders in the output, where one is lacking.
  func assign(_ work: WatchWork) {
    let open = watchState.with { state in
      state.intake.entries.values.contains { $0.recognition != nil && $0.target == nil }
        ? state.intake.unassigned : []
    }
    guard !open.isEmpty else { return }
    let targets = Ownership(root: setup.output).resolve(open.compactMap(\.recognition))
    var given: [CaptureLocation: CaptureTarget] = [:]
    for (entry, target) in zip(open, targets) { given[entry.location] = target }
    watchState.with { [given] in $0.intake.assign(given) }
  }

  /// In blocks, so that the service manager hears of us in between.
  func judge(_ work: WatchWork) {
    let judge = CaptureStatusResolver(
      work: work, triage: Triage(settings: setup.settings), clock: clock)
    let questions = watchState.with { [now] in $0.intake.questions(nowSeconds: now) }
    let block = 256
    for start in stride(from: 0, to: questions.count, by: block) {
      if interruption.isRequested { return }
      let answers = judge.answers(Array(questions[start..<min(questions.count, start + block)]))
      watchState.with { [answers] state in
        for (question, answer) in answers { state.intake.answer(question, answer) }
        if !answers.isEmpty { state.hasChanged = true }
      }
      service.alive()
    }
  }

  /// Results that somebody has removed or made anew.
  func noticeOutputs() {
    let done = watchState.with { state in
      state.intake.entries.values.compactMap {
        entry -> (CaptureLocation, OutputLayout, FileStamp?)? in
        guard case .done = entry.phase, let target = entry.target else { return nil }
        return (entry.location, target.layout, entry.outputStamp)
      }
    }
    for (location, layout, stamp) in done where CaptureStatusResolver.outputStamp(layout) != stamp {
      watchState.with { $0.intake.judgeAgain(location) }
      isNoticed = true
    }
  }
}
