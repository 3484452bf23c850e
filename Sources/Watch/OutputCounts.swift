import Core
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
    var isBeingRead = false
    var readingSeconds = 0.0
  }

  private let state = Mutex(State())
  /// The output is read by one at a time.
  private let turn = Mutex(())

  /// Whether the output has been read, or cannot be.
  var isReady: Bool { state.withLock { $0.known != nil } }

  /// Whether something left STAGING whose state is not known.
  var isStale: Bool { state.withLock { $0.isStale } }

  var isBeingRead: Bool { state.withLock { $0.isBeingRead } }

  /// How long the last reading took.
  var readingSeconds: Double { state.withLock { $0.readingSeconds } }

  /// Takes in how the captures of the output stand; what leaves STAGING while it is read is known better here. Whether
  /// the output could be read: if not, what was known stays.
  ///
  /// - Parameter reading: reads the output; `nil`: it cannot be read.
  @discardableResult
  func read(_ clock: RunClock, _ reading: () -> [String: Member]?) -> Bool {
    turn.withLock { _ in
      state.withLock { ($0.departed, $0.isStale, $0.isBeingRead) = ([:], false, true) }
      let start = clock.monotonicSeconds()
      let members = reading()
      let seconds = clock.monotonicSeconds() - start
      state.withLock { state in
        (state.isBeingRead, state.readingSeconds) = (false, seconds)
        state.known =
          members?.merging(state.departed) { _, own in own } ?? state.known ?? [:]
      }
      return members != nil
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
