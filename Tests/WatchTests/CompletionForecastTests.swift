@testable import Core
import Testing

@testable import Engine
@testable import Watch

@Suite("When a watcher will be done")
struct CompletionForecastTests {
  private static func cost(
    _ seconds: Double, mib: Int64 = 100, family: String = "scannet", atOnce: Int = 1
  ) -> WatchRecord.Cost {
    WatchRecord.Cost(family: family, bytes: mib << 20, seconds: seconds, atOnce: atOnce)
  }

  private static func item(
    _ mib: Int64 = 100, family: String = "scannet", atWork: Double? = nil
  ) -> CompletionForecast.Item {
    CompletionForecast.Item(family: family, bytes: mib << 20, secondsAtWork: atWork)
  }

  /// Captures of which next to nothing was to do.
  private static let again = (0..<9).map { _ in cost(1) }
  private static let whole = (0..<3).map { _ in
    var whole = cost(100)
    (whole.written, whole.pipeline) = (1, "p")
    return whole
  }

  private static let steady = [cost(100), cost(100), cost(100), cost(100)]

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var items: [CompletionForecast.Item]
    var costs = CompletionForecastTests.steady
    var workers: Int?
    var pipeline: String?
    var isHeld = false
    /// Open from here on, in seconds from now.
    var opensAt = 0.0
    /// Closed from here on, for an hour.
    var closesAt = Double.infinity
    var outcome: CompletionForecast.Outcome
    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(name: "nothing is left", items: [], outcome: .nothingLeft),
    Case(name: "no history", items: [item()], costs: [], outcome: .unknown(reason: "no-history")),
    Case(
      name: "history of another family only", items: [item(family: "strabo")],
      outcome: .done(inSeconds: 100, isAbout: true)),
    Case(
      name: "one of a family that was never timed beside others",
      items: [item(), item(family: "strabo")], outcome: .done(inSeconds: 200, isAbout: true)),
    Case(
      name: "those of the same pipeline of which every stage ran count before others",
      items: [item()], costs: again + whole, pipeline: "p",
      outcome: .done(inSeconds: 100, isAbout: false)),
    Case(
      name: "only others were timed", items: [item()], costs: again, pipeline: "p",
      outcome: .done(inSeconds: 1, isAbout: true)),
    Case(name: "one", items: [item()], outcome: .done(inSeconds: 100, isAbout: false)),
    Case(
      name: "one after the other", items: [item(), item(), item()],
      outcome: .done(inSeconds: 300, isAbout: false)),
    Case(
      name: "two at a time", items: [item(), item(), item()], workers: 2,
      outcome: .done(inSeconds: 200, isAbout: false)),
    Case(
      name: "as many at a time as before", items: [item(), item(), item(), item()],
      costs: (0..<5).map { _ in cost(100, atOnce: 4) },
      outcome: .done(inSeconds: 100, isAbout: false)),
    Case(
      name: "a larger one takes longer", items: [item(150)],
      outcome: .done(inSeconds: 150, isAbout: false)),
    Case(
      name: "of a size that was never timed", items: [item(10_000)],
      outcome: .done(inSeconds: 10_000, isAbout: true)),
    Case(
      name: "of the same size, not of the others", items: [item(1)],
      costs: steady + (0..<3).map { _ in cost(30, mib: 1) },
      outcome: .done(inSeconds: 30, isAbout: false)),
    Case(
      name: "few were timed", items: [item()], costs: [cost(100)],
      outcome: .done(inSeconds: 100, isAbout: true)),
    Case(
      name: "they differ widely", items: [item()],
      costs: [cost(50), cost(60), cost(100), cost(190), cost(200)],
      outcome: .done(inSeconds: 100, isAbout: true)),
    Case(
      name: "one at work counts by what is left", items: [item(atWork: 60)],
      outcome: .done(inSeconds: 40, isAbout: false)),
    Case(
      name: "one that takes longer than expected", items: [item(atWork: 500)],
      outcome: .done(inSeconds: 10, isAbout: true)),
    Case(
      name: "those at work and one that waits for them",
      items: [item(atWork: 60), item(atWork: 20), item()],
      outcome: .done(inSeconds: 140, isAbout: false)),
    Case(
      name: "before the hours", items: [item(), item()], opensAt: 1000,
      outcome: .done(inSeconds: 1200, isAbout: false)),
    Case(
      name: "the hours end before all are begun", items: [item(), item(), item()], closesAt: 150,
      outcome: .done(inSeconds: 3850, isAbout: false)),
    Case(
      name: "what is at work goes on outside of the hours", items: [item(atWork: 60)],
      opensAt: 1000, outcome: .done(inSeconds: 40, isAbout: false)),
    Case(name: "held", items: [item()], isHeld: true, outcome: .unknown(reason: "held")),
    Case(
      name: "held, but everything is at work", items: [item(atWork: 60)], isHeld: true,
      outcome: .done(inSeconds: 40, isAbout: false)),
    Case(
      name: "costs that are none count for nothing", items: [item()],
      costs: [cost(.nan), cost(-1), cost(5, mib: 0)], outcome: .unknown(reason: "no-history")),
  ]

  @Test("From earlier captures, what is left, workers, hours and holds", arguments: cases)
  func outcome(_ example: Case) {
    var forecast = CompletionForecast(
      items: example.items, costs: example.costs, pipeline: example.pipeline,
      workers: example.workers, isHeld: example.isHeld)
    forecast.secondsUntilOpen = { seconds in
      if seconds < example.opensAt { return example.opensAt - seconds }
      // Opens again an hour after it closes, for good.
      let again = example.closesAt + 3600
      return seconds >= example.closesAt && seconds < again ? again - seconds : 0
    }
    guard case .done(let seconds, let isAbout) = forecast.outcome(),
      case .done(let expected, let expectedAbout) = example.outcome
    else {
      #expect(forecast.outcome() == example.outcome)
      return
    }
    #expect(abs(seconds - expected) < 0.01)
    #expect(isAbout == expectedAbout)
  }

  @Test(
    "The due time is the first one after the last noon, and missed by what was there before it",
    arguments: [
      // now, remaining, oldest since, done at, missed
      ("2026-11-23T23:00:00Z", 3, "2026-11-23T20:00:00Z", "2026-11-24T05:00:00Z", false),
      ("2026-11-23T23:00:00Z", 3, "2026-11-23T20:00:00Z", "2026-11-24T07:01:00Z", true),
      ("2026-11-23T23:00:00Z", 3, "2026-11-23T20:00:00Z", "", false),
      ("2026-11-23T23:00:00Z", 0, "", "", false),
      ("2026-11-24T08:00:00Z", 1, "2026-11-24T06:00:00Z", "2026-11-24T08:10:00Z", true),
      ("2026-11-24T08:00:00Z", 1, "2026-11-24T07:30:00Z", "2026-11-24T08:10:00Z", false),
      ("2026-11-24T08:00:00Z", 0, "", "", false),
      // After noon the next night's counts.
      ("2026-11-24T12:30:00Z", 1, "2026-11-24T06:00:00Z", "2026-11-24T13:10:00Z", false),
    ])
  func due(now: String, remaining: Int, since: String, doneAt: String, isMissed: Bool) throws {
    let deadline = Deadline(
      time: try #require(DailyTime("07:00")), zone: LocalZone { _ in 0 })
    let moment = try Zones.utc(now)
    #expect(
      deadline.isMissed(
        at: moment, remaining: remaining, oldestSince: UTCText.nanoseconds(since),
        doneAt: UTCText.nanoseconds(doneAt)) == isMissed)
    #expect(
      UTCText.text(nanoseconds: deadline.due(ofNightAt: moment))
        == (now < "2026-11-24T12:00:00Z" ? "2026-11-24T07:00:00Z" : "2026-11-25T07:00:00Z"))
  }
}

