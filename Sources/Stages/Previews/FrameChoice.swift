import Captures
import Core
import Processing

/// Chooses the frames to display when there are too many.
enum FrameChoice {
  /// `frames`, ascending, or `count` of them, evenly spaced, first and last included. At most one
  /// in `spacing`, but two if there are two.
  static func evenly(_ frames: [Int], count: Int, spacing: Int = 1) -> [Int] {
    let enough = max(2, (frames.count + max(1, spacing) - 1) / max(1, spacing))
    let count = min(count, enough)
    guard frames.count > count else { return frames }
    guard count > 1 else { return [frames[frames.count / 2]] }
    return (0..<count).map { frames[$0 * (frames.count - 1) / (count - 1)] }
  }
}

/// Labels of displayed frames.
package enum FrameLabel {
  /// `frame 120  4.00 s`: the index, and the time since the first frame that has one.
  package static func text(_ frame: Int, _ capture: Capture) -> String {
    let first = capture.frames.lazy.compactMap(\.timestamp).first
    let time = capture.frames.indices.contains(frame) ? capture.frames[frame].timestamp : nil
    return text(frame, time?.nanoseconds, since: first?.nanoseconds)
  }

  static func text(_ frame: Int, _ time: Int64?, since first: Int64?) -> String {
    guard let time, let first else { return "frame \(frame)" }
    let seconds = (Double(time) - Double(first)) / 1e9
    return "frame \(frame)  \(PictureNumber.fixed(seconds, 2)) s"
  }
}

/// Readings of the motion sensors of a capture for plots.
package enum MotionReadings {
  /// Acceleration and rotation, each with the sensors to use in order of preference.
  package static let kinds: [(title: String, unit: String, sensors: [String])] = [
    ("acceleration", "m/s²", ["accelerometer", "userAcceleration", "gravity"]),
    ("rotation", "rad/s", ["gyroscope", "rotationRate"]),
  ]

  static func series(of capture: Capture) -> [MotionSeries3] {
    guard let imu = capture.imu.value else { return [] }
    return kinds.compactMap { kind in
      guard
        let sensor = kind.sensors.lazy.compactMap({ imu.sensors.firstIndex(of: $0) }).first
      else { return nil }
      let gaps = imu.gapThresholdNanoseconds
      var series = MotionSeries3(
        title: "\(kind.title) (\(imu.sensors[sensor]))", unit: kind.unit,
        gapNanoseconds: gaps.indices.contains(sensor) ? gaps[sensor] : .max)
      for sample in imu.samples where sample.sensor == sensor {
        series.append(sample.timestamp.nanoseconds, sample.x, sample.y, sample.z)
      }
      return series.nanoseconds.isEmpty ? nil : series
    }
  }

  /// Times of all frames if they use the sensors' clock, else none.
  static func frameTimes(of capture: Capture) -> [Int64] {
    guard capture.framesShareIMUClock else { return [] }
    return capture.frames.compactMap { $0.timestamp?.nanoseconds }
  }

  package static func times(ofFrames frames: [Int], _ capture: Capture) -> [Int64] {
    guard capture.framesShareIMUClock else { return [] }
    return frames.compactMap { frame in
      capture.frames.indices.contains(frame) ? capture.frames[frame].timestamp?.nanoseconds : nil
    }
  }
}
