import Captures
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

  mutating func start(_ place: StagingPlace) {
    guard let stamp = entries[place]?.stamp else { return }
    entries[place]?.phase = .running(stamp: stamp)
  }

  /// The entry whose results go to a folder of the output.
  func entry(named name: String) -> StagingEntry? { places[name].flatMap { entries[$0] } }

  /// How the work on a capture has ended.
  mutating func end(_ place: StagingPlace, _ phase: StagingEntry.Phase, _ nowText: String) {
    guard var entry = entries[place], case .running(let stamp) = entry.phase else { return }
    entry.phase = phase
    if case .failed(let trouble) = phase { entry.machineTries = trouble.machineTries }
    let hasChanged = stamp != entry.stamp
    if entry.isOutdated {
      entry.isOutdated = false
      entry.phase = .judging
    }
    entries[place] = entry
    if entry.isMissing {
      remove(place)
      depart(entry, nowText)
    } else if hasChanged {
      entries[place]?.phase = .moving
      entries[place]?.isFresh = true
    }
  }

  mutating func noteOutput(_ place: StagingPlace, _ stamp: FileStamp?) {
    entries[place]?.outputStamp = stamp
  }

  /// Interrupted, or given back without having been started: no failure.
  mutating func giveBack(_ place: StagingPlace) {
    guard let entry = entries[place], entry.isRunning else { return }
    if entry.isMissing {
      entries[place]?.phase = .queued
      let left = entries[place] ?? entry
      remove(place)
      depart(left, left.since)
    } else {
      entries[place]?.phase = .queued
    }
  }

  var running: [StagingEntry] { entries.values.filter(\.isRunning) }
}
