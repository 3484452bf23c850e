import Captures
import Core
import Engine

/// The parameters that state units of inertial samples, for captures whose values cannot have those that the
/// file states (`implausible-unit`). Nothing is converted unless a parameter states a unit.
enum MotionUnits {
  private static let acceleration = Parameter<AccelerationUnit?>(
    "accelerationUnit", .choice(or: "auto"), default: nil,
    "Unit of the recorded accelerations, if the file states it wrongly (implausible-unit). g: tables and exports "
      + "have them times 9.80665.")
  private static let rotation = Parameter<RotationUnit?>(
    "rotationUnit", .choice(or: "auto"), default: nil,
    "Unit of the recorded angular velocities, if the file states it wrongly (implausible-unit). deg/s: tables and "
      + "exports have them in rad/s.")

  static let convention = Parameter<IMUConvention?>(
    "convention", .choice(or: "auto"), default: nil,
    "Which signs of acceleration the app recorded, if the reader determined them wrongly."
  ).shared(as: "imu").forExperts()

  /// Parameters of the stage `imu`.
  static let parameters = ParameterDescription.list(acceleration, rotation)

  /// Parameters of exports, which `imu.accelerationUnit` and `imu.rotationUnit` set for all formats.
  static let shared = ParameterDescription.list(
    acceleration.shared(as: "imu"), rotation.shared(as: "imu"))

  /// The sign convention of the samples.
  static func convention(_ imu: IMUStream, _ parameters: ParameterValues) -> IMUConvention {
    parameters[convention] ?? imu.convention
  }

  /// A sample of acceleration with the sign of specific force.
  static func specificForce(_ sample: IMUSample, _ convention: IMUConvention) -> IMUSample {
    let force =
      switch convention {
      case .coremotion:
        SpecificForce.specificForce(fromCoreMotion: (sample.x, sample.y, sample.z))
      case .android: SpecificForce.specificForce(fromAndroid: (sample.x, sample.y, sample.z))
      }
    return IMUSample(
      timestamp: sample.timestamp, sensor: sample.sensor, x: force.x, y: force.y, z: force.z)
  }

  /// The samples of the capture in the units of the tables; `nil` without an IMU.
  static func samples(_ context: StageContext) -> IMUStream? {
    context.capture.imu.value?.recorded(
      in: context.parameters[acceleration], context.parameters[rotation])
  }

  /// Whether a parameter states the unit that a warning is about.
  static func settle(_ warning: CaptureWarning, _ parameters: ParameterValues) -> Bool {
    warning.code == .implausibleUnit && obstacle([warning.subject], parameters) == nil
      && (IMUStream.isAcceleration(warning.subject) || IMUStream.isRotation(warning.subject))
  }

  /// Why the samples cannot be written in a format that states their unit: values of these sensors
  /// cannot have the unit that the capture states, and no parameter states another. `nil` if nothing is
  /// against it.
  static func obstacle(_ sensors: [String], _ parameters: ParameterValues) -> String? {
    if parameters[acceleration] == nil,
      let sensor = sensors.first(where: IMUStream.isAcceleration)
    {
      return
        "the unit of \(sensor) is not known (implausible-unit): set imu.\(acceleration.name) to g or m/s2"
    }
    if parameters[rotation] == nil, let sensor = sensors.first(where: IMUStream.isRotation) {
      return
        "the values of \(sensor) can be no rotation in rad/s (implausible-unit): set imu.\(rotation.name) to deg/s, or to "
        + "rad/s if they are right"
    }
    return nil
  }
}
