import Core
import SystemPackage

/// Reads the `.imu` file: records of sixteen float64, five sensors at one time.
struct ScanNetIMU {
  static let recordBytes = 128
  /// A longer step between neighboring records is a gap.
  static let gapNanoseconds: Int64 = 250_000_000

  /// One of the five vectors of a record.
  private struct Sensor {
    var name: String
    /// Byte offset of x in the record.
    var offset: Int
    /// Factor to the unit of the tables.
    var scale = 1.0
  }

  /// CoreMotion states these two accelerations in units of gravity.
  private static let standardGravity = StandardGravity.metersPerSecondSquared
  private static let sensors = [
    Sensor(name: "rotationRate", offset: 8),
    Sensor(name: "userAcceleration", offset: 32, scale: standardGravity),
    Sensor(name: "magnetometer", offset: 56),
    Sensor(name: "attitude", offset: 80),
    Sensor(name: "gravity", offset: 104, scale: standardGravity),
  ]

  /// Number of whole records in the file.
  let recordCount: Int
  let stream: IMUStream
  /// Times of the first and last accepted records.
  private let firstTimestamps, lastTimestamps: [Timestamp]

  /// Reads all records; `declared` is the number that the app declares. Cost: one pass and one
  /// sort.
  init(_ file: MappedFile, name: String, declared: Int?, into warnings: WarningCollector) {
    let head = file.withBytes(Self.headerBytes)
    let count = max(0, file.count - head) / Self.recordBytes
    recordCount = count
    let rest = file.count - head - count * Self.recordBytes
    if rest > 0 {
      warnings.add(
        .imuPartialRecord, "imu",
        "\(name), record \(count), byte \(head + count * Self.recordBytes): "
          + "the file ends after \(rest) bytes of a record")
    }
    // The declared number may be one too low.
    if let declared, abs(declared - count) > 1 {
      warnings.add(
        .frameCountMismatch, "imu", count: abs(declared - count),
        "\(name) holds \(count) records, but the metadata says \(declared)")
    }

    let (samples, times, nonFinite, noTime) = file.withBytes { bytes in
      Self.samples(bytes, head: head, count: count)
    }
    (firstTimestamps, lastTimestamps) = (Array(times.prefix(5)), Array(times.suffix(5)))
    warnings.add(
      .corruptRecord, "imu", count: noTime,
      "\(name): records whose time is zero or more than an hour away from all others")
    warnings.add(
      .nonFiniteValue, "imu", count: nonFinite, "\(name): records with values that are not finite")
    warnings.add(
      .timestampsUnordered, "imu", count: TimeSteps(times).backward, of: .size(times.count),
      "\(name): records earlier than the one before")
    var description = StreamDescription(
      file: name, encoding: head == 0 ? "scannet-imu-128" : "scannet-imu-128-head8",
      declaredFrames: declared)
    description.firstTimestamp = times.min()
    description.lastTimestamp = times.max()
    var (stream, duplicates) = IMUStream.sorting(
      samples, sensorNames: Self.sensors.map(\.name), description: description,
      convention: .coremotion)
    stream.recordedAcceleration = .g
    // Times that lost digits are spread; others are those of the records, also of unusable ones.
    let steps = TimeSteps(
      stream.truncatedTimes.isEmpty ? times.sorted() : stream.timestamps(ofSensor: 0))
    let gaps = steps.nanoseconds.count { $0 > Self.gapNanoseconds }
    warnings.add(.imuGap, "imu", count: gaps, "\(name): steps above 0.25 s")
    stream.description.rateHz = steps.rateHz
    stream.description.gaps = gaps
    stream.gapThresholdNanoseconds = stream.sensors.map { _ in Self.gapNanoseconds }
    // The five sensors of a record share its time: if all of them lose a sample, that is one
    // record.
    warnings.add(
      .timestampsDuplicate, "imu", count: duplicates.values.max() ?? 0,
      "\(name): records with the time of an earlier record; the first is kept")
    self.stream = stream
  }

  /// Time of the first samples: the median of the first five accepted records in file order, so
  /// that a single early time does not count.
  var start: Timestamp? { Self.median(firstTimestamps) }

  /// Time of the last sample, unless it is alone and more than a second after its neighbors.
  var end: Timestamp? {
    guard let last = stream.samples.last?.timestamp, let usual = Self.median(lastTimestamps) else {
      return nil
    }
    if last - usual <= 1_000_000_000 { return last }
    return lastTimestamps.filter { $0 - usual <= 1_000_000_000 }.max() ?? usual
  }

  private static func median(_ times: [Timestamp]) -> Timestamp? {
    times.isEmpty ? nil : times.sorted()[(times.count - 1) / 2]
  }

  /// Samples in file order, the accepted times of the records, the number of records that lost a
  /// sample, and the number with an implausible time.
  private static func samples(
    _ bytes: RawSpan, head: Int, count: Int
  ) -> (samples: [IMUSample], times: [Timestamp], nonFinite: Int, noTime: Int) {
    let all = (0..<count).map { record in
      bytes.littleEndianDouble(at: head + record * recordBytes)
        .flatMap(Timestamp.init(exactSeconds:))
    }
    // Times are seconds since boot.
    let bounds = TimeBounds(all.lazy.compactMap { $0 }.filter { $0.nanoseconds > 0 })
    var samples: [IMUSample] = []
    var times: [Timestamp] = []
    var nonFinite = 0
    var noTime = 0
    for record in 0..<count {
      let start = head + record * recordBytes
      guard let time = all[record] else {
        // Finite, but not a possible time.
        let isFinite = bytes.littleEndianDouble(at: start)?.isFinite ?? false
        if isFinite { noTime += 1 } else { nonFinite += 1 }
        continue
      }
      guard time.nanoseconds > 0, bounds.contains(time) else {
        noTime += 1
        continue
      }
      times.append(time)
      var isWhole = true
      for (index, sensor) in sensors.enumerated() {
        func value(_ axis: Int) -> Double {
          let offset = start + sensor.offset + 8 * axis
          return (bytes.littleEndianDouble(at: offset) ?? .nan) * sensor.scale
        }
        let sample = IMUSample(
          timestamp: time, sensor: index, x: value(0), y: value(1), z: value(2))
        if sample.x.isFinite, sample.y.isFinite, sample.z.isFinite {
          samples.append(sample)
        } else {
          isWhole = false
        }
      }
      if !isWhole { nonFinite += 1 }
    }
    return (samples, times, nonFinite, noTime)
  }

  /// 8 when the file starts with a start time before its records, else 0.
  ///
  /// Determined by content, because a partial record at the end may hide it in the file's size.
  private static func headerBytes(_ bytes: RawSpan) -> Int {
    properSteps(bytes, from: 8) > properSteps(bytes, from: 0) ? 8 : 0
  }

  /// Number of steps between neighbors among the first 64 records whose times look like seconds
  /// since boot and are at most one second apart.
  private static func properSteps(_ bytes: RawSpan, from start: Int) -> Int {
    let records = min(64, max(0, bytes.byteCount - start) / recordBytes)
    var count = 0
    for record in 1..<max(records, 1) {
      let end = start + record * recordBytes
      guard let earlier = bytes.littleEndianDouble(at: end - recordBytes),
        let later = bytes.littleEndianDouble(at: end)
      else { break }
      let areTimes = [earlier, later].allSatisfy { $0 > 0 && $0 < 1e9 }
      if areTimes, (0...1).contains(later - earlier) { count += 1 }
    }
    return count
  }
}
