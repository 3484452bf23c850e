import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Media

@Suite("Streams whose items carry times: which belong together")
struct StreamMatchTests {
  private static let period: Int64 = 33_323_000
  private static let tick: Int64 = 1_666_667

  /// Row times at multiples of the period, with a little of the jitter that clocks have.
  private func rows(_ steps: [Double]) -> [Timestamp] {
    steps.enumerated().map { index, step in
      Timestamp(
        nanoseconds: 5_000_000_000_000 + Int64(step * Double(Self.period))
          + Int64((index * 7919) % 5) * 800)
    }
  }

  /// Presentation times of the rows at `kept`, from the first, rounded to ticks of 1/600 s.
  private func pictures(_ rows: [Timestamp], _ kept: [Int]) -> [Int64] {
    kept.map { index in
      let elapsed = Double(rows[index] - rows[kept[0]])
      return Int64((elapsed * 600 / 1e9).rounded() * 1e9 / 600)
    }
  }

  private func pair(
    _ rows: [Timestamp], _ pictures: [Int64], hidden: HiddenPictures = HiddenPictures(),
    endTogether: Bool = false
  ) -> StreamMatch {
    StreamMatch(
      .times(pictures, tickNanoseconds: Self.tick),
      with: .times(rows.map(\.nanoseconds), tickNanoseconds: 1), nouns: ("picture", "row"),
      hidden: hidden, endTogether: endTogether)
  }

  /// Whether a time is as exact as rounding to ticks allows. The constant is the mean difference of
  /// the pairs: half a tick; a picture's own time adds its own rounding.
  private func isNear(_ found: Int64?, _ time: Timestamp, ticks: Double = 0.5) -> Bool {
    guard let found else { return false }
    return Double(abs(found - time.nanoseconds)) <= ticks * Double(Self.tick)
  }

  /// Steps with gaps at irregular places, so that every run of frames is like no other.
  private let uneven: [Double] = [
    0, 1, 2.5, 3.5, 4.5, 5.5, 8, 9, 10, 11, 12.5, 13.5, 14.5, 16.5, 17.5, 18.5, 19.5, 20.5, 23, 24,
  ]

  @Test("As many pictures as rows that keep their distances are paired in order")
  func sameNumber() {
    let rows = rows(uneven)
    let pairing = pair(rows, pictures(rows, Array(rows.indices)))
    #expect(pairing.rows == Array(rows.indices))
    #expect(pairing.isProved)
  }

  @Test(
    "Missing pictures are found where they are missing, the first ones too",
    arguments: [[0], [0, 1, 2], [6], [19], [0, 7, 8, 13], [5, 6, 7, 8, 9], [18, 19]])
  func dropped(missing: [Int]) {
    let rows = rows(uneven)
    let kept = rows.indices.filter { !missing.contains($0) }
    let pairing = pair(rows, pictures(rows, kept))
    #expect(pairing.rows == kept)
    #expect(isNear(pairing.constant, rows[kept[0]]))
    #expect(pairing.isProved)
  }

  @Test(
    "Rows that leave several places for the first picture: it is behind as many as an edit list hides",
    arguments: [
      // Rows, the first and the last that is shown, whether the counts prove it, by how much it may be off.
      (30, 10, 29, true, nil), (30, 10, 24, false, 333), (120, 70, 119, true, nil),
      (40, 10, 39, true, nil), (60, 10, 34, false, 833),
    ] as [(Int, Int, Int, Bool, Int64?)])
  func hidden(count: Int, first: Int, last: Int, isProven: Bool, off: Int64?) throws {
    let rows = (0..<count).map {
      Timestamp(nanoseconds: 5_000_000_000_000 + (Int64($0) * 1_000_000_000 + 15) / 30)
    }
    let shown = Array(first...last)
    var hidden = HiddenPictures()
    hidden.before = first
    hidden.nanoseconds = rows[first] - rows[0]
    let pairing = pair(rows, pictures(rows, shown), hidden: hidden)
    #expect(pairing.rows == shown)
    #expect(isNear(pairing.constant, rows[first]))
    #expect(pairing.isProved == isProven)
    if let off { #expect(pairing.doubt?.hasSuffix("up to \(off) ms") ?? false) }
  }

  @Test("Evenly spaced rows do not show which were dropped: the earliest rows, and a warning")
  func indistinct() {
    let rows = rows((0..<20).map(Double.init))
    let pairing = pair(rows, pictures(rows, Array(1..<20)))
    #expect(pairing.rows == Array(0..<19))
    #expect(
      pairing.doubt
        == "the times fit in more than one way: the first or the last row has no picture; "
        + "paired from the front, so times may be off by up to 33 ms")
  }

