import Captures
import Engine
import Core
import SystemPackage

/// The places in STAGING that are known, and the folders in the output that they have: a folder is that of one place.
struct StagingPlaces {
  private(set) var entries: [CaptureLocation: StagingEntry] = [:]
  /// The places by the name of the folder in the output.
  private var names: [String: CaptureLocation] = [:]

  subscript(location: CaptureLocation) -> StagingEntry? {
    get { entries[location] }
    _modify { yield &entries[location] }
  }

  /// The entry whose results go to a folder of the output.
  func entry(named name: String) -> StagingEntry? { names[name].flatMap { entries[$0] } }

  // MARK: Lists, in the order of arrival

  /// The captures that wait to be processed.
  var queue: [StagingEntry] {
    sorted {
      if case .queued = $0.phase {
        !$0.isMissing && !$0.isDoubted && $0.decision?.isLeftAlone != true
      } else {
        false
      }
    }
  }

  /// Captures without a folder in the output yet; those whose folder is not theirs yet are among them, so that all are
  /// decided together.
  var unassigned: [StagingEntry] {
    sorted { $0.recognition != nil && ($0.target?.isClaimed != true) && !$0.isRunning }
  }

  /// Captures of which something has to be found out.
  var doubtful: [StagingEntry] {
    sorted { entry in
      if entry.recognition == nil || entry.isMissing || entry.isRunning { return false }
      if entry.isDoubted { return true }
      if case .judging = entry.phase { return true }
      return !entry.mayOpen && entry.isFresh && !entry.stamp.isTransferring
    }
  }

  /// The next capture that is done by names, sizes and times, and whose content is to be compared.
  var nextUnverified: StagingEntry? {
    entries.values.filter { entry in
      guard case .done = entry.phase else { return false }
      return entry.isUnverified && !entry.isDoubted && !entry.isMissing
    }.min { $0.order < $1.order }
  }

  var running: [StagingEntry] { entries.values.filter(\.isRunning) }

  private func sorted(_ isMeant: (StagingEntry) -> Bool) -> [StagingEntry] {
    entries.values.filter(isMeant).sorted { $0.order < $1.order }
  }

  // MARK: Changes

  /// Removes a place; its folder may become that of another one.
  mutating func remove(_ location: CaptureLocation) {
    if let entry = entries.removeValue(forKey: location) { release(entry) }
  }

  /// Gives places their folders in the output.
  mutating func assign(_ targets: [CaptureLocation: CaptureTarget]) {
    for (location, target) in targets {
      guard let entry = entries[location] else { continue }
      release(entry)
      entries[location]?.target = target
      names[target.layout.name] = location
    }
  }

  /// Lets the folder of a place become that of another one.
  mutating func release(_ entry: StagingEntry) {
    guard let name = entry.target?.layout.name, names[name] == entry.location else { return }
    names[name] = nil
  }

  /// Gives a place that is there again its folder, unless that is another one's by now.
  mutating func reclaim(_ entry: inout StagingEntry) {
    guard let name = entry.target?.layout.name else { return }
    if names[name] == nil { names[name] = entry.location } else { entry.target = nil }
  }
}
