import Synchronization
import Testing

@testable import Pages

@Suite("The line about the search")
struct SearchProgressTests {
  /// What a terminal received, and the time that it is.
  private final class Terminal: Sendable {
    let written = Mutex<[String]>([])
    let now = Mutex(10.0)

    func progress(isShown: Bool = true, afterSeconds: Double = 0) -> SearchProgress {
      SearchProgress(
        isShown: isShown, afterSeconds: afterSeconds, nowSeconds: { [self] in now.withLock { $0 } },
        write: { [self] text in written.withLock { $0.append(text) } })
    }
    func wait(_ seconds: Double) { now.withLock { $0 += seconds } }
    var last: String? { written.withLock { $0.last } }
    var count: Int { written.withLock { $0.count } }
  }

  @Test("It is there at once, counts what is found, and tells the rate after a second")
  func search() {
    let terminal = Terminal()
    let progress = terminal.progress()
    progress.looked(at: 0, found: 0)
    #expect(terminal.last == "\r\u{1B}[Klooking for captures: 0 found in 0 folders")
    progress.looked(at: 32, found: 30)
    #expect(terminal.count == 1)
    terminal.wait(0.3)
    progress.looked(at: 32, found: 32)
    #expect(terminal.last == "\r\u{1B}[Klooking for captures: 62 found in 64 folders")
    terminal.wait(1.7)
    progress.looked(at: 136, found: 100)
    #expect(
      terminal.last == "\r\u{1B}[Klooking for captures: 162 found in 200 folders, 100 per second")
  }

  @Test("A step has a time of its own, never goes back, and says how long it takes")
  func step() {
    let terminal = Terminal()
    let progress = terminal.progress()
    progress.looked(at: 500, found: 500)
    terminal.wait(5)
    progress.step("making folders", 0, of: 500)
    #expect(terminal.last == "\r\u{1B}[Kmaking folders: 0 of 500")
    terminal.wait(2)
    progress.step("making folders", 100, of: 500)
    #expect(terminal.last == "\r\u{1B}[Kmaking folders: 100 of 500, 50 per second, 8 s left")
    terminal.wait(2)
    progress.step("making folders", 99, of: 500)
    #expect(terminal.last == "\r\u{1B}[Kmaking folders: 100 of 500, 25 per second, 16 s left")
  }

  @Test("What is over within the seconds that are given shows no line; what is not shows it then")
  func later() {
    let terminal = Terminal()
    let progress = terminal.progress(afterSeconds: 2)
    progress.step("noting captures for status", 32, of: 5000)
    terminal.wait(1.9)
    progress.step("noting captures for status", 3000, of: 5000)
    progress.clear()
    #expect(terminal.count == 0)
    terminal.wait(0.1)
    progress.step("noting captures for status", 4000, of: 5000)
    #expect(
      terminal.last
        == "\r\u{1B}[Knoting captures for status: 4000 of 5000, 2000 per second, 1 s left")
    progress.clear()
    #expect(terminal.last == "\r\u{1B}[K")
  }

  @Test("It is removed once, and nothing at all is written where there is no terminal")
  func clear() {
    let terminal = Terminal()
    let progress = terminal.progress()
    progress.clear()
    #expect(terminal.count == 0)
    progress.looked(at: 1, found: 1)
    progress.clear()
    progress.clear()
    #expect(terminal.count == 2 && terminal.last == "\r\u{1B}[K")
    let silent = Terminal()
    let none = silent.progress(isShown: false)
    none.looked(at: 1, found: 1)
    none.step("making folders", 1, of: 2)
    none.clear()
    #expect(silent.count == 0)
  }
}

@Suite("Rates and times left")
struct RateEstimateTests {
  @Test("Rate and time left come from what is done since the start")
  func estimate() {
    var rate = RateEstimate(startSeconds: 100)
    #expect(rate.framesPerSecond == nil && rate.secondsLeft == nil)
    rate.update(done: 300, total: 1912, atSeconds: 106)
    #expect(rate.elapsedSeconds == 6)
    #expect(rate.framesPerSecond == 50 && rate.secondsLeft == 32.24)
    rate.update(done: 300, total: nil, atSeconds: 106)
    #expect(rate.framesPerSecond == 50 && rate.secondsLeft == nil)
    rate.update(done: 2000, total: 1912, atSeconds: 110)
    #expect(rate.framesPerSecond == 200 && rate.secondsLeft == nil)
    rate.update(done: 5, total: 10, atSeconds: 100.01)
    #expect(rate.framesPerSecond == nil && rate.secondsLeft == nil)
    rate.update(done: 5, total: 10, atSeconds: 90)
    #expect(rate.framesPerSecond == nil && rate.secondsLeft == nil)
  }
}
