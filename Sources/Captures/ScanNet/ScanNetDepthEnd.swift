/// A possible end of the frames, after which there are only whole time blocks.
struct ScanNetDepthEnd: Hashable, Sendable {
  /// Number of records before the time blocks (F).
  var frames: Int
  /// Number of time blocks: depth and color, or depth alone (B).
  var blocks: Int
  /// Number of entries per block (T′).
  var times: Int

  /// The best end, or `nil` when none is plausible.
  ///
  /// A time can look like the length of a record, so that the walk may have gone a few steps too
  /// far: the last four ends of records are tried. They are ranked by the declared number of times,
  /// then two blocks before one, then the number nearest to that of the frames, then the most
  /// frames. A best end that contradicts a plausible declaration is rejected.
  ///
  /// - Parameter cuts: the offsets at which records end, beginning with the start of the file.
  static func best(cuts: [Int], byteCount: Int, declaredTimes: Int?) -> ScanNetDepthEnd? {
    let last = cuts.count - 1
    var candidates: [ScanNetDepthEnd] = []
    // At least one frame: an end before all of them would lose them.
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
