/// The times of all events in a ScanNet capture, in nanoseconds of device uptime, and the recorded
/// times.
struct ScanNetTimes {
  /// Uptime at the scene's time 0, about the first frame.
  let base: Int64
  private let plan: ScanNetPlan
  private let frameClock: SampleClock
  private let colorClock: SampleClock
  private let inertialClock: SampleClock

  /// Color follows depth by about four milliseconds. The IMU runs at 60 Hz, from a quarter of a
  /// second before to a quarter of a second after.
  init(plan: ScanNetPlan, rate: Double, seed: UInt64) {
    self.plan = plan
    var random = SeededRandom(seed: seed, "uptime")
    base = Int64(random.uniform(20_000...300_000) * 1e9)
    frameClock = SampleClock(
      startNanoseconds: base, rate: rate, jitterSeconds: 0.0004, seed: seed, "frames")
    colorClock = SampleClock(
      startNanoseconds: base + 4_050_000, rate: rate, jitterSeconds: 0.0005, seed: seed, "color")
    inertialClock = SampleClock(
      startNanoseconds: base - 250_000_000, rate: 59.7, jitterSeconds: 0.006, seed: seed, "imu")
  }

  /// True time of a depth frame.
  func depth(_ frame: Int) -> Int64 { frameClock.nanoseconds(of: frame) + skipped(before: frame) }

  /// True middle of a picture's exposure.
  func color(_ frame: Int) -> Int64 { colorClock.nanoseconds(of: frame) + skipped(before: frame) }

  /// Time in the scene, seconds.
  func worldSeconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds - base) / 1e9 }

  /// Times of the IMU samples, in file order.
  var inertial: [Int64] {
    let lastFrame = depth(plan.frames - 1)
    let end =
      plan.inertialEndsEarlySeconds.map { lastFrame - Int64($0 * 1e9) } ?? lastFrame + 250_000_000
    let middle = (base + lastFrame) / 2
    let gap = middle..<(middle + Int64(plan.inertialGapSeconds * 1e9))
    var times: [Int64] = []
    var index = 0
    while true {
      let time = inertialClock.nanoseconds(of: index)
      guard time <= end else { break }
      if !gap.contains(time) { times.append(time) }
      index += 1
    }
    if plan.swapsInertialSamples, times.count > 4 {
      times.swapAt(times.count / 2, times.count / 2 + 1)
    }
    return times
  }

  /// The depth file's time for entry `index` of a block, seconds.
  func recordedDepth(_ index: Int) -> Double {
    guard index < plan.frames else { return garbage }
    switch plan.timeEdits[index] {
    case nil: break
    case .notANumber: return .nan
    case .zero: return 0
    case .repeated: return recorded(depth(index - 1))
    case .swapped: return recorded(depth(index + 1))
    }
    if plan.timeEdits[index - 1] == .swapped { return recorded(depth(index - 1)) }
    return recorded(depth(index))
  }

  func recordedColor(_ index: Int) -> Double {
    index < plan.frames ? recorded(color(index)) : garbage
  }

  private func recorded(_ nanoseconds: Int64) -> Double {
    Double(nanoseconds - Int64(plan.staleSeconds * 1e9)) / 1e9
  }

  /// A time of an earlier scan.
  private var garbage: Double { Double(base) / 1e9 - 1234.5 }

  private func skipped(before frame: Int) -> Int64 {
    guard let gap = plan.gap, frame > gap.afterFrame else { return 0 }
    return Int64(Double(gap.frameTimes) * frameClock.periodNanoseconds)
  }
}
