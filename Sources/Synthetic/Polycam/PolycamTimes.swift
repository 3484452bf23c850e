/// The times of frames, whole microseconds of uptime, which the app chooses by motion: steps of 0.1 to
/// 0.7 seconds.
struct PolycamTimes {
  /// Microseconds by frame.
  let microseconds: [Int64]

  init(frames: Int, rate: Double, seed: UInt64) {
    var random = SeededRandom(seed: seed, "frame times")
    var next = Int64(random.uniform(20_000...900_000) * 1e6)
    microseconds = (0..<frames).map { _ in
      defer { next += Int64(random.uniform(1...7) / rate * 1e6) }
      return next
    }
  }

  /// Time of a frame in the scene, seconds.
  func worldSeconds(_ frame: Int) -> Double {
    Double(microseconds[frame] - (microseconds.first ?? 0)) / 1e6
  }

  func nanoseconds(_ frame: Int) -> Int64 { microseconds[frame] * 1_000 }
}
