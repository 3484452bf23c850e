import Engine
import Synchronization

/// How many captures are in each state: those of STAGING as the watcher knows them, and those of the output that are
/// not in STAGING any more, as `status` tells of them. What it counts is what status, report and page count.
final class OutputCounts: Sendable {
  /// A capture of the output.
  struct Member: Hashable {
    var state: CaptureState
    var needsPerson = false
    var mark: CaptureMark?
  }

  private struct State {
    /// By the name of the folder of results; `nil`: the output has not been read yet.
    var known: [String: Member]?
    var seen: [String: Member] = [:]
    /// What left STAGING, for what is read at the same time.
    var departed: [String: Member] = [:]
    var isStale = false
  }

  private let state = Mutex(State())

  /// Whether the output has been read, or cannot be.
  var isReady: Bool { state.withLock { $0.known != nil } }

  /// The output is about to be read: what leaves STAGING from now on is known better here.
  func beginReading() {
    state.withLock { state in
      state.departed = [:]
      state.isStale = false
    }
  }

  /// Whether something left STAGING whose state is not known.
  var isStale: Bool { state.withLock { $0.isStale } }

  /// Takes in how the captures of the output stand.
  ///
  /// - Parameter members: `nil`: it could not be read, and what was known stays.
  func take(_ members: [String: Member]?) {
    state.withLock { state in
      guard let members else {
        state.known = state.known ?? [:]
        return
      }
      state.known = members.merging(state.departed) { _, own in own }
    }
  }

  /// How the results of this name stand; `nil`: there are none, or they were not read.
  func member(_ name: String) -> Member? { state.withLock { $0.known?[name] } }

  /// Those of the output that are not in STAGING.
  ///
  /// - Parameters:
  ///   - present: captures of STAGING, by the name of their folder of results.
  ///   - elsewhere: names of captures that the watcher counts itself although they are not there.
  func others(
    present: [String: Member], elsewhere: Set<String>
  ) -> [Member] {
    state.withLock { state in
      for (name, member) in state.seen where present[name] == nil && !elsewhere.contains(name) {
        guard [.done, .failed, .quarantined].contains(member.state)
        else {
          // The state of any other capture comes from its results.
          state.isStale = true
          continue
        }
        state.departed[name] = member
        state.known?[name] = member
      }
      state.seen = present
      return (state.known ?? [:]).filter { present[$0.key] == nil && !elsewhere.contains($0.key) }
        .map(\.value)
    }
  }
}
