/// A place where the frames may end: behind it lie whole time blocks and nothing else.
struct ScanNetDepthEnd: Hashable, Sendable {
  /// Records in front of the time blocks (F).
  var frames: Int
  /// Time blocks: depth and color, or depth alone (B).
  var blocks: Int
  /// Entries of each block (T′).
  var times: Int

  /// The best place, or `nil` when there is none to trust.
  ///
  /// A time can by rare chance look like the length of a record, so that the walk went a few steps too
  /// far: the last four cuts are tried. The declared number of times decides first, then two blocks
  /// before one, then the number nearest to that of the frames, then the most frames. A best place
  /// that contradicts a believable declaration is not taken.
  ///
  /// - Parameter cuts: the offsets at which records end, the file's start first.
  static func best(cuts: [Int], byteCount: Int, declaredTimes: Int?) -> ScanNetDepthEnd? {
    let last = cuts.count - 1
    var candidates: [ScanNetDepthEnd] = []
    // At least one frame: an end in front of all of them would lose them.
    for frames in stride(from: last, through: max(1, last - 3), by: -1) {
      let rest = byteCount - cuts[frames]
      for blocks in [2, 1] where rest % (8 * blocks) == 0 {
        let times = rest / (8 * blocks)
        if times >= 1, abs(times - frames) <= 2 {
          candidates.append(ScanNetDepthEnd(frames: frames, blocks: blocks, times: times))
        }
      }
    }
    guard let best = candidates.min(by: { $0.isBetter(than: $1, declaredTimes: declaredTimes) })
    else { return nil }
    if let declaredTimes, abs(declaredTimes - last) <= 2, best.times != declaredTimes { return nil }
    return best
  }

  private func isBetter(than other: ScanNetDepthEnd, declaredTimes: Int?) -> Bool {
    func rank(_ end: ScanNetDepthEnd) -> (Int, Int, Int, Int) {
      (
        end.times == declaredTimes ? 0 : 1, -end.blocks, abs(end.times - end.frames), -end.frames
      )
    }
    return rank(self) < rank(other)
  }
}
