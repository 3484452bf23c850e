import Core

/// The times of frames, which the app chooses by motion: steps of 0.03 to 0.3 seconds.
struct ThreeDAppTimes {
  private let plan: ThreeDAppPlan
  private let base: Double
  /// Seconds of the scene by frame.
  private let seconds: [Double]

  /// - Parameter rate: largest number of frames per second.
  init(plan: ThreeDAppPlan, rate: Double, seed: UInt64) {
    self.plan = plan
    var random = SeededRandom(seed: seed, "frame times")
    base = random.uniform(20_000...900_000)
    var seconds: [Double] = []
    var next = 0.0
    for _ in 0..<plan.frames {
      seconds.append(next)
      next += random.uniform(1...10) / rate
    }
    self.seconds = seconds
  }

  /// Time of a frame in the scene, seconds.
  func worldSeconds(_ frame: Int) -> Double { seconds[frame] }

  /// Uptime as the frame's file has it.
  func uptime(_ frame: Int) -> Double {
    base + seconds[plan.damage.timedFrame(frame)]
  }

  /// The time that a reader finds in a frame's file, nanoseconds.
  func recorded(_ frame: Int) -> Int64? {
    Timestamp(decimalSeconds: "\(uptime(frame))")?.nanoseconds
  }
}
