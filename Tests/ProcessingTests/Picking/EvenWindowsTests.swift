@testable import Processing
import Testing

@Suite("Even windows")
struct EvenWindowsTests {
  @Test(
    "m things are cut into count windows, from ⌊k·m/count⌋ to ⌊(k+1)·m/count⌋ - 1",
    arguments: [
      (10, 4, [0..<2, 2..<5, 5..<7, 7..<10]), (3, 3, [0..<1, 1..<2, 2..<3]),
      (2, 5, [0..<1, 1..<2]), (7, 1, [0..<7]), (1, .max, [0..<1]), (0, 3, []), (3, 0, []),
    ] as [(Int, Int, [Range<Int>])])
  func windows(m: Int, count: Int, expected: [Range<Int>]) {
    #expect(EvenWindows.windows(of: m, count: count) == expected)
  }
}
