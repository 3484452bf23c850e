@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import Testing

@testable import Watch

@Suite("When STAGING is scanned")
struct ScanScheduleTests {
  private static func settings() -> WatchSettings {
    var settings = WatchSettings()
    settings.settleSeconds = 60
    settings.pollSeconds = 30
    settings.patienceSeconds = 600
    return settings
  }

  private static func entry(
    _ phase: StagingEntry.Phase, since: Double = 0, isTransferring: Bool = false
  ) -> StagingEntry {
    StagingEntry(
      location: CaptureLocation("/s/a"), recognition: nil,
      stamp: FolderSignature(text: "1", isTransferring: isTransferring), sinceSeconds: since,
      restsFromSeconds: since, since: "", order: 1, phase: phase)
  }

  private static func retry(at seconds: Double?) -> StagingEntry.Phase {
    var failure = Failure(message: "", cause: .machine)
    failure.retryAtSeconds = seconds
    return .failed(failure)
  }

  /// After one scan that began at 100 s.
  private static func scanned(
    taking seconds: Double = 0.001, isOnce: Bool = false, _ entries: [StagingEntry] = []
  ) -> ScanSchedule {
    var schedule = ScanSchedule(settings(), isOnce: isOnce)
    schedule.begin()
    return schedule.ended(startedSeconds: 100, atSeconds: 100 + seconds, entries: entries)
  }

  @Test("The first scan is due at once, later ones after the poll interval")
  func poll() {
    #expect(ScanSchedule(Self.settings(), isOnce: false).isDue(atSeconds: 0) { nil })
    let schedule = Self.scanned()
    #expect(!schedule.isDue(atSeconds: 129.9) { nil })
    #expect(schedule.isDue(atSeconds: 130) { nil })
    #expect(schedule.secondsUntilDue(atSeconds: 110, changeSeconds: nil) == 20)
  }

  @Test(
    "After a notice, or when time alone changes something, it is due earlier", arguments: [0, 1])
  func early(_ way: Int) {
    var schedule = Self.scanned()
    if way == 0 { schedule.noteChange() }
    let change = way == 0 ? nil : 100.1
    #expect(!schedule.isDue(atSeconds: 100.19) { change })
    #expect(schedule.isDue(atSeconds: 100.21) { change })
    #expect(abs(schedule.secondsUntilDue(atSeconds: 100, changeSeconds: change) - 0.2) < 1e-9)
  }

  @Test("Scans take a twentieth of the time at most, and never less often than the poll interval")
  func gap() {
    for (took, gap) in [(0.5, 10.0), (5, 30)] {
      var schedule = Self.scanned(taking: took)
      schedule.noteChange()
      #expect(!schedule.isDue(atSeconds: 100 + gap - 0.1) { nil }, "\(took)")
      #expect(schedule.isDue(atSeconds: 100 + gap) { nil }, "\(took)")
    }
  }

  @Test("A change that is noticed during a scan asks for another one")
  func duringScan() {
    var schedule = ScanSchedule(Self.settings(), isOnce: false)
    schedule.begin()
    schedule.noteChange()
    let after = schedule.ended(startedSeconds: 100, atSeconds: 100.001, entries: [StagingEntry]())
    #expect(after.isDue(atSeconds: 101) { nil })
  }

  @Test(
    "Time alone ends the rest of an upload, the time in which it may stand still, the patience for files and the pause before a retry"
  )
  func changes() {
    let cases: [(StagingEntry, Double?)] = [
      (Self.entry(.moving, since: 10), 70),
      (Self.entry(.moving, since: 10, isTransferring: true), 3610),
      (Self.entry(.incomplete(missing: ["x"]), since: 10), 610),
      (Self.entry(Self.retry(at: 42)), 42),
      (Self.entry(Self.retry(at: nil)), nil),
      (Self.entry(.queued), nil),
    ]
    let schedule = ScanSchedule(Self.settings(), isOnce: false)
    for (entry, seconds) in cases {
      #expect(schedule.changeSeconds(of: [entry]) == seconds, "\(entry.phase)")
    }
    #expect(schedule.changeSeconds(of: cases.map(\.0)) == 42)
  }

  @Test("With --once what moves at the first scan is waited for, what comes later is not")
  func once() {
    #expect(Self.scanned(isOnce: true, [Self.entry(.queued)]).isFrozen)
    #expect(!Self.scanned([Self.entry(.queued)]).isFrozen)
    let first = Self.scanned(isOnce: true, [Self.entry(.moving, since: 100)])
    #expect(!first.isFrozen)
    #expect(first.changeSeconds(of: [StagingEntry]()) == 160)
    let later = [Self.entry(.moving, since: 130)]
    #expect(first.ended(startedSeconds: 161, atSeconds: 161, entries: later).isFrozen)
    // One that goes on moving is waited for one settling time more.
    let same = [Self.entry(.moving, since: 100)]
    #expect(!first.ended(startedSeconds: 161, atSeconds: 161, entries: same).isFrozen)
    let last = first.ended(startedSeconds: 220, atSeconds: 220, entries: same)
    #expect(last.isFrozen)
    #expect(!last.isDue(atSeconds: 1000) { 0 })
  }
}
