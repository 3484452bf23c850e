/// Says when something that is to be done every so often is due: by the clock, however busy its owner is
/// otherwise. Pure.
struct Throttle {
  let everySeconds: Double
  private var lastSeconds: Double?

  init(everySeconds: Double) {
    self.everySeconds = everySeconds
  }

  /// Whether it is time, which begins the next interval; the first call only begins one.
  mutating func isDue(atSeconds now: Double) -> Bool {
    guard let last = lastSeconds else {
      lastSeconds = now
      return false
    }
    guard now - last >= everySeconds else { return false }
    lastSeconds = now
    return true
  }
}
