import Core

/// Assigns inertial samples to frames of the same clock.
///
/// Frames are processed one by one, because the rows of all frames together can be several times as
/// many as the samples. Times are whole nanoseconds; differences beyond `Int64` saturate.
public struct IMUMatcher: Sendable {
  /// Sorted by time, then by sensor.
  let samples: [IMUSample]
  let sensorCount: Int
  /// The sensor whose three values are angles (roll, pitch, yaw) in radians.
  let attitudeSensor: Int?
  /// Per sensor, the longest step in nanoseconds that is interpolated across.
  let gapThresholdNanoseconds: [Int64]

  /// - Parameters:
  ///   - samples: sorted by time, then by sensor; at most one per sensor at a time. Samples of
  ///     sensors outside `0..<sensorCount` are ignored.
  ///   - sensorCount: number of sensors; each gets a count at each frame.
  ///   - attitudeSensor: the sensor that is interpolated as angles.
  ///   - gapThresholdNanoseconds: per sensor; a sensor without an entry has no gaps.
  public init(
    samples: [IMUSample], sensorCount: Int, attitudeSensor: Int? = nil,
    gapThresholdNanoseconds: [Int64] = []
  ) {
    self.samples = samples
    self.sensorCount = max(0, sensorCount)
    self.attitudeSensor = attitudeSensor
    self.gapThresholdNanoseconds = gapThresholdNanoseconds
  }

  /// Calls `body` for each frame that has a time, in the order of `frameTimes`, which may be
  /// unsorted.
  ///
  /// The match is reused for the next frame: `body` must copy what it keeps. Cost: two binary
  /// searches per frame, plus the rows; interpolation one search per frame and sensor; the mode with
  /// previous frames sorts their times.
  public func forEachFrame(
    at frameTimes: [Timestamp?], mode: IMUMatchMode, _ body: (IMUFrameMatch) throws -> Void
  ) rethrows {
    let tracks = mode == .interpolate ? sensorTracks() : []
    var match = IMUFrameMatch(frame: 0, timestamp: Timestamp(nanoseconds: 0))
    let previous = mode == .previousFrame ? Self.previousTimes(frameTimes) : []
    for (frame, time) in frameTimes.enumerated() {
      guard let time else { continue }
      match.frame = frame
      match.timestamp = time
      match.rows.removeAll(keepingCapacity: true)
      switch mode {
      case .symmetric(let window):
        append(samplesWithin(window, of: time), to: &match)
      case .previousFrame:
        if let previous = previous[frame] {
          let start = samples.partitioningIndex { $0.timestamp > previous }
          append(start..<max(start, samples.partitioningIndex { $0.timestamp > time }), to: &match)
        }
      case .nearest(let window):
        appendNearest(in: samplesWithin(window, of: time), to: &match)
      case .interpolate:
        appendInterpolated(from: tracks, to: &match)
      }
      count(&match)
      try body(match)
    }
  }

  /// For each frame the time of the one before it by time, then index; `nil` for the first one and for
  /// frames without time.
  private static func previousTimes(_ frameTimes: [Timestamp?]) -> [Timestamp?] {
    let timed = frameTimes.enumerated().compactMap { frame, time in
      time.map { (time: $0, frame: frame) }
    }.sorted { $0 < $1 }
    var previous = [Timestamp?](repeating: nil, count: frameTimes.count)
    for (before, after) in zip(timed, timed.dropFirst()) { previous[after.frame] = before.time }
    return previous
  }

  /// The samples from `window` before `time` to `window` after it, both ends included.
  private func samplesWithin(_ window: Int64, of time: Timestamp) -> Range<Int> {
    guard window >= 0 else { return 0..<0 }
    let start = samples.partitioningIndex { $0.timestamp >= time.advanced(byNanoseconds: -window) }
    let end = samples.partitioningIndex { $0.timestamp > time.advanced(byNanoseconds: window) }
    return start..<max(start, end)
  }

  private func append(_ range: Range<Int>, to match: inout IMUFrameMatch) {
    for index in range { append(index, to: &match) }
  }

  private func append(_ index: Int, to match: inout IMUFrameMatch) {
    let sample = samples[index]
    guard (0..<sensorCount).contains(sample.sensor) else { return }
    match.rows.append(
      IMUFrameMatch.Row(
        sample: sample, offsetNanoseconds: sample.timestamp - match.timestamp, index: index))
  }

  private func appendNearest(in range: Range<Int>, to match: inout IMUFrameMatch) {
    var nearest = [(index: Int, distance: UInt64)?](repeating: nil, count: sensorCount)
    for index in range {
      let sample = samples[index]
      guard nearest.indices.contains(sample.sensor) else { continue }
      let distance = (sample.timestamp - match.timestamp).magnitude
      if let best = nearest[sample.sensor], best.distance <= distance { continue }
      nearest[sample.sensor] = (index, distance)
    }
    for index in nearest.compactMap({ $0?.index }).sorted() { append(index, to: &match) }
  }

  private func count(_ match: inout IMUFrameMatch) {
    match.counts.removeAll(keepingCapacity: true)
    for sensor in 0..<sensorCount { match.counts.append(IMUFrameMatch.Count(sensor: sensor)) }
    for row in match.rows {
      let sensor = row.sample.sensor
      match.counts[sensor].samples += 1
      if match.counts[sensor].firstOffsetNanoseconds == nil {
        match.counts[sensor].firstOffsetNanoseconds = row.offsetNanoseconds
      }
      match.counts[sensor].lastOffsetNanoseconds = row.offsetNanoseconds
    }
  }
}

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
      let position = track.partitioningIndex { samples[$0].timestamp >= time }
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

/// Which inertial samples belong to a frame.
public enum IMUMatchMode: Hashable, Sendable {
  /// Every sample with abs(offset) ≤ window, both ends included. Windows of neighboring frames may
  /// share samples.
  case symmetric(windowNanoseconds: Int64)
  /// Every sample with previous frame < time ≤ this frame; none for the first frame. The previous
  /// frame is the one before it by time, whatever order the frames have: every sample between the
  /// first and the last frame belongs to exactly one. Of frames at the same time it is the one with
  /// the lowest index.
  case previousFrame
  /// For each sensor the sample nearest in time, if abs(offset) ≤ window; the earlier one on a tie.
  case nearest(windowNanoseconds: Int64)
  /// For each sensor one value at the frame's own time, linear between the samples before and
  /// after; none across a gap and none before the first or after the last sample.
  case interpolate
}

/// The inertial samples of one frame.
public struct IMUFrameMatch: Hashable, Sendable {
  /// Canonical index of the frame.
  public var frame: Int
  var timestamp: Timestamp
  /// Matching samples, sorted by time, then by sensor.
  public var rows: [Row] = []
  /// One entry per sensor, including those without rows, in the order of the sensors.
  public var counts: [Count] = []

  /// A sample and its time relative to the frame.
  public struct Row: Hashable, Sendable {
    public var sample: IMUSample
    /// Sample time − frame time; negative before the frame.
    public var offsetNanoseconds: Int64
    /// Index in the matcher's samples; `nil` for interpolated values.
    public var index: Int?
  }

  /// How many rows of a sensor a frame has, and their first and last offset (`nil` without rows).
  public struct Count: Hashable, Sendable {
    public var sensor: Int
    public var samples = 0
    public var firstOffsetNanoseconds: Int64?
    public var lastOffsetNanoseconds: Int64?
  }
}
