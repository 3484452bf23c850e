import TestSupport
import Testing

@testable import Processing

@Suite("The best frame of each group")
struct GroupPickerTests {
  /// A picture whose sharpness grows with `contrast`.
  private func sharpness(_ contrast: UInt8) -> Sharpness {
    let gray = (0..<25).map { $0 % 2 == 0 ? UInt8(0) : contrast }
    return Sharpness(gray: gray, width: 5, height: 5)
  }

  private func rank(_ contrast: UInt8, isWhole: Bool = true, isPlaced: Bool = true) -> FrameRank {
    FrameRank(isWhole: isWhole, isPlaced: isPlaced, sharpness: sharpness(contrast))
  }

  private func picked(
    _ frames: [(frame: Int, begins: PickMeans?, rank: FrameRank)]
  ) -> [PickedFrame<String>] {
    var picker = GroupPicker<String>()
    var picked: [PickedFrame<String>] = []
    for (frame, begins, rank) in frames {
      if let found = picker.take(frame, begins: begins, rank, "\(frame)") { picked.append(found) }
    }
    if let last = picker.finish() { picked.append(last) }
    #expect(picker.finish() == nil)
    return picked
  }

  @Test("The sharpest of each group, with the ends of the group and how many pictures it had")
  func groups() {
    let found = picked([
      (0, .start, rank(10)), (1, nil, rank(30)), (4, nil, rank(20)), (5, .count, rank(5)),
      (9, nil, rank(4)), (10, .poses, rank(1)),
    ])
    #expect(found.map(\.frame) == [1, 5, 10])
    #expect(found.map(\.payload) == ["1", "5", "10"])
    #expect(found.map(\.first) == [0, 5, 10] && found.map(\.last) == [4, 9, 10])
    #expect(found.map(\.pictures) == [3, 2, 1])
    #expect(found.map(\.begun) == [.start, .count, .poses])
  }

  @Test("Of equal ones it is the earliest")
  func equal() {
    #expect(picked((2..<7).map { ($0, nil, rank(9)) }).map(\.frame) == [2])
  }

  @Test("A whole picture goes before a sharper damaged one, and a pose before sharpness")
  func ranks() {
    let all = [
      rank(200, isWhole: false, isPlaced: false), rank(10, isWhole: false),
      rank(250, isPlaced: false), rank(5), rank(6),
    ]
    #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 && !($1 < $0) })
    #expect(picked(all.enumerated().map { ($0.offset, nil, $0.element) }).map(\.frame) == [4])
  }

  @Test("No frame gives none; one frame itself, whatever it says of its group")
  func few() {
    #expect(picked([]).isEmpty)
    let one = picked([(7, nil, rank(0))])
    #expect(one.map(\.frame) == [7] && one[0].begun == .start)
  }

  @Test("As the plain rule over lists: the first of the highest rank between two beginnings")
  func plain() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<50 {
      let frames = (0..<Int.random(in: 1...40, using: &random)).map { frame in
        (
          frame: frame * 3, begins: random.chance(4) ? PickMeans.count : nil,
          rank: rank(
            UInt8.random(in: 0...4, using: &random), isWhole: !random.chance(3),
            isPlaced: !random.chance(3))
        )
      }
      var groups: [[(frame: Int, rank: FrameRank)]] = []
      for (frame, begins, rank) in frames {
        if begins != nil || groups.isEmpty { groups.append([]) }
        groups[groups.count - 1].append((frame, rank))
      }
      let expected = groups.map { group in
        group.first { one in !group.contains { one.rank < $0.rank } }?.frame
      }
      #expect(picked(frames).map(\.frame) == expected)
    }
  }
}
