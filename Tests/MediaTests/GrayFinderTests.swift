import TestSupport
import Testing

@testable import Media

/// What is found is compared with a search that looks at everything.
@Suite("Where gray pixels were last")
struct GrayFinderTests {
  /// Widths around the steps of the loops; one row longer than all places that can be told apart.
  @Test(
    "Every pixel is found where it was last, pairs before single ones",
    arguments: [1, 2, 3, 4, 15, 16, 17, 33, 700, 4097, 24_000],
    GrayFinder.hasWide ? [false, true] : [false])
  func lastPlaces(width: Int, isWide: Bool) {
    for kinds in [2, 9, 127] {
      check(width: width, rows: min(40, max(3, 40_000 / width)), kinds: kinds, isWide: isWide)
    }
  }

  private func check(width: Int, rows: Int, kinds: Int, isWide: Bool) {
    var random = SeededGenerator(seed: UInt64(width * 1000 + kinds))
    let lineBytes = 3 * width + 1
    var stream: [UInt8] = []
    for _ in 0..<rows {
      stream.append(2)
      for _ in 0..<width {
        let isGray = random.next() % 8 != 0
        let value = Int(random.next() % UInt64(kinds)) - kinds / 2
        // Values that are looked up are 1 … 127 after 64 are added.
        for channel in 0..<3 {
          stream.append(UInt8(truncatingIfNeeded: value + (isGray ? 0 : channel)))
        }
      }
    }
    stream += [0, 0]
    var finder = GrayFinder()
    finder.begin(width: width)
    var distances = [UInt16](repeating: 0, count: width + GrayFinder.slack)
    var steps = [UInt8](repeating: 0, count: width + GrayFinder.slack)
    var reference = LastPlaces()
    // What the second half finds must not lie in the first row.
    let floor = lineBytes
    for row in 0..<rows {
      let place = row * lineBytes + 1
      let lowest = row * 2 < rows ? 0 : floor
      stream.withUnsafeBufferPointer { stream in
        guard let start = stream.baseAddress else { return }
        finder.find(
          start + place, at: place, floor: lowest, isWide: isWide, distances: &distances,
          steps: &steps)
      }
      let expected = reference.row(stream, place: place, width: width, floor: lowest)
      #expect(Array(distances[..<width]) == expected.map(\.distance), "row \(row), \(kinds) kinds")
      #expect(
        zip(steps, expected).allSatisfy { ($0 > 1) == $1.isPair }, "row \(row), \(kinds) kinds")
      for x in 0..<width where steps[x] > 1 {
        let begin = place + 3 * x
        #expect(x + Int(steps[x]) <= width)
        let isRepeated = (0..<3 * Int(steps[x])).allSatisfy {
          stream[begin + $0] == stream[begin + $0 - Int(distances[x])]
        }
        #expect(isRepeated, "row \(row), pixel \(x)")
      }
    }
  }
}

/// Finds last places by dictionaries.
private struct LastPlaces {
  private var pairs: [[UInt8]: Int] = [:]
  private var singles: [UInt8: Int] = [:]

  mutating func row(
    _ stream: [UInt8], place: Int, width: Int, floor: Int
  ) -> [(distance: UInt16, isPair: Bool)] {
    (0..<width).map { x in
      let here = place + 3 * x
      let reach = min(32_768, place - floor)
      var found = (distance: UInt16(0), isPair: false)
      guard let first = code(stream, here) else { return found }
      if let last = singles[first], here - last < min(reach, 4099) {
        found.distance = UInt16(here - last)
      }
      singles[first] = here
      if x + 1 < width, let second = code(stream, here + 3) {
        if let last = pairs[[first, second]], here - last < reach {
          found = (UInt16(here - last), true)
        }
        pairs[[first, second]] = here
      }
      return found
    }
  }

  private func code(_ stream: [UInt8], _ place: Int) -> UInt8? {
    let value = stream[place]
    guard stream[place + 1] == value, stream[place + 2] == value else { return nil }
    let code = value &+ 64
    return (1...127).contains(code) ? code : nil
  }
}
