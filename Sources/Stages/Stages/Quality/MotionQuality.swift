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
  /// Focal length of the color camera in pixels of its pictures, by frame.
  private let focalLengths: [Int: Double]
  /// That of frames without one of their own.
  private let commonFocalLength: Double?

  init(_ capture: Capture) {
    frames = capture.frames
    poses = capture.posesByFrame
    gyroscope = capture.framesShareIMUClock ? Self.gyroscope(capture.imu.value) : nil
    exposureSeconds = Dictionary(
      (capture.cameraSettings.value?.rows ?? []).compactMap { row in
        row.exposureSeconds.map { (row.frame, $0) }
      }
    ) { first, _ in first }
    focalLengths = Dictionary(
      (capture.intrinsics.value ?? []).map { ($0.frame, $0.fx) }
    ) { first, _ in first }
    commonFocalLength = capture.alignment?.colorIntrinsics?.fx
  }

  /// Fills in rotations and blur.
  ///
  /// A frame with a pose is compared with the one before that has one (`usualStep`), any other with the one before it, at
  /// the times of the frames, which are those of the poses. Blur is that at the time of the picture, which may be another
  /// than that of the frame (that of depth).
  ///
  /// - Parameter results: one per frame of the capture.
  func measure(_ results: inout [FrameQuality]) {
    let step = frames.usualStep(of: poses.keys.sorted())
    for index in results.indices where frames.indices.contains(index) {
      let frame = frames[index]
      let before = index - (poses[index] == nil ? 1 : step)
      if before >= 0 {
        if let pose = poses[index], let posed = poses[before] {
          results[index].poseDegrees = posed.rotationDegrees(to: pose)
        }
        if let start = frames[before].timestamp, let time = frame.timestamp {
          results[index].gyroscopeDegrees = gyroscope?.degrees(from: start, to: time)
        }
      }
      guard let time = frame.pictureTime, let exposure = exposureSeconds[index],
        let focalLength = focalLengths[index] ?? commonFocalLength,
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

extension [CaptureFrame] {
  /// Items of a stream that are further apart show too little in common to be compared.
  private static var longestStepNanoseconds: Int64 { 250_000_000 }

  /// How many frames an item of a stream lies after the one before it, as a rule: 1, and more where frames have a
  /// higher rate than the stream.
  ///
  /// - Parameter items: the frames that have an item, ascending.
  func usualStep(of items: [Int]) -> Int {
    let pairs = zip(items, items.dropFirst()).filter { $0 >= 0 && $1 < count }
    let counts = Dictionary(pairs.map { ($1 - $0, 1) }, uniquingKeysWith: +)
    guard let usual = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key, usual > 1,
      let (first, second) = pairs.first(where: { $1 - $0 == usual }),
      let start = self[first].timestamp, let end = self[second].timestamp
    else { return 1 }
    let (nanoseconds, overflows) = end.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
    return !overflows && nanoseconds <= Self.longestStepNanoseconds ? usual : 1
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
