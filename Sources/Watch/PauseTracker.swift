import Logging
import Output
import Runner
import Storage

/// Decides whether anything new may be started, and keeps account of when it may not. The watcher's loop updates it
/// before it opens a run.
///
/// Owns the trouble with the output that `WatchRuns` reports, and the periods that `watch.json` tells of.
final class PauseTracker {
  private let setup: WatchSetup
  private let state: WatchState
  private let clock: RunClock
  private let log: Logger
  private var outputTrouble: (text: String, untilSeconds: Double)?
  private var history: PausePeriods
  /// Why nothing new is started, for people; `nil`: nothing keeps it.
  private(set) var text: String?

  /// - Parameter periods: those that the last watcher of this STAGING noted.
  init(
    _ setup: WatchSetup, _ state: WatchState, periods: [WatchRecord.PauseReason], clock: RunClock,
    log: Logger
  ) {
    self.setup = setup
    self.state = state
    self.clock = clock
    self.log = log
    history = PausePeriods(periods)
  }

  /// When captures waited for something else than a worker, oldest first.
  var periods: [WatchRecord.PauseReason] { history.periods }

  /// The output could not be written to: nothing is started for one poll interval.
  func noteOutputTrouble(_ text: String) {
    outputTrouble = (text, clock.monotonicSeconds() + setup.settings.pollSeconds)
  }

  /// Looks at disk, window, output and STAGING, and tells the shared state. Cost: one system call.
  func update() {
    let free = FreeSpaceRule.free(of: setup.output)
    let isOpen = setup.window?.isOpen(atNanoseconds: FileStamp.nowNanoseconds()) ?? true
    var trouble: String?
    if let known = outputTrouble, clock.monotonicSeconds() < known.untilSeconds {
      trouble = known.text
    }
    let (reason, stagingTrouble, isQueued) = state.with { [free, trouble] state in
      let reason = Self.reason(
        staging: state.intake.stagingTrouble != nil, output: trouble != nil,
        disk: free?.isEnough == false, window: !isOpen)
      state.hold = reason
      return (reason, state.intake.stagingTrouble, !state.intake.queue.isEmpty)
    }
    text =
      switch reason {
      case nil: nil
      case .staging: stagingTrouble
      case .output: trouble
      case .disk: free.map(Self.text)
      case .window: setup.window.map { "outside \($0)" }
      }
    note(reason, isWaiting: isQueued || reason == .staging)
  }

  /// Of several reasons the one that a person must do something about first.
  static func reason(staging: Bool, output: Bool, disk: Bool, window: Bool) -> WatchState
    .PauseReason?
  {
    if staging { return .staging }
    if output { return .output }
    if disk { return .disk }
    return window ? .window : nil
  }

  private static func text(_ free: FreeSpaceRule) -> String {
    if free.bytes < free.neededBytes {
      return
        "the disk of the output is full: \(free.bytes >> 20) MiB are free; nothing new is started until"
        + " \(free.neededBytes >> 20) MiB are"
    }
    return "the file system of the output has no more inodes"
  }

  private func note(_ reason: WatchState.PauseReason?, isWaiting: Bool) {
    guard
      let change = history.note(isWaiting ? reason?.rawValue : nil, time: clock.wallText)
    else { return }
    if let text, change.begun != nil, reason != .window {
      log.warning("nothing new is started: \(text)")
    } else if let ended = change.ended, ended != WatchState.PauseReason.window.rawValue {
      log.notice("work continues")
    }
  }
}

/// Times at which captures waited for something else than a worker: the last 200, oldest first. At most one of them
/// has not ended. Pure.
struct PausePeriods {
  private(set) var periods: [WatchRecord.PauseReason]

  private static let most = 200

  /// What captures wait for, before and after a change; `nil`: nothing else than a worker.
  struct Change: Hashable {
    var ended: String?
    var begun: String?
  }

  init(_ periods: [WatchRecord.PauseReason] = []) { self.periods = periods }

  /// Notes what captures wait for now. What has changed by that; `nil`: nothing.
  ///
  /// - Parameter time: the time of day as records have it.
  mutating func note(_ kind: String?, time: () -> String) -> Change? {
    let open = periods.last.flatMap { $0.to == nil ? $0 : nil }
    if open?.kind == kind { return nil }
    if open != nil { periods[periods.count - 1].to = time() }
    if let kind {
      periods.append(WatchRecord.PauseReason(kind: kind, from: time()))
      if periods.count > Self.most { periods.removeFirst(periods.count - Self.most) }
    }
    return Change(ended: open?.kind, begun: kind)
  }
}
