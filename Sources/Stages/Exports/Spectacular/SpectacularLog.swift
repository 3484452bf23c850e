import Captures
import Core
import Engine
import Processing

/// Writes `data.jsonl`: one JSON object per line, in time order; at equal times sensors come first,
/// then pictures, then their poses.
struct SpectacularLog {
  struct Sample {
    enum Kind: String {
      case gyroscope, accelerometer
    }

    var time: Timestamp
    var kind: Kind
    var values: [Double]
  }

  /// Samples in time order.
  let gyroscope: [Sample]
  let accelerometer: [Sample]
  let times: [Timestamp]
  /// By picture.
  let poses: [Pose?]

  /// Number of samples left out because they are too far from the exported frames.
  let cropped: Int

  init(_ source: ExportSource, _ exported: ExportFrames) {
    let frames = exported.frames
    let imu = MotionUnits.samples(source.context)
    let convention = imu.map { IMUSources.convention($0, source.context.parameters) }
    var gyroscope = Self.samples(imu.map(IMUSources.angularVelocity) ?? [], .gyroscope)
    var accelerometer = Self.samples(
      imu.flatMap { imu in convention.map { IMUSources.specificForce(imu, $0) } } ?? [],
      .accelerometer)
    let crop = IMUCrop(source, exported)
    cropped =
      (crop?.crop(&gyroscope, time: \.time) ?? 0) + (crop?.crop(&accelerometer, time: \.time) ?? 0)
    self.gyroscope = gyroscope
    self.accelerometer = accelerometer
    times = frames.compactMap(source.time)
    poses = frames.map(source.pose)
  }

  /// The smallest written time, which is subtracted from all.
  var start: Timestamp? {
    [gyroscope.first?.time, accelerometer.first?.time, times.first].compactMap(\.self).min()
  }

  /// Whether any picture has a pose.
  var hasPoses: Bool { poses.contains { $0 != nil } }

  var sampleCount: Int { gyroscope.count + accelerometer.count }

  func write(_ name: String, _ staging: StagingFolder) throws {
    var file = try LineFile(name, staging)
    guard let start else { return try file.finish() }
    var places = (gyroscope: 0, accelerometer: 0, picture: 0)
    while true {
      let next = [
        places.gyroscope < gyroscope.count ? gyroscope[places.gyroscope].time : nil,
        places.accelerometer < accelerometer.count
          ? accelerometer[places.accelerometer].time : nil,
        places.picture < times.count ? times[places.picture] : nil,
      ]
      guard let time = next.compactMap(\.self).min() else { break }
      let seconds = TimeText.decimalSeconds(nanoseconds: time - start)
      if next[0] == time {
        try file.line(Self.line(gyroscope[places.gyroscope], seconds))
        places.gyroscope += 1
      } else if next[1] == time {
        try file.line(Self.line(accelerometer[places.accelerometer], seconds))
        places.accelerometer += 1
      } else {
        let number = places.picture
        try file.line(
          #"{"number":\#(number),"time":\#(seconds),"frames":[{"cameraInd":0,"time":\#(seconds)}]}"#
        )
        if let pose = poses[number] { try file.line(Self.line(pose, seconds)) }
        places.picture += 1
      }
    }
    try file.finish()
  }

  private static func samples(_ samples: [IMUSample], _ kind: Sample.Kind) -> [Sample] {
    samples.compactMap { sample in
      let values = [sample.x, sample.y, sample.z]
      guard values.allSatisfy(\.isFinite) else { return nil }
      return Sample(time: sample.timestamp, kind: kind, values: values)
    }
  }

  private static func line(_ sample: Sample, _ seconds: String) -> String {
    let values = sample.values.map(MatrixText.number).joined(separator: ",")
    return
      #"{"sensor":{"type":"\#(sample.kind.rawValue)","values":[\#(values)]},"time":\#(seconds)}"#
  }

  /// Camera to world.
  private static func line(_ pose: Pose, _ seconds: String) -> String {
    let p = pose.position.map(MatrixText.number)
    let q = pose.orientation
    let (w, x, y, z) = (
      MatrixText.number(q.w), MatrixText.number(q.x), MatrixText.number(q.y),
      MatrixText.number(q.z)
    )
    return #"{"groundTruth":{"position":{"x":\#(p[0]),"y":\#(p[1]),"z":\#(p[2])},"#
      + #""orientation":{"w":\#(w),"x":\#(x),"y":\#(y),"z":\#(z)}},"time":\#(seconds)}"#
  }
}