  @Test(
    "Pictures before the first row and behind the last one, with one gap: the closest fit, in doubt"
  )
  func closest() {
    let all = rows([0] + (2...20).map(Double.init))
    let pairing = pair(Array(all[1..<19]), pictures(all, Array(all.indices)))
    #expect(pairing.rows[0] == nil && pairing.pairCount == 18)
    #expect(
      pairing.doubt
        == "the times fit in more than one way: 18 pictures have a row, in other ways as many; "
        + "the closest fit is taken, so times may be off by up to 33 ms")
  }

  @Test(
    "One lost between evenly spaced ones: no other rows fit as well, but nearly; proved where both end together",
    arguments: [true, false])
  func lostAmongEven(endTogether: Bool) {
    let rows = rows((0..<20).map(Double.init))
    let kept = rows.indices.filter { $0 != 7 }
    let pairing = pair(rows, pictures(rows, kept), endTogether: endTogether)
    #expect(pairing.rows == kept)
    #expect(pairing.isProved == endTogether)
    #expect(
      endTogether
        || pairing.doubt?.contains("do not begin and end together, times may be off by up to 33 ms")
          == true
    )
    let all = pair(rows, pictures(rows, Array(rows.indices)), endTogether: endTogether)
    #expect(all.isProved && all.way == (endTogether ? .time : .rank))
  }

  @Test("Made-up picture times beside gaps in the rows: paired in order, and a warning")
  func madeUp() {
    let rows = rows(uneven)
    let even = rows.indices.map { Int64($0) * 33_333_333 }
    let pairing = pair(rows, even)
    #expect(pairing.rows == Array(rows.indices))
    #expect(!pairing.isProved)
  }

  @Test("As many pictures as rows, but not the same ones: the times say which belong together")
  func sameNumberOfOthers() {
    let rows = rows(uneven)
    // A picture behind the last row and none for the first.
    var times = pictures(rows, Array(1..<20))
    times.append((times.last ?? 0) + 50_000_000)
    let pairing = pair(rows, times)
    #expect(pairing.rows == Array(1..<20) + [nil])
    #expect(pairing.isProved)
  }

  @Test(
    "Times that are coarser, or of a clock that runs faster: neighbors of what fits keep their places",
    arguments: [
      // Error of the pictures' times in ms, their clock's rate, missing pictures.
      (8, 1, [100]), (4, 1, [100, 101]), (0, 1.0003, [100]), (0, 1.001, [100, 250]),
      (2, 1.0001, [299]),
    ] as [(Int64, Double, [Int])])
  func inexact(error: Int64, rate: Double, missing: [Int]) {
    var generator = SeededGenerator(seed: 42)
    let rows = rows((0..<300).map { Double($0) + (50..<150 ~= $0 ? 0.5 : 0) })
    let kept = rows.indices.filter { !missing.contains($0) }
    let times = pictures(rows, kept).map {
      Int64(Double($0) * rate) + .random(in: -error...error, using: &generator) * 1_000_000
    }
    #expect(pair(rows, times).rows == kept)
  }

  @Test(
    "One lost among evenly spaced coarse times: from the front, though more may fit elsewhere by chance"
  )
  func coarseEven() {
    let rows = rows((0..<300).map(Double.init))
    let kept = rows.indices.filter { $0 != 100 }
    for seed in 1...20 as ClosedRange<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let times = pictures(rows, kept).map {
        $0 + .random(in: -8...8, using: &generator) * 1_000_000
      }
      let pairing = pair(rows, times)
      #expect(pairing.rows == kept && !pairing.isProved, "\(seed)")
    }
  }

  @Test("As many pictures as rows with coarse times are paired in order, and a warning")
  func sameNumberOfCoarse() {
    var generator = SeededGenerator(seed: 43)
    let rows = rows((0..<60).map(Double.init))
    let times = pictures(rows, Array(rows.indices)).map {
      $0 + .random(in: -8...8, using: &generator) * 1_000_000
    }
    let pairing = pair(rows, times)
    #expect(pairing.rows == Array(rows.indices))
    #expect(!pairing.isProved)
  }

  @Test("As many pictures as rows, one lost and one behind: by time, though not proved")
  func sameNumberOneLost() {
    let all = rows((0..<24).map { Double($0) + ($0 > 7 ? 0.5 : 0) })
    let kept = all.indices.filter { $0 != 5 }
    let pairing = pair(Array(all.dropLast()), pictures(all, kept))
    #expect(pairing.rows == kept.dropLast() + [nil])
    #expect(!pairing.isProved)
  }

  @Test("As many pictures as rows that fit nowhere: paired in order, and a warning")
  func foreign() {
    let rows = rows(uneven)
    let times = rows.indices.map { Int64($0 * $0) * 7_000_000 }
    let pairing = pair(rows, times)
    #expect(pairing.rows == Array(rows.indices))
    #expect(!pairing.isProved)
  }

  @Test(
    "Pictures before the first row, rows before the first picture: without a limit of their number",
    arguments: [(0, 2), (2, 0), (90, 0), (0, 90), (150, 40)])
  func bothDirections(rowsBefore: Int, picturesBefore: Int) {
    var generator = SeededGenerator(seed: 40)
    var steps = [0.0]
    for _ in 1..<300 {
      steps.append((steps.last ?? 0) + (Int.random(in: 0..<12, using: &generator) == 0 ? 1.5 : 1))
    }
    let all = rows(steps)
    let kept = all.indices.filter { $0 >= rowsBefore && $0 % 37 != 5 }
    let rows = Array(all[picturesBefore...])
    let pairing = pair(rows, pictures(all, kept))
    #expect(
      pairing.rows == kept.map { $0 < picturesBefore ? nil : $0 - picturesBefore })
    #expect(pairing.isProved)
  }

  @Test("A short movie inside a long table, found by the transform")
  func trimmed() {
    var generator = SeededGenerator(seed: 41)
    var steps = [0.0]
    for _ in 1..<3000 {
      steps.append((steps.last ?? 0) + (Int.random(in: 0..<20, using: &generator) == 0 ? 1.5 : 1))
    }
    let rows = rows(steps)
    let kept = Array(1700..<2300).filter { $0 != 1900 }
    let pairing = pair(rows, pictures(rows, kept))
    #expect(pairing.rows == kept)
    #expect(pairing.isProved)
  }

  @Test("A picture without a fitting row has none, and is placed between its neighbors")
  func pictureWithoutRow() {
    let all = rows(uneven)
    let kept = all.indices.filter { $0 != 4 && $0 != 9 }
    let rows = kept.map { all[$0] }
    let times = pictures(all, Array(all.indices))
    let pairing = pair(rows, times)
    #expect(pairing.rows[4] == nil)
    #expect(pairing.rows[9] == nil)
    let frames = JoinedFrames(rows: rows, pictures: times, match: pairing)
    #expect(frames.frames.count == all.count)
    #expect(frames.frameOfPicture == Array(all.indices))
    #expect(frames.frameOfPictureUnlessPlain == nil)
    #expect(frames.picturesWithoutRow == 2)
    #expect(frames.rowsWithoutPicture == 0)
    #expect(isNear(frames.frames[4].timestamp?.nanoseconds, all[4], ticks: 1))
    #expect(frames.rowOfFrame[4] == nil)
    #expect(frames.rowOfFrame[5] == 4)
  }

  @Test(
    "A picture whose row is lost is not given to the row before it where few frames are neighbors")
  func rareFrames() {
    let all = rows([0, 3, 4, 5, 8, 9, 12, 15])
    let pairing = pair(
      all.indices.filter { $0 != 3 }.map { all[$0] },
      pictures(all, all.indices.filter { $0 != 2 }))
    #expect(pairing.rows == [0, 1, nil, 3, 4, 5, 6])
  }

  @Test("Rows that were lost beside evenly spaced pictures leave those pictures without a row")
  func lostRows() {
    let all = rows((0..<24).map(Double.init))
    let kept = all.indices.filter { $0 != 3 && $0 != 5 }
    let pairing = pair(kept.map { all[$0] }, pictures(all, Array(all.indices)))
    #expect(pairing.rows.indices.filter { pairing.rows[$0] != nil } == kept)
    // Moved by a frame, nearly all fit, too.
    #expect(!pairing.isProved)
  }

  @Test("Pictures behind the last row of a movie that was encoded again are later than that row")
  func surplusByOrder() {
    let all = rows((0..<12).map(Double.init))
    let rows = all.indices.filter { $0 != 2 && $0 != 5 }.map { all[$0] }
    let times = pictures(all, Array(1..<12))
    let match = pair(rows, times)
    #expect(match.way == .rank && !match.isProved)
    let frames = JoinedFrames(rows: rows, pictures: times, match: match).frames
    #expect(frames.count == 11)
    #expect(frames.compactMap(\.timestamp) == frames.compactMap(\.timestamp).sorted())
  }

  @Test(
    "Rows whose times are lost keep the pictures between their neighbors, in doubt if one is missing there",
    arguments: [
      ([5], [], true), ([6], [], true), ([0], [], true), ([19], [], true), ([5, 6, 7], [], true),
      ([6], [2], true), ([6, 13], [9], true), ([5], [5], true), ([0, 1], [19], true),
      ([5, 6], [5], true), ([5, 6], [6], false), ([5, 6, 7, 8], [5, 6], false),
    ])
  func untimed(lost: [Int], without: [Int], isProved: Bool) {
    let all = rows(uneven)
    let kept = all.indices.filter { !without.contains($0) }
    let times = pictures(all, kept)
    let known = all.indices.map { lost.contains($0) ? nil : all[$0] }
    let keys = StreamKeys(rows: known)
    guard case .times(let taken, _) = keys else {
      Issue.record("no times")
      return
    }
    var pairing = StreamMatch(
      .times(times, tickNanoseconds: Self.tick), with: keys, nouns: ("picture", "row"),
      endTogether: true)
    pairing.pairUntimed(known, taken: taken, items: times)
    #expect(pairing.rows == kept)
    #expect(pairing.isProved == isProved)
  }

  @Test("Rows without picture keep their frames")
  func holes() {
    let rows = rows(uneven)
    let kept = rows.indices.filter { ![0, 3, 19].contains($0) }
    let times = pictures(rows, kept)
    let frames = JoinedFrames(rows: rows, pictures: times, match: pair(rows, times))
    #expect(frames.frames.map(\.timestamp) == rows)
    #expect(frames.frameOfPictureUnlessPlain == kept)
    #expect(frames.rowsWithoutPicture == 3)
    #expect(frames.frames[3].colorTimestamp == nil)
  }

  @Test("More pictures than rows, one row, and no picture do not trap")
  func extremes() {
    let one = rows([0])
    let pairing = pair(one, [0, 33_000_000, 66_000_000])
    #expect(pairing.rows == [0, nil, nil])
    #expect(pair(one, []).rows.isEmpty)
    let ends = [Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max)]
    #expect(pair(ends, [0, .max, .max]).rows.count == 3)
    #expect(pair(ends, [0, .max]).rows == [0, 1])
  }
}

