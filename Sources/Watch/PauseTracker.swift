import Captures
import Logging
import Engine
import Core

/// Decides whether anything new may be started, and keeps account of when it may not. The watcher's loop updates it
/// before it opens a run.
///
/// Owns the trouble with the output that `WatchRuns` reports, and the periods that `watch.json` tells of.
final class PauseTracker {
  private let state: WatchState
  private let reserve: DiskReserve
  private var outputTrouble: (text: String, untilSeconds: Double)?
  private var history: PausePeriods
  /// Why nothing new is started, for people; `nil`: nothing keeps it.
  private(set) var text: String?

  /// - Parameter periods: those that the last watcher of this STAGING noted.
  init(_ state: WatchState, periods: [WatchRecord.PauseReason], reserve: DiskReserve) {
    self.reserve = reserve
    self.state = state
    history = PausePeriods(periods)
  }

  /// When captures waited for something else than a worker, oldest first.
  var periods: [WatchRecord.PauseReason] { history.periods }

  /// The output could not be written to: nothing is started for one poll interval.
  func noteOutputTrouble(_ text: String) {
    outputTrouble = (text, state.clock.monotonicSeconds() + state.setup.settings.pollSeconds)
  }

  /// Looks at disk, window, output and STAGING, and tells the shared state. Cost: one system call, and one pass over
  /// the queue.
  func update() {
    let setup = state.setup
    var free = setup.free
    let now = state.clock.monotonicSeconds()
    if let found = free, reserve.take(of: found, nowSeconds: now) {
      free = setup.free
    }
    let isOpen = setup.window?.isOpen(atNanoseconds: FileStamp.nowNanoseconds()) ?? true
    var trouble: String?
    if let known = outputTrouble, now < known.untilSeconds {
      trouble = known.text
    }
    let (reason, stagingTrouble, isQueued, least) = state.with { [free, trouble] state in
      let queue = state.intake.queue
      var waits: [CaptureLocation: Int64] = [:]
      var least: (entry: StagingEntry, bytes: Int64)?
      for entry in queue {
        let needed = state.needed(entry, atSeconds: now)
        let isSpent = state.isSpent(for: entry, atSeconds: now)
        let fits = free.map { DiskNeeds.fitsAlone(needed, in: $0) } ?? true
        guard needed > 0, isSpent || !fits else { continue }
        waits[entry.location] = needed
        if needed < least?.bytes ?? .max { least = (entry, needed) }
      }
      state.diskWaits = waits
      let reason = Self.reason(
        staging: state.intake.stagingTrouble != nil, output: trouble != nil,
        disk: free?.isEnough == false || !queue.isEmpty && waits.count == queue.count,
        window: !isOpen)
      state.hold = reason
      let smallest = least.map { (name: $0.entry.name, bytes: $0.bytes) }
      return (reason, state.intake.stagingTrouble, !queue.isEmpty, smallest)
    }
    text =
      switch reason {
      case nil: nil
      case .staging: stagingTrouble
      case .output: trouble
      case .disk: free.map { $0.isEnough ? Self.text($0, least) : Self.text($0) }
      case .window: setup.window.map { "outside \($0)" }
      }
    for name in state.takeAll(\.fullDisk) {
      state.log.warning(
        "the disk of the output became full while it was processed; it waits until there is room",
        metadata: ["capture": "\(name)"])
    }
    note(reason, isWaiting: isQueued || reason == .staging)
  }

  /// The reason, of several, that a person must do something about first.
  static func reason(staging: Bool, output: Bool, disk: Bool, window: Bool) -> WatchState
    .PauseReason?
  {
    if staging { return .staging }
    if output { return .output }
    if disk { return .disk }
    return window ? .window : nil
  }

  static func text(_ free: FreeSpaceRule) -> String {
    if free.bytes < free.neededBytes {
      return
        "the disk of the output is full: \(ByteCount.text(free.bytes)) are free; nothing new is started"
        + " until \(ByteCount.text(free.neededBytes)) are"
    }
    return "the file system of the output has no more inodes"
  }

  static func text(_ free: FreeSpaceRule, _ least: (name: String, bytes: Int64)?) -> String {
    guard let least else { return text(free) }
    return "the disk of the output is too full: \(least.name) needs about"
      + " \(ByteCount.text(least.bytes)), \(ByteCount.text(free.bytes)) are free,"
      + " of which \(ByteCount.text(free.neededBytes)) stay free"
  }

  private func note(_ reason: WatchState.PauseReason?, isWaiting: Bool) {
    guard
      let change = history.note(isWaiting ? reason?.rawValue : nil, time: state.clock.wallText)
    else { return }
    if let text, change.begun != nil, reason != .window {
      state.log.warning("nothing new is started: \(text)")
    } else if let ended = change.ended, ended != WatchState.PauseReason.window.rawValue {
      state.log.notice("work continues")
    }
  }
}

/// Times at which captures waited for something else than a worker: the last 200, oldest first. At most one of them
/// has not ended. Pure.
struct PausePeriods {
  private(set) var periods: [WatchRecord.PauseReason]

  private static let most = 200

  init(_ periods: [WatchRecord.PauseReason] = []) { self.periods = periods }

  /// Notes what captures wait for now, or that they wait for a worker. What they waited for before, and what they wait
  /// for now, where that has changed.
  ///
  /// - Parameter time: the time of day as records have it.
  mutating func note(_ kind: String?, time: () -> String) -> (ended: String?, begun: String?)? {
    let open = periods.last.flatMap { $0.to == nil ? $0 : nil }
    if open?.kind == kind { return nil }
    if open != nil { periods[periods.count - 1].to = time() }
    if let kind {
      periods.append(WatchRecord.PauseReason(kind: kind, from: time()))
      if periods.count > Self.most { periods.removeFirst(periods.count - Self.most) }
    }
    return (open?.kind, kind)
  }
}
