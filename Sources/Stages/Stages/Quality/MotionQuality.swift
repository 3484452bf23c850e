import Captures
import Core
import Processing

/// What poses and gyroscope tell of frames: how far the camera turned from frame to frame, and by how
/// many pixels that smeared the picture while it was exposed.
struct MotionQuality {
  private let frames: [CaptureFrame]
  private let poses: [Int: Pose]
  private let gyroscope: GyroscopeRotation?
  private let exposureSeconds: [Int: Double]
  /// Focal length of the color camera in pixels of its pictures, by frame; the one of `-1` counts for all.
  private let focalLengths: [Int: Double]

  init(_ capture: Capture) {
    frames = capture.frames
    poses = capture.posesByFrame
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

  /// Fills in rotations and blur. Each frame is compared with the one before it, at the times of the frames, which
  /// are those of the poses. What smeared a picture happened when the picture was taken, which may be at another time
  /// than that of the frame (that of depth).
  ///
  /// - Parameter results: one per frame of the capture.
  func measure(_ results: inout [FrameQuality]) {
    for index in results.indices where frames.indices.contains(index) {
      let frame = frames[index]
      if index > 0 {
        if let before = poses[index - 1], let pose = poses[index] {
          results[index].poseDegrees = before.rotationDegrees(to: pose)
        }
        if let before = frames[index - 1].timestamp, let time = frame.timestamp {
          results[index].gyroscopeDegrees = gyroscope?.degrees(from: before, to: time)
        }
      }
      guard let time = frame.pictureTime, let exposure = exposureSeconds[index],
        let focalLength = focalLengths[index] ?? focalLengths[-1],
        let angle = gyroscope?.travel(around: time, seconds: exposure)
      else { continue }
      let blur = angle * focalLength
      if blur.isFinite, blur >= 0 { results[index].blurPixels = blur }
    }
  }

  /// Readings whose bias is removed are preferred.
  static func gyroscope(_ imu: IMUStream?) -> GyroscopeRotation? {
    guard let (samples, longestStep) = imu?.gyroscope else { return nil }
    return GyroscopeRotation(
      samples.filter { $0.x.isFinite && $0.y.isFinite && $0.z.isFinite },
      longestStepNanoseconds: longestStep)
  }
}

/// What a capture as a whole tells of motion sensors, clocks, exposure and poses.
extension QualityVerdict.Figures {
  /// - Parameter limits: nothing is computed of subjects without.
  init(of capture: Capture, _ limits: [QualityVerdict.Subject: QualityVerdict.Limits]) {
    self.init()
    if limits[.sensorInterval] != nil || limits[.sensorGap] != nil {
      let steps = TimeSteps((capture.imu.value?.gyroscope?.samples ?? []).map(\.timestamp))
      values[.sensorInterval] = steps.medianNanoseconds.map { Double($0) / 1e6 }
      values[.sensorGap] = steps.nanoseconds.max().map { Double($0) / 1e6 }
      lacks[.sensorInterval] = "there are no samples of a gyroscope"
    }
    if limits[.timeOffset] != nil, let poses = capture.poses.value, !poses.rows.isEmpty,
      capture.framesShareIMUClock
    {
      switch MeasureTimeOffset.byPoses(capture).result {
      case .success(let found):
        values[.timeOffset] = Double(found.nanoseconds.magnitude) / 1e6
      case .failure: lacks[.timeOffset] = "the time offset is not determined"
      }
    }
    if limits[.exposure] != nil {
      let exposures = (capture.cameraSettings.value?.rows ?? []).compactMap(\.exposureSeconds)
      values[.exposure] = Median.upper(exposures).map { $0 * 1000 }
    }
    if limits[.posesMissing] != nil, let poses = capture.poses.value, !capture.frames.isEmpty {
      let posed = Set(poses.rows.map(\.frame))
      let missing = capture.frames.indices.count { !posed.contains($0) }
      values[.posesMissing] = Double(missing) / Double(capture.frames.count)
    }
  }
}
