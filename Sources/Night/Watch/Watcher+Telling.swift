import Captures
import FoundationEssentials
import Logging
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
    let strangers = floor.with { state in
      state.book.entries.values.compactMap { entry -> RunReport.Unrecognized? in
        guard case .stranger = entry.phase else { return nil }
        return RunReport.Unrecognized(path: entry.place.folder.shown, holds: entry.holds)
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

  func publish(isLast: Bool = false) {
    let snapshot = floor.with {
      WatchSummary($0.book, hold: $0.hold, locked: $0.locked, tally: $0.tally)
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
      do {
        try NotesFile.write(JSONText.pretty(record), WatchRecord.fileName, ofOutput: setup.output)
        published = (record, now)
      } catch {
        tell("\(error)", .error)
      }
      let looks = floor.with { LookRecords($0.book.entries.values) }
      if looks != publishedLooks,
        (try? NotesFile.write(
          JSONText.canonical(looks), LookRecords.fileName, ofOutput: setup.output))
          != nil
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
    metrics.outputFreeBytes = DiskRoom.free(of: setup.output)?.bytes ?? 0
    do {
      try MetricsText(metrics).write(to: file)
    } catch {
      tell("--metrics: \(error)", .error)
    }
  }
}
