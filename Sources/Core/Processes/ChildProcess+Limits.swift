#if canImport(Glibc)
  import Glibc
#endif

extension ChildProcess {
  /// How a program ended whose limits were watched.
  public enum WatchedEnd<Reason> {
    case ended(ProcessEnd)
    case killed(Reason)
  }

  /// What is to be done about a process that runs.
  public enum Step {
    case goOn, terminate, kill
  }

  /// Waits until the process has ended. Call once, instead of `wait`.
  ///
  /// - Parameter turn: lets some time pass (it reads output, or pauses) and says what to do; called again and again
  ///   while the process runs, with the seconds since the call began.
  public func wait(_ turn: (_ seconds: Double) -> Step) -> ProcessEnd {
    let start = MonotonicClock.seconds()
    while true {
      if let end = look() { return end }
      switch turn(MonotonicClock.seconds() - start) {
      case .goOn: break
      case .terminate: terminate()
      case .kill: kill()
      }
    }
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
    var reason: Reason?
    let end = wait { seconds in
      if reason == nil {
        reason = reasonToKill(seconds)
        if reason != nil { return .kill }
      }
      usleep(pauseMilliseconds * 1000)
      return .goOn
    }
    return reason.map { .killed($0) } ?? .ended(end)
  }
}
