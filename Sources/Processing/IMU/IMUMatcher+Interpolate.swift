import Core

extension IMUMatcher {
  /// Per sensor, the indices of its samples.
  func sensorTracks() -> [[Int]] {
    var tracks = [[Int]](repeating: [], count: sensorCount)
    for (index, sample) in samples.enumerated() where tracks.indices.contains(sample.sensor) {
      tracks[sample.sensor].append(index)
    }
    return tracks
  }

  /// Appends one row per sensor at the frame's time, if its samples enclose that time without a
  /// gap.
  func appendInterpolated(from tracks: [[Int]], to match: inout IMUFrameMatch) {
    for (sensor, track) in tracks.enumerated() {
      let time = match.timestamp
      let position = partitionPoint(count: track.count) { samples[track[$0]].timestamp >= time }
      guard position < track.count else { continue }
      let after = samples[track[position]]
      if after.timestamp == time {
        match.rows.append(IMUFrameMatch.Row(sample: after, offsetNanoseconds: 0))
        continue
      }
      guard position > 0 else { continue }
      let before = samples[track[position - 1]]
      let step = after.timestamp - before.timestamp
      if gapThresholdNanoseconds.indices.contains(sensor), step > gapThresholdNanoseconds[sensor] {
        continue
      }
      let sample = Self.between(before, after, at: time, asAngles: sensor == attitudeSensor)
      match.rows.append(IMUFrameMatch.Row(sample: sample, offsetNanoseconds: 0))
    }
  }

  /// The value at `time`, linear between two samples; angles take the shorter way.
  static func between(
    _ before: IMUSample, _ after: IMUSample, at time: Timestamp, asAngles: Bool
  ) -> IMUSample {
    let fraction =
      Double(time - before.timestamp) / Double(after.timestamp - before.timestamp)
    func value(_ a: Double, _ b: Double) -> Double {
      guard asAngles else { return a + (b - a) * fraction }
      let angle = a + (b - a).remainder(dividingBy: 2 * .pi) * fraction
      // Wrapped into ±π only if the interpolation left that range.
      let leftRange = abs(angle) > .pi && abs(a) <= .pi && abs(b) <= .pi
      return leftRange ? angle.remainder(dividingBy: 2 * .pi) : angle
    }
    return IMUSample(
      timestamp: time, sensor: before.sensor, x: value(before.x, after.x),
      y: value(before.y, after.y), z: value(before.z, after.z))
  }
}