@Suite("Steps between times")
struct TimeStepsTests {
  struct Case: Sendable {
    var times: [Int64]
    var median: Int64?
    var gaps = 0
    var backward = 0
    var repeated = 0
  }

  @Test(
    "Median, gaps, backward and equal steps are counted",
    arguments: [
      Case(times: [], median: nil),
      Case(times: [7], median: nil),
      Case(times: [0, 10], median: 10),
      // A gap starts above one and a half medians.
      Case(times: [0, 10, 20, 35], median: 10),
      Case(times: [0, 10, 20, 36], median: 10, gaps: 1),
      // An even number of steps: the mean of the middle two, rounded down.
      Case(times: [0, 10, 23], median: 11),
      Case(times: [23, 10, 0], median: -12, backward: 2),
      Case(times: [0, 10, 10, 5, 15, 25], median: 10, backward: 1, repeated: 1),
      Case(times: [3, 3, 3, 500], median: 0, repeated: 2),
      // Distances that no Int64 holds stop at its ends.
      Case(times: [.min, .max, .min], median: -1, backward: 1),
      Case(times: [.min, .max, .max - 1, .max], median: 1, gaps: 1, backward: 1),
    ])
  func counts(example: Case) {
    let steps = TimeSteps(example.times.map { Timestamp(nanoseconds: $0) })
    #expect(steps.medianNanoseconds == example.median)
    #expect(steps.gaps(above: 1.5) == example.gaps)
    #expect(steps.backward == example.backward)
    #expect(steps.repeated == example.repeated)
  }

