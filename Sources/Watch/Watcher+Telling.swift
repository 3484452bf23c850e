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

/// What the watcher notes and tells.
extension Watcher {
  var unrecognized: [RunReport.Unrecognized] {
    let strangers = watchState.with { state in
      state.intake.entries.values.compactMap { entry -> RunReport.Unrecognized? in
        guard case .stranger = entry.phase else { return nil }
        return RunReport.Unrecognized(path: entry.location.folder.shown, holds: entry.holds)
      }
    }
    let hidden = unreadable.map {
      RunReport.Unrecognized(path: $0.path.shown, holds: ["cannot be read: \($0.reason)"])
    }
    return (strangers + hidden).sorted { $0.path < $1.path }
  }

  /// Once.
  func tell(_ text: String, _ level: Logger.Level) {
    guard told.count < 10_000, told.insert(text).inserted else { return }
    log.log(level: level, "\(text)")
  }

  /// What became of something that the watcher writes: told when it is news, and again and again.
  func note(_ kind: WriteFailures.Kind, _ file: String, _ problem: String?) {
    if let problem {
      if let text = troubles.failed(kind, file, problem, nowSeconds: now) { log.error("\(text)") }
    } else if let text = troubles.succeeded(kind, file) {
      log.notice("\(text)")
    }
  }

  /// Writes a note of the output folder.
  func write(_ bytes: [UInt8], as name: String) -> Bool {
    do throws(FileError) {
      try NotesFile.write(bytes, name, ofOutput: setup.output)
      note(.notes, name, nil)
      return true
    } catch {
      note(.notes, name, "\(error)")
      return false
    }
  }

  /// What went wrong beside the watcher's own thread.
  func hearOfPages() {
    for outcome in pages.takeOutcomes() {
      note(outcome.kind, outcome.file, outcome.problem)
      if outcome.problem != nil, outcome.kind == .pages {
        // Else nobody would try again before something changes.
        watchState.with { $0.hasChanged = true }
      }
    }
    let unwritten = watchState.with { state -> [String] in
      defer { state.unwritten = [] }
      return state.unwritten
    }
    for problem in unwritten { note(.notes, TriageRecord.fileName, problem) }
  }

  /// Told at once, not after the first look: a place that can never be written to is a slip of the hand.
  func checkMetrics() {
    guard let file = setup.metrics else { return }
    do throws(FileError) {
      try MetricsText.check(file)
    } catch {
      note(.metrics, "--metrics", "\(error)")
    }
  }

  func publish(isLast: Bool = false) {
    let snapshot = watchState.with {
      WatchSummary($0.intake, hold: $0.hold, locked: $0.locked, tally: $0.tally)
    }
    var record = WatchRecord(
      staging: setup.staging.text, started: started, lastLook: lastLook,
      waiting: snapshot.waiting, unrecognized: unrecognized)
    record.stagingTrouble = snapshot.stagingTrouble
    record.holdsBecause = holdText
    record.known = snapshot.known
    record.lastDoneSeconds = snapshot.tally.lastDoneSeconds
    record.holds = holds
    if isLast { record.ended = clock.wallText() }
    // Unmounted: what was known stays as it was.
    guard looksDone > 0 else { return }
    var comparable = record
    comparable.lastLook = published?.record.lastLook ?? ""
    let isDue = published.map { now - $0.seconds >= 60 || $0.record != comparable } ?? true
    if isDue || isLast {
      if let bytes = try? JSONText.pretty(record), write(bytes, as: WatchRecord.fileName) {
        published = (record, now)
      }
      let looks = watchState.with { FirstSeenRecords($0.intake.entries.values) }
      if looks != publishedLooks, let bytes = try? JSONText.canonical(looks),
        write(bytes, as: FirstSeenRecords.fileName)
      {
        publishedLooks = looks
      }
    }
    service.status(snapshot.sentence(unrecognized: record.unrecognized.count, hold: holdText))
    writeMetrics(snapshot, unrecognized: record.unrecognized.count)
  }

  func writeMetrics(_ summary: WatchSummary, unrecognized: Int) {
    guard let file = setup.metrics else { return }
    var metrics = NightMetrics(lookTimestampSeconds: lastLookWallSeconds, version: setup.version)
    metrics.captures = summary.states
    metrics.unrecognized = unrecognized
    metrics.doneTimestampSeconds = summary.tally.lastDoneSeconds
    metrics.queueOldestSeconds = summary.oldestSince.map { max(0, now - $0) } ?? 0
    metrics.failuresTotal = summary.tally.failures
    metrics.framesTotal = summary.tally.frames
    metrics.bytesWrittenTotal = summary.tally.bytesWritten
    metrics.cpuSecondsTotal = summary.tally.cpuSeconds
    metrics.outputFreeBytes = FreeSpaceRule.free(of: setup.output)?.bytes ?? 0
    for kind in WriteFailures.Kind.allCases {
      metrics.writeFailuresTotal[kind] = troubles.count(kind)
    }
    do throws(FileError) {
      try MetricsText(metrics).write(to: file)
      note(.metrics, "--metrics", nil)
    } catch {
      note(.metrics, "--metrics", "\(error)")
    }
  }
}
