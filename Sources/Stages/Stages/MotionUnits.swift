import Captures
import Engine

/// The parameters that state units of inertial samples, for captures whose values cannot have those that the
/// file states (`implausible-unit`). Nothing is converted unless a parameter states a unit.
package enum MotionUnits {
  private static let acceleration = "accelerationUnit"
  private static let rotation = "rotationUnit"
  private static let unstated = "auto"

  /// Parameters of the stage `imu`.
  package static let parameters = [
    ParameterDescription(
      acceleration, .choice([unstated] + AccelerationUnit.allCases.map(\.rawValue)),
      default: .text(unstated),
      "Unit of the recorded accelerations, if the file states it wrongly (implausible-unit). g: tables and exports "
        + "have them times 9.80665."
    ),
    ParameterDescription(
      rotation, .choice([unstated] + RotationUnit.allCases.map(\.rawValue)),
      default: .text(unstated),
      "Unit of the recorded angular velocities, if the file states it wrongly (implausible-unit). deg/s: tables and "
        + "exports have them in rad/s."
    ),
  ]

  /// Parameters of exports, which `imu.accelerationUnit` and `imu.rotationUnit` set for all formats.
  package static let shared = parameters.map { $0.shared(as: "imu", $0.name) }

  /// The samples of the capture in the units of the tables; `nil` without an IMU.
  package static func samples(_ context: StageContext) -> IMUStream? {
    context.capture.imu.value?.recorded(
      in: context.parameters.text(acceleration).flatMap(AccelerationUnit.init),
      context.parameters.text(rotation).flatMap(RotationUnit.init))
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
    func first(_ parameter: String, _ isConcerned: (String) -> Bool) -> String? {
      let isStated = (parameters.text(parameter) ?? unstated) != unstated
      return isStated ? nil : sensors.first(where: isConcerned)
    }
    if let sensor = first(acceleration, IMUStream.isAcceleration) {
      return
        "the unit of \(sensor) is not known (implausible-unit): set imu.\(acceleration) to g or m/s2"
    }
    if let sensor = first(rotation, IMUStream.isRotation) {
      return
        "the values of \(sensor) can be no rotation in rad/s (implausible-unit): set imu.\(rotation) to deg/s, or to "
        + "rad/s if they are right"
    }
    return nil
  }
}
