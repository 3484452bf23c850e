@testable import Core
@testable import Processing

@testable import Synthetic

/// A phone that moves like those of the synthesizer: poses of its camera and readings of its gyroscope,
/// whose clock is ahead by a known offset.
struct TurningPhone {
  var seed: UInt64 = 1
  var seconds = 10.0
  var framesPerSecond = 60.0
  var samplesPerSecond = 99.8
  var offsetSeconds = 0.0
  /// Noise of both sensors: 1 = that of a phone.
  var noise = 1.0
  /// How much of the rotation is there.
  var extent = 1.0
  /// Where the motion begins, seconds.
  private let origin = 100.0

  private var motion: CameraMotion {
    CameraMotion(seed: seed, center: Room.cameraCenter, reach: Room.cameraReach)
  }

  private func timestamp(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: Int64(((origin + seconds) * 1e9).rounded()))
  }

  /// Since the beginning.
  func seconds(of time: Timestamp) -> Double { Double(time.nanoseconds) / 1e9 - origin }

  /// The frame times, seconds from the beginning.
  var frameSeconds: [Double] {
    let clock = SampleClock(
      startNanoseconds: 0, rate: framesPerSecond, jitterSeconds: 0.000_5, seed: seed, "frames")
    return (0..<Int(seconds * framesPerSecond)).map { Double(clock.nanoseconds(of: $0)) / 1e9 }
  }

  /// Rotations from frame to frame.
  func turns(_ frames: [Double]? = nil) -> [CameraTurn] {
    let frames = frames ?? frameSeconds
    var random = SeededRandom(seed: seed, "poses")
    let poses = frames.map { time in
      // Tracking is off by a few tens of microradians from frame to frame.
      let off =
        Matrix3.aboutX(random.gaussian() * 3e-5 * noise)
        * Matrix3.aboutY(random.gaussian() * 3e-5 * noise)
      let turn = motion.state(at: extent * time).worldFromCamera * off
      return Pose(rotation: turn.rowMajor, position: [0, 0, 0])
    }
    return frames.indices.dropFirst().compactMap { index in
      guard let before = poses[index - 1], let pose = poses[index] else { return nil }
      return CameraTurn(
        from: before, at: timestamp(frames[index - 1]), to: pose, at: timestamp(frames[index]))
    }
  }

  /// Readings, which begin and end a little before and after the frames.
  ///
  /// - Parameters:
  ///   - offset: that of each time in seconds, if it changes.
  ///   - times: in seconds, if they are not those of a clock.
  func samples(offset: ((Double) -> Double)? = nil, at times: [Double]? = nil) -> [IMUSample] {
    var sensors = InertialSensors(motion: motion, noise: noise, offsetSeconds: 0, seed: seed)
    let clock = SampleClock(
      startNanoseconds: 0, rate: samplesPerSecond, jitterSeconds: 0.000_5, seed: seed, "motion")
    let times =
      times
      ?? (-10..<Int(seconds * samplesPerSecond) + 10).map {
        Double(clock.nanoseconds(of: $0)) / 1e9
      }
    return times.map { time in
      let moment = time - (offset?(time) ?? offsetSeconds)
      let reading = sensors.sample(at: extent * moment).gyroscope
      return IMUSample(
        timestamp: timestamp(time), sensor: 0, x: reading.x * extent, y: reading.y * extent,
        z: reading.z * extent)
    }
  }

  func gyroscope(_ samples: [IMUSample]? = nil) -> GyroscopeIntegral {
    GyroscopeIntegral(samples ?? self.samples(), longestStepNanoseconds: 50_000_000)
  }

  func search() -> TimeOffsetSearch {
    TimeOffsetEstimator(searchNanoseconds: 500_000_000).search(turns(), gyroscope())
  }
}
