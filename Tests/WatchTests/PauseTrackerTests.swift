@testable import Engine
import Testing

@testable import Watch

@Suite("When nothing new is started")
struct PauseTrackerTests {
  @Test("Of several reasons the first of staging, output, disk and window is given")
  func order() {
    let reasons: [WatchState.PauseReason?] = [.staging, .output, .disk, .window, nil]
    for (index, reason) in reasons.enumerated() {
      let found = PauseTracker.reason(
        staging: index <= 0, output: index <= 1, disk: index <= 2, window: index <= 3)
      #expect(found == reason)
    }
  }

  @Test("Of a small disk too it is told how much is free and how much must be")
  func space() {
    let text = PauseTracker.text(FreeSpaceRule(bytes: 500_000, totalBytes: 60_000_000))
    #expect(text.contains("500 kB are free") && text.hasSuffix("until 1.20 MB are"), "\(text)")
  }

  @Test("A period begins with a reason, ends with the next one, and is noted once")
  func periods() {
    var periods = PausePeriods()
    let kinds = [nil, "disk", "disk", "window", nil]
    let changes = kinds.enumerated().map { index, kind in periods.note(kind) { "\(index + 1)" } }
    #expect(
      changes == [
        nil, PausePeriods.Change(ended: nil, begun: "disk"), nil,
        PausePeriods.Change(ended: "disk", begun: "window"),
        PausePeriods.Change(ended: "window", begun: nil),
      ])
    #expect(periods.periods.map(\.kind) == ["disk", "window"])
    #expect(periods.periods.map(\.from) == ["2", "4"])
    #expect(periods.periods.map(\.to) == ["4", "5"])
  }

  @Test("A period that the last watcher left open goes on")
  func resumed() {
    var periods = PausePeriods([WatchRecord.PauseReason(kind: "disk", from: "1")])
    let same = periods.note("disk", time: { "2" })
    #expect(same == nil)
    _ = periods.note(nil, time: { "3" })
    #expect(periods.periods.map(\.to) == ["3"])
  }

  @Test("The last 200 are kept")
  func most() {
    var periods = PausePeriods()
    for number in 0..<250 { _ = periods.note(number % 2 == 0 ? "disk" : "window") { "\(number)" } }
    #expect(periods.periods.count == 200)
    #expect(periods.periods.first?.from == "50")
    #expect(periods.periods.filter { $0.to == nil }.map(\.from) == ["249"])
  }
}
