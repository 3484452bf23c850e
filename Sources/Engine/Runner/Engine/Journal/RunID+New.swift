extension RunID {
  /// A new one, made now.
  public static func new(at clock: RunClock = .system) -> RunID {
    RunID(wallText: clock.wallText())
  }
}
