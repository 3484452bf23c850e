import Testing

@testable import Stages

@Suite("Evenly thinned points")
struct EvenThinningTests {
  @Test(
    "Number k of the kept is number ⌊k · total / kept⌋",
    arguments: [
      (10, 4, [0, 2, 5, 7]), (10, 10, Array(0..<10)), (3, 10, [0, 1, 2]), (5, 1, [0]), (5, 0, []),
      (0, 5, []), (7, 3, [0, 2, 4]),
    ] as [(Int, Int, [Int])])
  func kept(total: Int, limit: Int, expected: [Int]) {
    let thinning = EvenThinning(total: total, limit: limit)
    #expect(thinning.kept == expected.count)
    #expect((0..<thinning.kept).map(thinning.position) == expected)
    #expect(thinning.position(of: thinning.kept) == .max)
  }

  @Test(
    "A part of the row finds its own, wherever it begins", arguments: [(10, 4), (97, 13), (5, 9)])
  func parts(total: Int, limit: Int) {
    let thinning = EvenThinning(total: total, limit: limit)
    let positions = (0..<thinning.kept).map(thinning.position)
    for start in 0...total {
      let first = thinning.firstKept(from: start)
      #expect(first == positions.count { $0 < start })
    }
  }

  @Test("Counts near the end of 64 bits do no harm")
  func large() {
    let thinning = EvenThinning(total: .max, limit: .max - 1)
    #expect(thinning.position(of: .max - 2) == .max - 2)
    #expect(thinning.firstKept(from: .max) == .max - 1)
  }
}
