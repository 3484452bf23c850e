import Engine
import Core

#if canImport(Glibc)
  import Glibc
#endif

/// A run whose process stays until all array tasks have ended: repeats the round, and cancels tasks
/// when it is interrupted.
struct AttendedRun {
  private let run: ClusterRun
  private let context: ClusterContext
  private let canceller: ElementCanceller

  init(_ run: ClusterRun) {
    self.run = run
    context = run.context
    canceller = ElementCanceller(run.context, run.elements, run.outcomes, run.listener)
  }

  /// Repeats the round until all array tasks have ended, the run is interrupted, or it stops.
  ///
  /// - Parameter isLeft: whether the terminal is gone. Array tasks then continue.
  func attend(isLeft: () -> Bool) {
    let (clock, interruption) = (context.clock, context.interruption)
    let pause = min(2, context.limits.pollSeconds)
    while true {
      if isLeft() { return run.stopper.leave() }
      if interruption.isRequested { return canceller.cancelAll() }
      run.round()
      if let stop = run.stopper.reason {
        if case .configuration = stop { canceller.cancelAll() }
        return
      }
      if run.isOver { return }
      if run.outcomes.hasCancelledWaiting { run.decider.dropWaiting() }
      // Short pauses, so that an interrupt takes effect soon.
      let until = clock.monotonicSeconds() + pause
      while clock.monotonicSeconds() < until, !interruption.isRequested, !isLeft() {
        usleep(50_000)
      }
    }
  }
}
