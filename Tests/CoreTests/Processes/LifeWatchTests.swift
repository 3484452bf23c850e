import Testing

@testable import Core

@Suite("Whether a process gets on, seen from outside")
struct LifeWatchTests {
  private static var limits: LifeWatch.Limits {
    var limits = LifeWatch.Limits()
    limits.silenceSeconds = 60
    limits.spinSeconds = 120
    return limits
  }

  /// What is seen each second of a process, and what it says.
  struct Second {
    var cpuSeconds = 0.0
    var readBytes: Int64 = 0
    var minorFaults: Int64 = 0
    var majorFaults: Int64 = 0
    var waitsForDisk = false
    var isHeard = false
  }

  /// The second at which it is given up, and why; `nil` when it never is.
  private static func end(
    of seconds: Int, stall: Double? = 600, readsCount: Bool = false, step: Double = 1,
    _ second: (Int) -> Second
  ) -> (second: Int, verdict: LifeWatch.Verdict)? {
    var watch = LifeWatch(limits, atSeconds: 1000)
    var signs = ProcessSigns()
    for number in 1...seconds {
      let now = second(number)
      signs.cpuSeconds += now.cpuSeconds
      signs.readBytes += now.readBytes
      signs.minorFaults += now.minorFaults
      signs.majorFaults += now.majorFaults
      signs.waitsForDisk = now.waitsForDisk
      if now.isHeard { watch.hear() }
      let verdict = watch.look(
        atSeconds: 1000 + Double(number) * step, stallSeconds: stall,
        readsAndFaultsCount: readsCount, signs: { signs })
      if let verdict { return (number, verdict) }
    }
    return nil
  }

  @Test("One that waits and says nothing is given up a minute after the stall time")
  func silence() throws {
    let end = try #require(Self.end(of: 2000) { _ in Second() })
    #expect(end.second == 661)
    #expect(end.verdict == .silent(seconds: 661))
    #expect(Self.end(of: 2000, stall: 10) { _ in Second() }?.second == 71)
    // A stage whose own stall time is an hour, and one without any.
    #expect(Self.end(of: 3660, stall: 3600) { _ in Second() } == nil)
    #expect(Self.end(of: 100_000, stall: nil) { _ in Second() } == nil)
  }

  @Test("One that says now and then that it gets on is never given up, however long it takes")
  func steady() {
    #expect(Self.end(of: 20_000) { Second(cpuSeconds: 1.6, isHeard: $0 % 110 == 0) } == nil)
    #expect(Self.end(of: 20_000) { Second(isHeard: $0 % 650 == 0) } == nil)
  }

  @Test(
    "One that computes without progress is given up after two minutes of the clock and of the processor",
    arguments: [(1.6, 120...126), (1.0, 120...126), (0.25, 480...490)])
  func spinning(cores: Double, seconds: ClosedRange<Int>) throws {
    // What it reads and how it uses memory is what looking after itself takes.
    let end = try #require(
      Self.end(of: 600) { _ in Second(cpuSeconds: cores, readBytes: 600, minorFaults: 2) })
    #expect(seconds.contains(end.second), "\(end.second)")
    if case .spinning = end.verdict {} else { Issue.record("\(end.verdict)") }
  }

  @Test("One that reads, or comes to use memory, does not spin; whether that is progress depends")
  func working() {
    let kinds: [(Int) -> Second] = [
      { _ in Second(cpuSeconds: 1, readBytes: 1 << 20) },
      { _ in Second(cpuSeconds: 1, minorFaults: 500) },
      { Second(cpuSeconds: 1, majorFaults: $0 % 30 == 0 ? 1 : 0) },
    ]
    for kind in kinds {
      // A capture that is opened: nothing else tells of progress.
      #expect(Self.end(of: 5000, readsCount: true, kind) == nil)
      // A stage tells of frames.
      #expect(Self.end(of: 5000, kind)?.second == 661)
    }
  }

  @Test("A wait for a disk is no silence for an hour")
  func disk() throws {
    #expect(Self.end(of: 4000) { _ in Second(waitsForDisk: true) } == nil)
    #expect(Self.end(of: 6000) { _ in Second(waitsForDisk: true) } != nil)
  }

  @Test("Time without observation does not count: the machine slept, or this process did")
  func gaps() {
    // Ten looks an hour apart count as fifty seconds.
    #expect(Self.end(of: 100, step: 3600) { _ in Second() } == nil)
    #expect(Self.end(of: 200, step: 3600) { _ in Second() } != nil)
  }

  @Test("Limits can be set by variables; what is no positive number is passed over")
  func variables() {
    let names = (LifeWatch.Limits.silenceVariable, LifeWatch.Limits.spinVariable)
    let set = LifeWatch.Limits([names.0: "2", names.1: "3.5"])
    #expect(set.silenceSeconds == 2 && set.spinSeconds == 3.5)
    for text in ["", "x", "-1", "0", "inf", "nan"] {
      #expect(LifeWatch.Limits([names.0: text, names.1: text]) == LifeWatch.Limits())
    }
  }
}
