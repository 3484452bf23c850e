@testable import Captures
@testable import Core
import Testing

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
