import Testing

@testable import Cluster

@Suite("From elements to arrays")
struct ArrayPlanTests {
  static func element(_ seconds: Int, memory: Int64 = 1) -> ArrayTaskPlan {
    ArrayTaskPlan(
      captures: [0], costSeconds: 1,
      request: JobRequest(cores: 1, memoryBytes: memory, timeSeconds: seconds),
      captureRequest: JobRequest(cores: 1, memoryBytes: memory, timeSeconds: 60))
  }

  @Test(
    "An array has no more elements than the site allows, and numbers go on",
    arguments: [
      (1, 3, [5..<6, 6..<7, 7..<8]), (2, 3, [5..<7, 7..<8]), (3, 3, [5..<8]),
      (1001, 3, [5..<8]), (1001, 1001, [5..<1006]), (1001, 1002, [5..<1006, 1006..<1007]),
      (0, 2, [5..<6, 6..<7]), (7, 0, []),
    ] as [(Int, Int, [Range<Int>])])
  func sizes(maxArraySize: Int, count: Int, expected: [Range<Int>]) {
    let elements = Array(repeating: Self.element(60), count: count)
    let arrays = Grouping.arrays(of: elements, first: 5, maxArraySize: maxArraySize)
    #expect(arrays.map(\.elements) == expected)
  }

  @Test("Its time is enough for the longest of its elements; others than alike share none")
  func requests() {
    let elements = [
      Self.element(60), Self.element(180), Self.element(120), Self.element(60, memory: 2),
      Self.element(60, memory: 2), Self.element(300),
    ]
    let arrays = Grouping.arrays(of: elements, maxArraySize: 1001)
    #expect(arrays.map(\.elements) == [0..<3, 3..<5, 5..<6])
    #expect(arrays.map(\.request.timeSeconds) == [180, 60, 300])
    #expect(arrays.map(\.request.memoryBytes) == [1, 2, 1])
  }

  @Test(
    "A throttle is shared out by size, one at least for each array with elements",
    arguments: [
      (64, [1000], [64]), (64, [500, 500], [32, 32]), (64, [1000, 0], [64, 0]),
      (10, [900, 100], [9, 1]), (10, [9000, 1, 1], [8, 1, 1]), (3, [5, 5, 5], [1, 1, 1]),
      (7, [5, 5, 5], [3, 2, 2]), (100, [5, 5], [5, 5]), (2, [5, 5, 5], [1, 1, 1]),
      (0, [5, 5], [1, 1]), (-3, [5], [1]), (5, [], []), (10, [3, -4, 30], [1, 0, 9]),
    ])
  func throttles(total: Int, counts: [Int], expected: [Int]) {
    #expect(Grouping.throttles(total, over: counts) == expected)
  }
}
