import Captures
import Geometry
import Processing

/// What poses and gyroscope tell of frames: how far the camera turned from frame to frame, and by how
/// many pixels that smeared the picture while it was exposed.
struct MotionQuality {
  private let poses: [Int: Pose]
  private let gyroscope: GyroscopeRotation?
  private let exposureSeconds: [Int: Double]
  /// Focal length of the color camera in pixels of its pictures, by frame; the one of `-1` counts for all.
  private let focalLengths: [Int: Double]

  init(_ capture: Capture) {
    poses = Dictionary((capture.poses.value?.rows ?? []).map { ($0.frame, $0.pose) }) { first, _ in
      first
    }
    gyroscope = capture.framesShareIMUClock ? Self.gyroscope(capture.imu.value) : nil
    exposureSeconds = Dictionary(
      (capture.cameraSettings.value?.rows ?? []).compactMap { row in
        row.exposureSeconds.map { (row.frame, $0) }
      }
    ) { first, _ in first }
    var focalLengths = Dictionary(
      (capture.intrinsics.value ?? []).map { ($0.frame, $0.fx) }
    ) { first, _ in first }
    focalLengths[-1] = capture.alignment?.colorIntrinsics?.fx
    self.focalLengths = focalLengths
  }

  /// Fills in rotations and blur. Each frame is compared with the one before it.
  func measure(_ frames: inout [FrameQuality], times: [Timestamp?]) {
    for frame in frames.indices {
      if frame > 0 {
        if let before = poses[frame - 1], let pose = poses[frame] {
          frames[frame].poseDegrees = before.rotationDegrees(to: pose)
        }
        if let before = times[frame - 1], let time = times[frame] {
          frames[frame].gyroscopeDegrees = gyroscope?.degrees(from: before, to: time)
        }
      }
      guard let time = times[frame], let exposure = exposureSeconds[frame],
        let focalLength = focalLengths[frame] ?? focalLengths[-1],
        let speed = gyroscope?.speed(at: time)
      else { continue }
      let blur = speed * exposure * focalLength
      if blur.isFinite, blur >= 0 { frames[frame].blurPixels = blur }
    }
  }

  /// Readings whose bias is removed are preferred.
  static func gyroscope(_ imu: IMUStream?) -> GyroscopeRotation? {
    guard let imu,
      let sensor = ["rotationRate", "gyroscope"].lazy.compactMap(imu.sensors.firstIndex).first
    else { return nil }
    let gap =
      imu.gapThresholdNanoseconds.indices.contains(sensor)
      ? imu.gapThresholdNanoseconds[sensor] : 50_000_000
    return GyroscopeRotation(
      imu.samples.filter { $0.sensor == sensor && $0.x.isFinite && $0.y.isFinite && $0.z.isFinite },
      longestStepNanoseconds: gap)
  }
}
