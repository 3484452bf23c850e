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

/// When runs begin and end, and what holds them back.
extension Watcher {
  func hold() {
    let room = FreeSpaceRule.free(of: setup.output)
    let isOpen = setup.window?.isOpen(atNanoseconds: FileStamp.nowNanoseconds()) ?? true
    var text: String?
    if let trouble = outputTrouble, now < trouble.untilSeconds { text = trouble.text }
    let kind = watchState.with { [room, text] state -> WatchState.PauseReason? in
      let kind: WatchState.PauseReason? =
        if state.intake.stagingTrouble != nil {
          .staging
        } else if text != nil {
          .output
        } else if let room, !room.isEnough {
          .disk
        } else if !isOpen {
          .window
        } else {
          nil
        }
      state.hold = kind
      return kind
    }
    holdText =
      switch kind {
      case nil: nil
      case .staging: watchState.with { $0.intake.stagingTrouble }
      case .output: text
      case .disk: room.map(Self.text)
      case .window: setup.window.map { "outside \($0)" }
      }
    noteHold(kind)
  }

  static func text(_ room: FreeSpaceRule) -> String {
    if room.bytes < room.neededBytes {
      return
        "the disk of the output is full: \(room.bytes >> 20) MiB are free; nothing new is started until"
        + " \(room.neededBytes >> 20) MiB are"
    }
    return "the file system of the output has no more inodes"
  }

  /// Times at which captures waited for something else than a worker, for the timeline of the night.
  func noteHold(_ kind: WatchState.PauseReason?) {
    let isWaiting = watchState.with { !$0.intake.queue.isEmpty } || kind == .staging
    let open = holds.last.flatMap { $0.to == nil ? $0 : nil }
    let wanted = isWaiting ? kind?.rawValue : nil
    if open?.kind == wanted { return }
    if open != nil { holds[holds.count - 1].to = clock.wallText() }
    if let wanted {
      holds.append(WatchRecord.PauseReason(kind: wanted, from: clock.wallText()))
      if holds.count > 200 { holds.removeFirst(holds.count - 200) }
    }
    if let text = holdText, wanted != nil, kind != .window {
      log.warning("nothing new is started: \(text)")
    } else if open != nil, open?.kind != "window" {
      log.notice("work continues")
    }
  }

  func openRun() {
    guard runs.last?.supply.isOpen != true, !interruption.isRequested else { return }
    // The next one begins when there is something for it to do, and a core to do it with.
    guard desk?.hasFreeCore != false, watchState.hasWork else { return }
    let work = watchState.with { $0.work }
    do {
      let journal = try RunJournal(root: setup.output, clock: clock)
      try journal.begin(work.context, pipeline: work.pipelineText)
      let supply = WatchSupply(
        watchState, run: journal.id, work: work, most: setup.settings.mostInRun)
      let log = WatchLog(log: EventLog(log))
      let run = RunInProgress(journal, supply)
      let events = EventFan([journal, log, supply])
      let (interruption, wakePipe) = (interruption, wakePipe)
      let desk = desk ?? work.supervisor.makeDesk()
      let isStarted = JobThread.start {
        let report = work.supervisor.run(
          supply: supply, desk: desk, run: journal.id, events: events, interruption: interruption)
        run.end(report)
        wakePipe.wake()
      }
      guard isStarted else {
        throw FileError(.resourceTemporarilyUnavailable, path: "thread", operation: "make")
      }
      self.desk = desk
      runs.append(run)
      note(.runs, "runs/", nil)
    } catch {
      outputTrouble = ("\(error)", now + setup.settings.pollSeconds)
      watchState.with { $0.hold = .output }
      note(.runs, "runs/", "nothing can be processed: \(error)")
    }
  }

  /// Those that have ended.
  func closeRuns() {
    for run in runs {
      guard let report = run.report else { continue }
      runs.removeAll { $0 === run }
      close(run, report)
    }
    // What the machine has to give is looked at anew when nothing of it is in use.
    if runs.isEmpty { desk = nil }
  }

  private func close(_ run: RunInProgress, _ report: RunReport) {
    var report = report
    report.unrecognized = unrecognized
    report.totals.unrecognized = report.unrecognized.count
    do {
      try run.journal.finish(report)
      if let lost = run.journal.lost {
        note(.runs, OutputNames.events, lost)
        codes.insert(ExitStatus.cannotWrite)
      } else {
        note(.runs, OutputNames.events, nil)
      }
    } catch {
      outputTrouble = ("\(error)", now + setup.settings.pollSeconds)
      log.error("\(error)")
      codes.insert(ExitStatus.cannotWrite)
    }
    watchState.giveBack(run.supply.takeRest())
    if !report.captures.isEmpty { codes.insert(report.exit) }
    heard(report)
  }

  func reloadIfAsked() {
    guard handle.takeReload() else { return }
    service.reloading()
    do {
      let work = try makeWork()
      watchState.with {
        $0.work = work
        $0.intake.judgeAgain()
      }
      // What is at work ends with the old one, and nothing waits for it.
      for run in runs { run.supply.close() }
      isNoticed = true
      log.notice("the pipeline was read again")
    } catch {
      log.error("the pipeline cannot be used, the old one is kept: \(error)")
    }
    service.ready()
  }
}
