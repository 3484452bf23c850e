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
