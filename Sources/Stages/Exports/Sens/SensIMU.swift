import Captures
import Core

/// The inertial samples of a `.sens` file: one frame of 128 bytes per time of the rotation rate.
struct SensIMU {
  /// The frames, without the preceding count.
  private(set) var bytes: [UInt8] = []
  private(set) var frames = 0
  /// Sensors that the capture lacks, or lacks at the time of a frame, and for which zeros are
  /// written.
  private(set) var zeros: [String] = []
  /// Number of rotation rates without a frame.
  private(set) var leftOut = 0
  /// Number of rotation rates left out because they are too far from the exported frames.
  private(set) var cropped = 0

  static let frameBytes = 128

  /// Positions of the five vectors in a frame, in doubles, and whether the field is in g.
  private static let fields: [(sensors: [String], place: Int, isInG: Bool)] = [
    (["rotationRate", "gyroscope"], 0, false), (["userAcceleration"], 3, true),
    (["magnetometer"], 6, false), (["attitude"], 9, false), (["gravity"], 12, true),
  ]

  /// Samples of other sensors are used only at exactly the time of a rotation rate; otherwise zeros
  /// are written. The signs are the recorded ones. A single frame is left out, because a usual
  /// reader's search for the nearest one would read past its end.
  ///
  /// Cost: one pass; 128 bytes per sample.
  init(_ imu: IMUStream?, _ crop: IMUCrop? = nil) {
    guard let imu, let rate = Self.fields[0].sensors.firstMap({ imu.sensors.firstIndex(of: $0) })
    else { return }
    var placeOfSensor = [Int: (place: Int, isInG: Bool)]()
    for field in Self.fields {
      guard let sensor = field.sensors.firstMap({ imu.sensors.firstIndex(of: $0) }) else {
        continue
      }
      placeOfSensor[sensor] = (field.place, field.isInG)
    }
    var position = 0
    var present = [Int](repeating: 0, count: Self.fields.count)
    var samples = imu.samples
    if let crop {
      func times(_ samples: [IMUSample]) -> Int {
        Set(samples.filter { $0.sensor == rate }.map(\.timestamp)).count
      }
      let before = times(samples)
      _ = crop.crop(&samples, time: \.timestamp)
      cropped = before - times(samples)
    }
    while position < samples.count {
      let time = samples[position].timestamp
      var values = [Double](repeating: 0, count: 15)
      var found: [Int] = []
      var hasRate = false
      while position < samples.count, samples[position].timestamp == time {
        let sample = samples[position]
        position += 1
        guard let (place, isInG) = placeOfSensor[sample.sensor] else { continue }
        hasRate = hasRate || sample.sensor == rate
        found.append(place / 3)
        for (offset, value) in [sample.x, sample.y, sample.z].enumerated() {
          values[place + offset] =
            isInG ? SpecificForce.g(fromMetersPerSecondSquared: value) : value
        }
      }
      guard hasRate else { continue }
      // The format's time is unsigned.
      guard time.nanoseconds >= 0 else {
        leftOut += 1
        continue
      }
      frames += 1
      for field in Set(found) { present[field] += 1 }
      for value in values { bytes.sens(value) }
      bytes.sens(SensTime.microseconds(time))
    }
    zeros = Self.fields.filter { present[$0.place / 3] < frames }.compactMap(\.sensors.first)
    if frames == 1 {
      leftOut += 1
      frames = 0
      bytes = []
    }
  }
}

extension [String] {
  /// The first result that is not `nil`.
  fileprivate func firstMap<Result>(_ body: (String) -> Result?) -> Result? {
    for element in self {
      if let result = body(element) { return result }
    }
    return nil
  }
}
