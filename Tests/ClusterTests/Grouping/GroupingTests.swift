import TestSupport
import Testing

@testable import Cluster

@Suite("From captures to elements")
struct GroupingTests {
  static func elements(
    _ costs: [Double], _ group: GroupLimit = .seconds(600), mostEach: Int = 24,
    mostElements: Int = 1000
  ) -> [[Int]] {
    Grouping.elements(costs, group, mostEach: mostEach, mostElements: mostElements)
  }

  @Test("10,000 captures of a minute are 1,000 elements of ten")
  func specification() {
    let elements = Self.elements(Array(repeating: 60, count: 10_000))
    #expect(elements.count == 1000)
    #expect(elements.allSatisfy { $0.count == 10 })
    #expect(elements.flatMap(\.self) == Array(0..<10_000))
  }

  @Test("The most expensive come first, and each goes into the first element with room")
  func firstFit() {
    #expect(Self.elements([100, 500, 300, 700, 200, 90]) == [[3], [1, 0], [2, 4, 5]])
  }

  @Test("A number of captures groups as well")
  func byNumber() {
    #expect(Self.elements([1, 2, 3, 4, 5], .captures(2)) == [[4, 3], [2, 1], [0]])
    #expect(Self.elements([1, 2], .captures(1)) == [[1], [0]])
  }

  @Test("No element has more captures than fit into the longest time, however few there may be")
  func longest() {
    for most in [1000, 2] {
      let elements = Self.elements(
        Array(repeating: 1, count: 10), mostEach: 2, mostElements: most)
      #expect(elements.map(\.count) == [2, 2, 2, 2, 2])
    }
  }

  @Test(
    "Groups grow until there are no more elements than may be queued",
    arguments: [1, 2, 3, 10, 999, 1000, 1001])
  func coarser(most: Int) {
    var random = SeededGenerator(seed: 5)
    let costs = (0..<3000).map { _ in Double.random(in: 1...900, using: &random) }
    for group in [GroupLimit.seconds(600), .captures(2)] {
      let elements = Self.elements(costs, group, mostEach: .max, mostElements: most)
      #expect(elements.count <= most)
      // Not coarser than it must be, by much.
      #expect(elements.count > most * 7 / 10)
      #expect(elements.flatMap(\.self).sorted() == Array(0..<3000))
    }
  }

  @Test("Nothing, and impossible numbers, do no harm")
  func odd() {
    #expect(Self.elements([]).isEmpty)
    let costs = [Double.nan, .infinity, -.infinity, -1, 0, 1e300]
    for group in [
      GroupLimit.seconds(600), .seconds(0), .seconds(.infinity), .captures(0), .captures(.max),
    ] {
      for most in [-5, 0, 1, Int.max] {
        let elements = Self.elements(costs, group, mostEach: most, mostElements: most)
        #expect(elements.flatMap(\.self).sorted() == [0, 1, 2, 3, 4, 5])
      }
    }
  }

  @Test("What the tree finds is what looking at each finds")
  func firstFitTree() {
    var random = SeededGenerator(seed: 11)
    for count in [1, 2, 3, 7, 8, 9, 64, 100] {
      var tree = FirstFit(capacity: count)
      var plain = [Double](repeating: -1, count: count)
      for _ in 0..<300 {
        let wanted = Double(Int.random(in: 0...20, using: &random))
        #expect(tree.first(atLeast: wanted) == plain.firstIndex { $0 >= wanted })
        let index = Int.random(in: 0..<count, using: &random)
        plain[index] = Double(Int.random(in: -1...20, using: &random))
        tree[index] = plain[index]
      }
    }
  }
}

@Suite("How long captures will take")
struct CostModelTests {
  static func samples(_ family: String, _ count: Int, secondsPerMegabyte: Double) -> [CostSample] {
    (1...count).map {
      CostSample(
        family: family, inputBytes: Int64($0) * 1_000_000, seconds: Double($0) * secondsPerMegabyte)
    }
  }

  @Test("Twenty earlier captures of a family speak for it")
  func family() {
    let model = CostModel(
      Self.samples("a", 20, secondsPerMegabyte: 2) + Self.samples("b", 19, secondsPerMegabyte: 8))
    #expect(model.expectation(family: "a", inputBytes: 100_000_000).seconds == 200)
    #expect(model.expectation(family: "a", inputBytes: 100_000_000).basis == .family(20))
    // 19 say nothing of their family, but count among all 39, of which the middle one takes 2.
    #expect(model.expectation(family: "b", inputBytes: 100_000_000).seconds == 200)
    #expect(model.expectation(family: "b", inputBytes: 100_000_000).basis == .all(39))
    #expect(model.expectation(family: "c", inputBytes: 1_000_000).basis == .all(39))
  }

  @Test("With fewer it is a guess, and says so")
  func guess() {
    let model = CostModel(Self.samples("a", 19, secondsPerMegabyte: 2))
    let expectation = model.expectation(family: "a", inputBytes: 5)
    #expect(expectation.seconds == 60)
    #expect("\(expectation.basis)" == "a guess, for want of 20 earlier captures")
    #expect(
      "\(CostModel.Basis.family(31))" == "by 31 earlier captures of the same app, within ±50 %")
  }

  @Test("The middle one counts: single outliers do not move it")
  func median() {
    var samples = Self.samples("a", 25, secondsPerMegabyte: 2)
    for index in 0..<10 { samples[index].seconds = 1e9 }
    let model = CostModel(samples)
    #expect(model.expectation(family: "a", inputBytes: 10_000_000).seconds == 20)
  }

  @Test("Impossible samples and sizes do no harm")
  func odd() {
    let good = Self.samples("a", 20, secondsPerMegabyte: 1)
    let bad = [0, -1, Double.nan, .infinity].flatMap {
      [
        CostSample(family: "a", inputBytes: 5, seconds: $0),
        CostSample(family: "a", inputBytes: 0, seconds: 5),
      ]
    }
    let model = CostModel(bad + good)
    #expect(model.expectation(family: "a", inputBytes: 2_000_000).seconds == 2)
    #expect(model.expectation(family: "a", inputBytes: 2_000_000).basis == .family(20))
    for bytes in [Int64.min, -1, 0, 1] {
      #expect(model.expectation(family: "a", inputBytes: bytes).seconds == 1)
    }
    #expect(model.expectation(family: "a", inputBytes: .max).seconds.isFinite)
  }
}

@Suite("From elements to arrays")
struct ArrayPlanTests {
  static func element(_ seconds: Int, memory: Int64 = 1) -> ArrayTaskGroup {
    ArrayTaskGroup(
      captures: [], costSeconds: 1,
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

@Suite("Captures of an array task")
struct GroupLimitTests {
  @Test(
    "A group is a number of captures or a duration",
    arguments: [
      ("1", GroupLimit.captures(1)), ("20", .captures(20)), ("10m", .seconds(600)),
      ("1.5h", .seconds(5400)), ("1s", .seconds(1)), ("0", nil), ("-1", nil), ("", nil),
      ("0s", nil), ("10 parsecs", nil), ("1000001", nil), ("9e9", nil),
    ] as [(String, GroupLimit?)])
  func groups(text: String, limit: GroupLimit?) { #expect(GroupLimit(text) == limit) }
}