  @Test("The rate is that of the median step, and none where time does not advance")
  func rate() {
    func steps(_ times: [Int64]) -> TimeSteps {
      TimeSteps(times.map { Timestamp(nanoseconds: $0) })
    }
    #expect(steps([0, 20_000_000, 40_000_000]).rateHz == 50)
    #expect(steps([0, 0, 0]).rateHz == nil)
    #expect(steps([5]).rateHz == nil)
  }
}

@Suite("Times that can be true")
struct TimeBoundsTests {
  private static let second: Int64 = 1_000_000_000

  private func kept(_ seconds: [Int64]) -> [Int64] {
    let times = seconds.map { Timestamp(nanoseconds: $0 * Self.second) }
    let bounds = TimeBounds(times)
    return times.filter(bounds.contains).map { $0.nanoseconds / Self.second }
  }

  @Test("An hour from the median and no more")
  func hour() {
    #expect(kept([10_000, 10_001, 10_002, 13_601]) == [10_000, 10_001, 10_002, 13_601])
    #expect(kept([10_000, 10_001, 10_002, 13_602]) == [10_000, 10_001, 10_002])
    #expect(kept([6_401, 10_000, 10_001, 10_002]) == [6_401, 10_000, 10_001, 10_002])
    #expect(kept([6_399, 10_000, 10_001, 10_002]) == [10_000, 10_001, 10_002])
  }

  @Test("A recording of a night is kept whole, and what lies behind it is not")
  func long() {
    let night = Array(stride(from: Int64(100_000), to: 130_000, by: 30))
    #expect(kept(night) == night)
    #expect(kept(night + [140_000]) == night)
  }

  @Test("Nothing, one time, and times at the ends of the clock do no harm")
  func ends() {
    #expect(TimeBounds([]).contains(Timestamp(nanoseconds: .max)))
    #expect(kept([7]) == [7])
    let ends = [Int64.min, .max, 0, -1, 1].map { Timestamp(nanoseconds: $0) }
    let bounds = TimeBounds(ends)
    #expect(ends.filter(bounds.contains).map(\.nanoseconds) == [0, -1, 1])
    let late = [Int64.max, .max - 1, .max - 2, .min].map { Timestamp(nanoseconds: $0) }
    #expect(late.filter(TimeBounds(late).contains).count == 3)
  }
}
