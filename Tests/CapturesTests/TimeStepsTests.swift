@testable import Captures
@testable import Core
import Testing

@Suite("Steps between times")
struct TimeStepsTests {
  struct Case: Sendable {
    var times: [Int64]
    var median: Int64?
    var gaps = 0
    var backward = 0
    var repeated = 0
  }

  @Test(
    "Median, gaps, backward and equal steps are counted",
    arguments: [
      Case(times: [], median: nil),
      Case(times: [7], median: nil),
      Case(times: [0, 10], median: 10),
      // A gap starts above one and a half medians.
      Case(times: [0, 10, 20, 35], median: 10),
      Case(times: [0, 10, 20, 36], median: 10, gaps: 1),
      // An even number of steps: the mean of the middle two, rounded down.
      Case(times: [0, 10, 23], median: 11),
      Case(times: [23, 10, 0], median: -12, backward: 2),
      Case(times: [0, 10, 10, 5, 15, 25], median: 10, backward: 1, repeated: 1),
      Case(times: [3, 3, 3, 500], median: 0, repeated: 2),
      // Distances that no Int64 holds stop at its ends.
      Case(times: [.min, .max, .min], median: -1, backward: 1),
      Case(times: [.min, .max, .max - 1, .max], median: 1, gaps: 1, backward: 1),
    ])
  func counts(example: Case) {
    let steps = TimeSteps(example.times.map { Timestamp(nanoseconds: $0) })
    #expect(steps.medianNanoseconds == example.median)
    #expect(steps.gaps(above: 1.5) == example.gaps)
    #expect(steps.backward == example.backward)
    #expect(steps.repeated == example.repeated)
  }

  @Test("The rate is that of the median step, and none where time does not advance")
  func rate() {
    func steps(_ times: [Int64]) -> TimeSteps {
      TimeSteps(times.map { Timestamp(nanoseconds: $0) })
    }
    #expect(steps([0, 20_000_000, 40_000_000]).rateHz == 50)
    #expect(steps([0, 0, 0]).rateHz == nil)
    #expect(steps([5]).rateHz == nil)
  }
}

@Suite("Times that can be true")
struct TimeBoundsTests {
  private static let second: Int64 = 1_000_000_000

  private func kept(_ seconds: [Int64]) -> [Int64] {
    let times = seconds.map { Timestamp(nanoseconds: $0 * Self.second) }
    let bounds = TimeBounds(times)
    return times.filter(bounds.contains).map { $0.nanoseconds / Self.second }
  }

  @Test("An hour from the median and no more")
  func hour() {
    #expect(kept([10_000, 10_001, 10_002, 13_601]) == [10_000, 10_001, 10_002, 13_601])
    #expect(kept([10_000, 10_001, 10_002, 13_602]) == [10_000, 10_001, 10_002])
    #expect(kept([6_401, 10_000, 10_001, 10_002]) == [6_401, 10_000, 10_001, 10_002])
    #expect(kept([6_399, 10_000, 10_001, 10_002]) == [10_000, 10_001, 10_002])
  }

  @Test("A recording of a night is kept whole, and what lies behind it is not")
  func long() {
    let night = Array(stride(from: Int64(100_000), to: 130_000, by: 30))
    #expect(kept(night) == night)
    #expect(kept(night + [140_000]) == night)
  }

  @Test("Nothing, one time, and times at the ends of the clock do no harm")
  func ends() {
    #expect(TimeBounds([]).contains(Timestamp(nanoseconds: .max)))
    #expect(kept([7]) == [7])
    let ends = [Int64.min, .max, 0, -1, 1].map { Timestamp(nanoseconds: $0) }
    let bounds = TimeBounds(ends)
    #expect(ends.filter(bounds.contains).map(\.nanoseconds) == [0, -1, 1])
    let late = [Int64.max, .max - 1, .max - 2, .min].map { Timestamp(nanoseconds: $0) }
    #expect(late.filter(TimeBounds(late).contains).count == 3)
  }
}
