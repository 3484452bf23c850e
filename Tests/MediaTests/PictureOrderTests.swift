@testable import Media
import Testing

@Suite("Which decoded picture is which")
struct PictureOrderTests {
  static func order(_ orders: [Int?], isReordered: Bool = true) -> PictureOrder {
    PictureOrder(
      positions: orders.map { $0.map { DisplayPosition(sequence: 1, order: $0) } },
      isReordered: isReordered)
  }

  static func ranks(_ order: PictureOrder) -> [Int] { (0..<order.count).map(order.displayIndex) }

  @Test(
    "Ranks and delay come from the order counts",
    arguments: [
      ([0, 2, 4, 6], [0, 1, 2, 3], 0),
      // One B picture between two others.
      ([0, 4, 2, 8, 6], [0, 2, 1, 4, 3], 1),
      // A pyramid.
      ([0, 8, 4, 2, 6, 16, 12, 10, 14], [0, 4, 2, 1, 3, 8, 6, 5, 7], 2),
      // P pictures alone, the first shown last: it must wait for three.
      ([0, 8, 2, 4, 6, 10], [0, 4, 1, 2, 3, 5], 1),
      ([0, 8, 6, 4, 2, 10], [0, 4, 3, 2, 1, 5], 3),
      ([], [], 0),
    ] as [([Int], [Int], Int)])
  func ranks(orders: [Int], expected: [Int], delay: Int) {
    let order = Self.order(orders)
    #expect(Self.ranks(order) == expected)
    #expect(order.delay == delay)
    #expect(order.sorted(orders) == orders.sorted())
  }

  @Test(
    "A picture with a damaged head takes the place that the others leave free",
    arguments: [
      ([0, nil, 4, 2, 6, 16, 12, 10, 14], [0, 4, 2, 1, 3, 8, 6, 5, 7]),
      ([0, 8, 4, nil, 6, 16, 12, 10, 14], [0, 4, 2, 1, 3, 8, 6, 5, 7]),
      // The place of another: the later one is not believed.
      ([0, 8, 4, 4, 6, 16, 12, 10, 14], [0, 4, 2, 1, 3, 8, 6, 5, 7]),
      ([0, 2, nil, 6, 8], [0, 1, 2, 3, 4]), ([nil, nil, nil], [0, 1, 2]),
    ] as [([Int?], [Int])])
  func damaged(orders: [Int?], expected: [Int]) {
    #expect(Self.ranks(Self.order(orders)) == expected)
  }

  @Test("Where display order is known to be decoding order, no damage moves a picture")
  func notReordered() {
    let order = Self.order([0, 2, 60, nil, 4, 4, 10], isReordered: false)
    #expect(Self.ranks(order) == Array(0..<7))
    #expect(order.delay == 0)
  }

  @Test("A new sequence comes after all of the one before; times place what the heads do not")
  func sequencesAndTimes() {
    let places = [(1, 0), (1, 4), (1, 2), (2, 0), (2, 4), (2, 2)].map {
      DisplayPosition(sequence: $0.0, order: $0.1)
    }
    #expect(Self.ranks(PictureOrder(positions: places)) == [0, 2, 1, 3, 5, 4])
    var damaged: [DisplayPosition?] = places
    damaged[4] = nil
    let ticks: [Int64] = [0, 20, 10, 30, 50, 40]
    #expect(Self.ranks(PictureOrder(positions: damaged, ticks: ticks)) == [0, 2, 1, 3, 5, 4])
    let none = [DisplayPosition?](repeating: nil, count: 6)
    #expect(Self.ranks(PictureOrder(positions: none, ticks: ticks)) == [0, 2, 1, 3, 5, 4])
  }

  @Test("Times that go back move no picture whose position is known")
  func times() {
    let order = PictureOrder(
      positions: [0, 2, 4, 6].map { DisplayPosition(sequence: 1, order: $0) },
      ticks: [0, 10, 5, 30])
    #expect(Self.ranks(order) == [0, 1, 2, 3])
  }
}
