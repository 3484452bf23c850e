@testable import Captures
@testable import Core
import SystemPackage
import Testing

@testable import Engine
import Glibc

@Suite struct CaptureChoiceTests {
  private let target = CaptureTarget(
    recognition: Recognition(
      family: .strabo, certainty: .certain, folder: "/staging/2026-11-20/ann/Room 4", id: "Room 4",
      reason: ""), layout: OutputLayout(root: "/out", name: "Room-4"))

  private func isChosen(_ change: (inout CaptureChoice) -> Void) -> Bool {
    var choice = CaptureChoice()
    change(&choice)
    return choice.refusal(target, searched: ["/staging"]) == nil
  }

  @Test func `everything is chosen unless something is said`() {
    #expect(isChosen { _ in })
  }

  @Test func `families and beginnings of ids choose`() {
    #expect(isChosen { $0.families = [.strabo, .scannet] })
    #expect(!isChosen { $0.families = [.scannet] })
    #expect(isChosen { $0.names.idPrefixes = ["x", "Room 4"] })
    #expect(isChosen { $0.names.idPrefixes = ["Room-"] })
    #expect(!isChosen { $0.names.idPrefixes = ["oom"] })
  }

  @Test(arguments: [
    ("Room*", true), ("*/ann/*", true), ("2026-11-20/ann/Room 4", true), ("2026-11-2?/*", true),
    ("/staging/2026*", true), ("[RS]oom 4", true), ("ann", false), ("room*", false), ("", false),
  ])
  func `patterns leave out`(pattern: String, isOut: Bool) {
    #expect(isChosen { $0.names.excluded = ["nothing", pattern] } != isOut)
  }

  @Test func `captures unchanged since a moment are left out`() throws {
    let shop = try Workshop()
    let finding = CaptureFinder(CaptureRegistry([ToyReader.self])).find(shop.capture("scan"))
    let target = Ownership(root: shop.output).resolve(finding.captures)[0]
    for name in ["toy.txt", "color.bin", "depth.bin"] {
      var times = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
      #expect(utimensat(AT_FDCWD, shop.capture("scan").appending(name).string, &times, 0) == 0)
    }
    var choice = CaptureChoice()
    choice.sinceNanoseconds = 1000 * 1_000_000_000
    #expect(choice.refusal(target, searched: []) == nil)
    choice.sinceNanoseconds = 1001 * 1_000_000_000
    #expect(choice.refusal(target, searched: []) != nil)
  }

  @Test(arguments: [
    ("24h", 86_400), ("7d", 7 * 86_400), ("90m", 5_400), ("30s", 30),
  ])
  func `durations count back from now`(text: String, seconds: Int64) {
    let now: Int64 = 1_800_000_000_000_000_000
    #expect(MomentText.nanoseconds(text, nowNanoseconds: now) == now - seconds * 1_000_000_000)
  }

  @Test func `dates are local times`() throws {
    let day = try #require(MomentText.nanoseconds("2026-11-20", nowNanoseconds: 0))
    let evening = try #require(MomentText.nanoseconds("2026-11-20T22:00", nowNanoseconds: 0))
    #expect(evening - day == 22 * 3_600_000_000_000)
    #expect(
      MomentText.nanoseconds("2026-11-20T22:00:30", nowNanoseconds: 0) == evening + 30_000_000_000)
    var time = tm()
    var seconds = time_t(day / 1_000_000_000)
    localtime_r(&seconds, &time)
    #expect((time.tm_year, time.tm_mon, time.tm_mday, time.tm_hour) == (126, 10, 20, 0))
  }

  @Test(arguments: [
    "", "yesterday", "2026-02-30", "2026-13-01", "2026-11-20T", "2026-11-20T25:00", "20-11-2026",
    "2026-11-20 22:00", "2026-11-20T22:00:00Z", "24", "-1h",
  ])
  func `what is no moment is refused`(text: String) {
    #expect(MomentText.nanoseconds(text, nowNanoseconds: 0) == nil)
  }
}
