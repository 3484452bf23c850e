import Codecs
import Geometry
import Testing

@testable import Captures

@Suite("VI-SLAM: which picture belongs to which row")
struct VISLAMPairingTests {
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

  private func pair(_ rows: [Timestamp], _ pictures: [Int64], gaps: Bool = true) -> VISLAMPairing {
    VISLAMPairing(
      rows: rows, pictures: pictures, tickNanoseconds: Self.tick, rowsHaveGaps: gaps)
  }

  /// Steps with gaps at irregular places, so that every run of frames is like no other.
  private let uneven: [Double] = [
    0, 1, 2.5, 3.5, 4.5, 5.5, 8, 9, 10, 11, 12.5, 13.5, 14.5, 16.5, 17.5, 18.5, 19.5, 20.5, 23, 24,
  ]

  @Test("As many pictures as rows that keep their distances are paired in order")
  func sameNumber() {
    let rows = rows(uneven)
    let pairing = pair(rows, pictures(rows, Array(rows.indices)))
    #expect(pairing.rowOfPicture == Array(rows.indices))
    #expect(!pairing.isApproximate)
  }

  @Test(
    "Missing pictures are found where they are missing, the first ones too",
    arguments: [[0], [0, 1, 2], [6], [19], [0, 7, 8, 13], [5, 6, 7, 8, 9], [18, 19]])
  func dropped(missing: [Int]) {
    let rows = rows(uneven)
    let kept = rows.indices.filter { !missing.contains($0) }
    let pairing = pair(rows, pictures(rows, kept))
    #expect(pairing.rowOfPicture == kept)
    #expect(pairing.start == rows[kept[0]])
    #expect(!pairing.isApproximate)
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
    let pairing = VISLAMPairing(
      rows: rows, pictures: pictures(rows, shown), tickNanoseconds: Self.tick, rowsHaveGaps: false,
      hidden: hidden)
    #expect(pairing.rowOfPicture == shown)
    #expect(pairing.start == rows[first])
    #expect(pairing.isApproximate == !isProven)
    #expect(pairing.mostOffNanoseconds.map(HiddenStart.milliseconds) == off)
  }

  @Test("Evenly spaced rows do not show which were dropped: the earliest rows, and a warning")
  func indistinct() {
    let rows = rows((0..<20).map(Double.init))
    let pairing = pair(rows, pictures(rows, Array(1..<20)), gaps: false)
    #expect(pairing.rowOfPicture == Array(0..<19))
    #expect(pairing.isApproximate)
  }

  @Test("Made-up picture times beside gaps in the rows: paired in order, and a warning")
  func madeUp() {
    let rows = rows(uneven)
    let even = rows.indices.map { Int64($0) * 33_333_333 }
    let pairing = pair(rows, even)
    #expect(pairing.rowOfPicture == Array(rows.indices))
    #expect(pairing.isApproximate)
  }

  @Test("As many pictures as rows, but not the same ones: paired in order, and a warning")
  func sameNumberOfOthers() {
    let rows = rows(uneven)
    // A picture behind the last row and none for the first.
    var times = pictures(rows, Array(1..<20))
    times.append((times.last ?? 0) + 50_000_000)
    let pairing = pair(rows, times)
    #expect(pairing.rowOfPicture == Array(rows.indices))
    #expect(pairing.isApproximate)
  }

  @Test("A picture without a fitting row has none, and is placed between its neighbors")
  func pictureWithoutRow() {
    let all = rows(uneven)
    let kept = all.indices.filter { $0 != 4 && $0 != 9 }
    let rows = kept.map { all[$0] }
    let times = pictures(all, Array(all.indices))
    let pairing = pair(rows, times)
    #expect(pairing.rowOfPicture[4] == nil)
    #expect(pairing.rowOfPicture[9] == nil)
    let frames = VISLAMFrameList(rows: rows, pictures: times, pairing: pairing)
    #expect(frames.frames.count == all.count)
    #expect(frames.frameOfPicture == Array(all.indices))
    #expect(frames.frameOfPictureUnlessPlain == nil)
    #expect(frames.picturesWithoutRow == 2)
    #expect(frames.rowsWithoutPicture == 0)
    #expect(frames.frames[4].timestamp == rows[0].advanced(byNanoseconds: times[4]))
    #expect(frames.rowOfFrame[4] == nil)
    #expect(frames.rowOfFrame[5] == 4)
  }

  @Test("Rows without picture keep their frames")
  func holes() {
    let rows = rows(uneven)
    let kept = rows.indices.filter { ![0, 3, 19].contains($0) }
    let times = pictures(rows, kept)
    let frames = VISLAMFrameList(rows: rows, pictures: times, pairing: pair(rows, times))
    #expect(frames.frames.map(\.timestamp) == rows)
    #expect(frames.frameOfPictureUnlessPlain == kept)
    #expect(frames.rowsWithoutPicture == 3)
    #expect(frames.frames[3].colorTimestamp == nil)
  }

  @Test("More pictures than rows, one row, and no picture do not trap")
  func extremes() {
    let one = rows([0])
    let pairing = pair(one, [0, 33_000_000, 66_000_000], gaps: false)
    #expect(pairing.rowOfPicture == [0, nil, nil])
    #expect(pair(one, [], gaps: false).rowOfPicture.isEmpty)
    let ends = [Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max)]
    #expect(pair(ends, [0, .max, .max], gaps: false).rowOfPicture.count == 3)
    #expect(pair(ends, [0, .max], gaps: false).rowOfPicture == [0, 1])
  }
}
