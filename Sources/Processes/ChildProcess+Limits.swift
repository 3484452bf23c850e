#if canImport(Glibc)
  import Glibc
#endif

extension ChildProcess {
  /// How a program ended whose limits were watched.
  public enum WatchedEnd<Reason> {
    case ended(ProcessEnd)
    case killed(Reason)
  }

  /// Waits until the process has ended, or until there is a reason to kill it: then it is killed and waited for.
  /// Call once, instead of `wait`.
  ///
  /// - Parameters:
  ///   - pauseMilliseconds: between two looks.
  ///   - reasonToKill: asked at each look while the process runs, with the seconds since the call began.
  public func wait<Reason>(
    pauseMilliseconds: UInt32, reasonToKill: (_ seconds: Double) -> Reason?
  ) -> WatchedEnd<Reason> {
    let start = MonotonicClock.seconds()
    while true {
      if let end = look() { return .ended(end) }
      if let reason = reasonToKill(MonotonicClock.seconds() - start) {
        kill()
        _ = wait()
        return .killed(reason)
      }
      usleep(pauseMilliseconds * 1000)
    }
  }
}
