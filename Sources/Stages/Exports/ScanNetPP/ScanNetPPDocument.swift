import Captures
import Media
import Core
import Engine

/// Writes `pose_intrinsic_imu.json`, an object with one member per frame, incrementally.
struct ScanNetPPDocument {
  static let name = "iphone/pose_intrinsic_imu.json"
  /// Largest time between a frame and its sample.
  static let windowNanoseconds: Int64 = 50_000_000

  private let source: ExportSource
  /// The common camera; `nil` if each frame has its own.
  private let common: PinholeCamera?
  private var sensors: [(key: String, isInG: Bool, samples: [IMUSample])] = []

  init(_ source: ExportSource, common: PinholeCamera?) {
    self.source = source
    self.common = common
    guard let imu = MotionUnits.samples(source.context), source.context.capture.framesShareIMUClock
    else { return }
    let rate =
      IMUSources.samples(of: "rotationRate", imu) ?? IMUSources.samples(of: "gyroscope", imu)
    if let rate { sensors.append(("rotate_rate", false, rate)) }
    for (key, sensor) in [("acceleration", "userAcceleration"), ("gravity", "gravity")] {
      if let samples = IMUSources.samples(of: sensor, imu) { sensors.append((key, true, samples)) }
    }
  }

  /// - Returns: numbers of written and left out samples; `nil` without sensors.
  func write(_ frames: [Int], to file: StagedFile) throws -> (samples: Int, leftOut: Int)? {
    var json = JSONStream()
    var used: Set<Timestamp> = []
    json.beginObject(lines: true)
    for frame in frames {
      guard let pose = source.pose(frame), let camera = common ?? source.cameras[frame] else {
        continue
      }
      json.key("frame_" + Self.digits(frame))
      json.beginObject()
      if let time = source.time(frame) {
        json.key("timestamp")
        json.value(decimal: TimeText.decimalSeconds(time))
      }
      json.key("aligned_pose")
      json.value(pose.worldFromCamera.rowMajor, rowsOf: 4)
      json.key("intrinsic")
      json.value(camera.rowMajor3x3, rowsOf: 3)
      if let time = source.time(frame) { writeIMU(at: time, &json, &used) }
      json.end()
      if json.pendingByteCount > 1 << 20 { try json.drain { try file.append($0) } }
    }
    json.end()
    json.endLine()
    try json.drain { try file.append($0) }
    try file.finish()
    return sensors.first.map { (used.count, $0.samples.count - used.count) }
  }

  /// Writes nothing without a sample nearby.
  private func writeIMU(
    at time: Timestamp, _ json: inout JSONStream, _ used: inout Set<Timestamp>
  ) {
    let near = sensors.compactMap { sensor in
      Self.nearest(to: time, in: sensor.samples).map { (sensor.key, sensor.isInG, $0) }
    }
    guard let first = near.first else { return }
    if first.0 == sensors.first?.key { used.insert(first.2.timestamp) }
    json.key("imu")
    json.beginObject()
    for (key, isInG, sample) in near {
      json.key(key)
      json.value(
        [sample.x, sample.y, sample.z].map {
          isInG ? SpecificForce.g(fromMetersPerSecondSquared: $0) : $0
        })
    }
    json.end()
  }

  /// The nearest sample; of two at the same distance the earlier one.
  static func nearest(to time: Timestamp, in samples: [IMUSample]) -> IMUSample? {
    var (low, high) = (0, samples.count)
    while low < high {
      let middle = (low + high) / 2
      if samples[middle].timestamp < time { low = middle + 1 } else { high = middle }
    }
    let around = [low - 1, low].filter(samples.indices.contains).map { samples[$0] }
    let nearest = around.min {
      ($0.timestamp - time).magnitude < ($1.timestamp - time).magnitude
    }
    guard let nearest, (nearest.timestamp - time).magnitude <= windowNanoseconds.magnitude else {
      return nil
    }
    return nearest
  }

  /// The frame number with at least six digits.
  private static func digits(_ frame: Int) -> String {
    let text = String(frame)
    return String(repeating: "0", count: max(0, 6 - text.count)) + text
  }
}
