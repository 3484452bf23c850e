import TestSupport
import Testing

@testable import Captures

@Suite("The constant between the clocks of two streams")
struct ClockSearchTests {
  private static let ms: Int64 = 1_000_000

  /// Times in milliseconds.
  private static func found(_ items: [Int64], _ rows: [Int64]) -> ClockSearch.Found {
    ClockSearch(
      items.map { $0 * ms }, tickNanoseconds: 1, rows.map { $0 * ms }, endTogether: false
    ).found(preferring: nil)
  }

  /// Times with distances that are like no others.
  private static let uneven: [Int64] = [0, 100, 230, 310, 450, 540, 700]

  @Test("Of constants that pair as many the one with the smallest differences is taken")
  func closest() {
    let apart = zip(Self.uneven, [1, -1, 1, -1, 1, -1, 0] as [Int64]).map { $0 + $1 + 5000 }
    let found = Self.found(Self.uneven, [-3000] + Self.uneven.map { $0 + 1000 } + apart)
    #expect(found.constant == 1000 * Self.ms && found.rows == Array(1...7))
    #expect(found.pairs == 7 && !found.isProved && found.hasEquals)
  }

  @Test("The times of a pair may be exactly the tolerance apart, in either direction")
  func tolerance() {
    let items: [Int64] = [0, 70, 190, 330, 500]
    let found = Self.found(items, zip(items, [-2, 2, -2, 2, 0] as [Int64]).map { $0 + $1 + 1000 })
    #expect(found.constant == 1000 * Self.ms && found.pairs == 5 && found.isProved)
  }

  @Test("A row long after all others changes nothing")
  func outlier() {
    let found = Self.found(Self.uneven, Self.uneven.map { $0 + 40 } + [1_000_000])
    #expect(found.constant == 40 * Self.ms && found.rows == Array(0..<7) && found.isProved)
  }

  @Test("An item in the middle between two rows belongs to neither")
  func between() {
    // The shorter half of the rows' steps has a mean of 80 ms, and the third row is 40 ms late.
    let found = Self.found(
      [0, 90, 180, 270, 360, 630, 720, 990], [0, 90, 220, 270, 360, 630, 720, 990])
    #expect(found.rows == [0, 1, nil, 3, 4, 5, 6, 7])
  }

  /// Of more times than all differences are listed of: their steps, and a pause in the middle.
  @Test(
    "Where the first items and the last rows are lost, the constant is found, also across pauses",
    arguments: [
      (30, 0), (30, 60_000), (30, 300_000), (30, 3_600_000), (30, 2_592_000_000), (1000, 0),
      (1000, 600_000),
    ])
  func transformed(step: Int64, pause: Int64) {
    var random = SeededGenerator(seed: 5)
    var times: [Int64] = [0]
    for number in 1..<640 {
      let jitter = Int64.random(in: 0...9, using: &random)
      times.append((times.last ?? 0) + step + jitter + (number == 300 ? pause : 0))
    }
    let items = times.indices.filter { $0 > 7 && $0 % 16 != 3 }
    let rows = times.indices.filter { $0 < 632 && $0 % 16 != 5 }
    let found = Self.found(items.map { times[$0] }, rows.map { times[$0] + 777_777 })
    #expect(found.constant == 777_777 * Self.ms && found.isProved)
    #expect(found.rows == items.map { rows.firstIndex(of: $0) })
  }
}
