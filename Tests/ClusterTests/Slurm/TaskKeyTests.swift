import Testing

@testable import Cluster

@Suite("Names of elements as Slurm writes them")
struct TaskKeyTests {
  @Test(
    "One element, many, or a job without an array",
    arguments: [
      ("12", "12", nil), ("34_5", "34", [5...5]), ("34_[2-9%2]", "34", [2...9]),
      ("1_[0-3]", "1", [0...3]), ("7_[1,3,7-9]", "7", [1...1, 3...3, 7...9]),
      ("9_[4]", "9", [4...4]), ("9_[0-999%64]", "9", [0...999]),
      // Neighbors and repetitions are one range.
      ("8_[3,1-2,2,9]", "8", [1...3, 9...9]), ("5_[0-12:4]", "5", [0...0, 4...4, 8...8, 12...12]),
      ("5_[0-3:1]", "5", [0...3]),
      // Cut off: everything from there on may be meant.
      ("7_[1,3,5-...]", "7", [1...1, 3...3, 5...4_000_001]),
      ("7_[1,3,...]", "7", [1...1, 3...4_000_001]),
    ] as [(String, String, [ClosedRange<Int>]?)])
  func names(text: String, job: String, ranges: [ClosedRange<Int>]?) throws {
    let key = try #require(TaskKey(text))
    #expect(key.job == job)
    switch key.indices {
    case .none: #expect(ranges == nil)
    case .one(let index): #expect(ranges == [index...index] && !text.contains("["))
    case .many(let set):
      #expect(ranges == set.ranges.map { $0.lowerBound...$0.upperBound - 1 } && text.contains("["))
    }
  }

  @Test(
    "Steps, parts of composed jobs and garbage are no elements",
    arguments: [
      "", "_", "_5", "a", "12a", "0", "01", "-1", "12_", "12_a", "12_-1", "12_[", "12_[]",
      "12_[1", "12_1]", "12_[a]", "12_[3-1]", "12_[1-]", "12_[1,,2]", "12_[1-9:0]", "12_[%2]",
      "34_5.batch", "12.0", "12+0", "12_4294967294", "99999999999999999999", "12_[0-99999999]",
      "squeue: error", "１２",
    ])
  func garbage(text: String) { #expect(TaskKey(text) == nil) }

  @Test("Of many elements at a time nothing is listed")
  func unlisted() throws {
    let key = try #require(TaskKey("1_[0-3999999%64]"))
    guard case .many(let set) = key.indices else {
      Issue.record("not many")
      return
    }
    #expect(set.ranges.elementsEqual([0..<4_000_000]))
    #expect(set.contains(3_999_999) && !set.contains(4_000_000))
  }
}
