@testable import Core
import Synchronization
import Testing

@Suite("Row bands")
struct RowBandTests {
  @Test(
    "Bands cover every row once, in rows of any length and number",
    arguments: [0, 1, 2, 3, 7, 16, 61], [0, 1, 2, 5, 64])
  func cover(rows: Int, bands: Int) {
    for rowLength in [0, 1, 5, 33] {
      // Longer than the picture: what is behind it stays.
      var array = [Int32](repeating: 0, count: rows * rowLength + 9)
      let ranges = Mutex<[Range<Int>]>([])
      withConcurrentRowBands(of: &array, rows: rows, rowLength: rowLength, bands: bands) {
        range, elements in
        ranges.withLock { $0.append(range) }
        if elements.count != range.count * rowLength { Issue.record("band of wrong size") }
        for index in elements.indices {
          elements[index] &+= Int32(truncatingIfNeeded: range.lowerBound * rowLength + index + 1)
        }
      }
      let count = rows * rowLength
      #expect(Array(array[..<count]) == (0..<count).map { Int32($0 + 1) })
      #expect(array[count...].allSatisfy { $0 == 0 })

      let sorted = ranges.withLock { $0 }.sorted { $0.lowerBound < $1.lowerBound }
      #expect(sorted.count == max(1, min(bands, rows)))
      #expect(sorted.flatMap { Array($0) } == Array(0..<rows))
      let lengths = sorted.map(\.count)
      #expect((lengths.max() ?? 0) - (lengths.min() ?? 0) <= 1)
    }
  }
}
