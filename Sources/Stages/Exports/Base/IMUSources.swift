import Captures
import Core
import Engine
import Processing

/// Chooses the recorded sensors for angular velocity and for acceleration with gravity.
package enum IMUSources {
  /// Why there is no six-axis stream; `nil` when there is one.
  static func missing(_ sensors: Set<String>) -> String? {
    guard sensors.contains("gyroscope") || sensors.contains("rotationRate") else {
      return "no gyroscope"
    }
    if sensors.contains("accelerometer") { return nil }
    if sensors.contains("userAcceleration") {
      return sensors.contains("gravity")
        ? nil : "no acceleration with gravity: userAcceleration alone is not enough"
    }
    return "no accelerometer"
  }

  /// rad/s, in time order: `gyroscope`, else `rotationRate`.
  static func angularVelocity(_ imu: IMUStream) -> [IMUSample] {
    samples(of: "gyroscope", imu) ?? samples(of: "rotationRate", imu) ?? []
  }

  /// m/s², in time order: `accelerometer`, else the sum of `userAcceleration` and `gravity` at the
  /// same time. With the sign of specific force, whichever the app recorded.
  static func specificForce(_ imu: IMUStream, _ convention: IMUConvention) -> [IMUSample] {
    let recorded = samples(of: "accelerometer", imu) ?? sumWithGravity(imu)
    return recorded.map { sample in
      let force =
        switch convention {
        case .coremotion:
          SpecificForce.specificForce(fromCoreMotion: (sample.x, sample.y, sample.z))
        case .android: SpecificForce.specificForce(fromAndroid: (sample.x, sample.y, sample.z))
        }
      return IMUSample(
        timestamp: sample.timestamp, sensor: sample.sensor, x: force.x, y: force.y, z: force.z)
    }
  }

  /// The six-axis stream of a capture; `nil` if it has none. `convention` in the parameters
  /// overrides that of the reader.
  package static func stream(_ context: StageContext) -> SixAxisIMU? {
    guard let imu = MotionUnits.samples(context), missing(Set(imu.sensors)) == nil else {
      return nil
    }
    return SixAxisIMU(
      gyroscope: angularVelocity(imu),
      specificForce: specificForce(imu, convention(imu, context.parameters)))
  }

  /// The sign convention of the samples.
  static func convention(
    _ imu: IMUStream, _ parameters: ParameterValues
  ) -> IMUConvention {
    parameters.text("convention").flatMap(IMUConvention.init) ?? imu.convention
  }

  /// The samples of one sensor, in time order; `nil` without any.
  package static func samples(of sensor: String, _ imu: IMUStream) -> [IMUSample]? {
    guard let index = imu.sensors.firstIndex(of: sensor) else { return nil }
    return imu.samples.filter { $0.sensor == index }
  }

  private static func sumWithGravity(_ imu: IMUStream) -> [IMUSample] {
    guard let user = samples(of: "userAcceleration", imu), let gravity = samples(of: "gravity", imu)
    else { return [] }
    var sums: [IMUSample] = []
    var position = 0
    for sample in user {
      while position < gravity.count, gravity[position].timestamp < sample.timestamp {
        position += 1
      }
      guard position < gravity.count, gravity[position].timestamp == sample.timestamp else {
        continue
      }
      let g = gravity[position]
      sums.append(
        IMUSample(
          timestamp: sample.timestamp, sensor: sample.sensor, x: sample.x + g.x,
          y: sample.y + g.y, z: sample.z + g.z))
    }
    return sums
  }
}