@Suite("How many captures are in each state")
struct OutputCountsTests {
  private typealias Member = OutputCounts.Member
  private static let done = Member(state: .done)
  private static let running = Member(state: .running)

  @Test("Captures of the output that are not in STAGING any more count, each once")
  func union() {
    let outputCounts = OutputCounts()
    #expect(!outputCounts.isReady)
    outputCounts.read(.system) {
      ["a": Self.done, "b": Self.done, "c": Member(state: .failed)]
    }
    #expect(outputCounts.isReady)
    let others = outputCounts.others(
      present: ["b": Self.running, "d": Self.done], elsewhere: ["c"])
    #expect(others == [Self.done])
  }

  @Test("One that leaves STAGING stays as it was, also where the output was read meanwhile")
  func departure() {
    let outputCounts = OutputCounts()
    outputCounts.read(.system) { [:] }
    _ = outputCounts.others(present: ["a": Self.done, "b": Self.done], elsewhere: [])
    outputCounts.read(.system) {
      #expect(outputCounts.others(present: ["a": Self.done], elsewhere: []) == [Self.done])
      // As it was read before it was done.
      return ["b": Self.running]
    }
    #expect(outputCounts.others(present: ["a": Self.done], elsewhere: []) == [Self.done])
  }

  @Test("One that leaves in the middle of its work is not counted, and the output is read anew")
  func middle() {
    let outputCounts = OutputCounts()
    outputCounts.read(.system) { [:] }
    _ = outputCounts.others(present: ["a": Self.running], elsewhere: [])
    #expect(!outputCounts.isStale)
    #expect(outputCounts.others(present: [:], elsewhere: []) == [])
    #expect(outputCounts.isStale)
  }

  @Test("An output that cannot be read leaves what was known")
  func unreadable() {
    let outputCounts = OutputCounts()
    #expect(!outputCounts.read(.system) { nil })
    #expect(outputCounts.isReady)
    let needy = Member(state: .done, needsPerson: true)
    #expect(outputCounts.read(.system) { ["a": needy] })
    outputCounts.read(.system) { nil }
    #expect(outputCounts.others(present: [:], elsewhere: []) == [needy])
  }
}
