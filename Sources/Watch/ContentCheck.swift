import Captures
import Engine
import Core
import Synchronization
import SystemPackage

/// Compares the content of captures that are done by names, sizes and times of modification, one after the other,
/// while no run goes on: after a change of owner or mode, or when a backup was restored. Then that of marked captures
/// whose files have other times than those that were marked. No worker is started.
///
/// The watcher's loop calls it on its own thread; what is compared is read on another one.
final class ContentCheck: Sendable {
  private let state: WatchState
  private let output: FilePath
  private let wake: @Sendable () -> Void
  private let isBusy = Mutex(false)
  /// Marks that were compared, whether that could be noted or not.
  private let compared = Mutex<Set<MarkRecord>>([])

  init(_ state: WatchState, output: FilePath, wake: @escaping @Sendable () -> Void) {
    self.state = state
    self.output = output
    self.wake = wake
  }

  private var nextMark: MarkRecord? {
    let marks = state.with { $0.unprovenMarks }
    return marks.isEmpty ? nil : compared.withLock { known in marks.first { !known.contains($0) } }
  }

  /// Whether nothing is compared and nothing is left to be.
  var isOver: Bool {
    !isBusy.withLock { $0 } && state.with { $0.intake.nextUnverified == nil } && nextMark == nil
  }

  /// Begins with the next capture, unless one is being read.
  func attend() {
    guard !isBusy.withLock({ $0 }) else { return }
    let (next, work) = state.with { ($0.intake.nextUnverified, $0.work) }
    guard let next, let target = next.target else { return attendToMark() }
    isBusy.withLock { $0 = true }
    let isStarted = JobThread.start { [self, state, wake] in
      let isSame = work.batch.upToDateByContent(target) != nil
      let signature = Self.signature(of: target.layout) {
        isSame && work.batch.upToDateByTimes([target]).first.flatMap(\.self) != nil
      }
      state.with { state in
        state.intake.verified(next, isSame: isSame, signature)
        state.hasChanged = true
      }
      isBusy.withLock { $0 = false }
      wake()
    }
    if !isStarted { isBusy.withLock { $0 = false } }
  }

  private func attendToMark() {
    guard let mark = nextMark else { return }
    isBusy.withLock { $0 = true }
    let isStarted = JobThread.start { [self] in
      Marking(ofOutput: output, holder: "scanmill watch").compare(mark)
      compared.withLock { _ = $0.insert(mark) }
      isBusy.withLock { $0 = false }
      wake()
    }
    if !isStarted { isBusy.withLock { $0 = false } }
  }

  /// The signature of results that have been compared; `nil`: they are to be asked about again.
  ///
  /// What was removed while the content was compared is in no signature, so they are looked at once more; what goes
  /// during that look makes another signature than the one that was taken before it.
  static func signature(of layout: OutputLayout, ifStillDone: () -> Bool) -> OutputSignature? {
    let taken = OutputSignature(of: layout)
    return ifStillDone() ? taken : nil
  }
}
