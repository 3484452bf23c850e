import Captures
import Output
import Pipeline
import Runner
import Storage
import SystemPackage

/// What is processed, and how that ends.
extension IntakeState {
  /// The captures that wait to be processed, in the order of arrival.
  var queue: [StagingEntry] {
    entries.values.filter { if case .queued = $0.phase { !$0.isMissing } else { false } }
      .sorted { $0.order < $1.order }
  }

  mutating func start(_ location: CaptureLocation) {
    guard let stamp = entries[location]?.stamp else { return }
    entries[location]?.phase = .running(stamp: stamp)
  }

  /// The entry whose results go to a folder of the output.
  func entry(named name: String) -> StagingEntry? { locations[name].flatMap { entries[$0] } }

  /// How the work on a capture has ended.
  mutating func end(_ location: CaptureLocation, _ phase: StagingEntry.Phase, _ nowText: String) {
    guard var entry = entries[location], case .running(let stamp) = entry.phase else { return }
    entry.phase = phase
    if case .failed(let trouble) = phase { entry.machineTries = trouble.machineTries }
    let hasChanged = stamp != entry.stamp
    if entry.isOutdated {
      entry.isOutdated = false
      entry.phase = .judging
    }
    entries[location] = entry
    if entry.isMissing {
      remove(location)
      depart(entry, nowText)
    } else if hasChanged {
      entries[location]?.phase = .moving
      entries[location]?.isFresh = true
    }
  }

  mutating func noteOutput(_ location: CaptureLocation, _ stamp: FileStamp?) {
    entries[location]?.outputStamp = stamp
  }

  /// Interrupted, or given back without having been started: no failure.
  mutating func giveBack(_ location: CaptureLocation) {
    guard let entry = entries[location], entry.isRunning else { return }
    if entry.isMissing {
      entries[location]?.phase = .queued
      let left = entries[location] ?? entry
      remove(location)
      depart(left, left.since)
    } else {
      entries[location]?.phase = .queued
    }
  }

  var running: [StagingEntry] { entries.values.filter(\.isRunning) }
}
