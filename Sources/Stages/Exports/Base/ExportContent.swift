import Captures
import Engine

/// What an export contains, as stated by the format after writing. Its assumptions follow from this
/// and from the capture (`AssumptionFinder`).
package struct ExportContent: Sendable {
  package enum Cameras: Sendable {
    case none
    /// Intrinsics of each frame.
    case each
    /// One camera is written for all frames.
    case one
  }

  package enum Poses: Sendable {
    case none, recorded
    /// The identity, because the format requires poses.
    case identity
  }

  /// Inertial samples.
  package struct Inertial: Sendable {
    /// Whether acceleration with gravity is written with the sign of specific force.
    package var isSpecificForce = false
    /// Number of rows whose acceleration is interpolated between two samples.
    package var interpolated = 0
    /// Whether samples are stored with frames of other times.
    package var isNearest = false
    /// Sensors for which zeros are written.
    package var zeros: [String] = []
    /// Whether the format stores noise densities and none was given.
    package var lacksNoise = false
    package init() {}
  }

  package let capture: Capture
  package let parameters: ParameterValues
  /// `nil` for a format without pictures, depth and cameras.
  package let source: ExportSource?
  /// Exported frames, canonical indices; empty for formats without frames.
  package let frames: [Int]
  /// Whether the format removes the distortion of the lens itself.
  package var isUndistorted = false
  /// Whether there are color pictures, or colors taken from them.
  package var hasPictures = false
  /// Kind of depth pictures, or of points from depth.
  package var depth = DepthChoice.none
  /// Whether the export states separate times for depth.
  package var statesDepthTimes = false
  package var cameras = Cameras.none
  package var poses = Poses.none
  /// Whether the export turns the app's world frame.
  package var turnsWorld = false
  package var inertial: Inertial?
  /// The file with the transform between camera and IMU; `nil` if there is none.
  package var cameraToIMU: String?
  /// Whether velocities and biases are written with the poses.
  package var hasVelocities = false
  /// Where unknown covariances are written.
  package var covariances: String?
  /// Number of frames whose unknown time is written as 0.
  package var zeroTimes = 0
  /// Number of frames whose unknown confidence is written as 0.
  package var zeroConfidences = 0
  /// How positions were obtained; `nil` if none are written.
  package var positions: Positions?

  package struct Positions: Sendable {
    /// Number of frames with a position between two fixes, and with that of the nearest fix.
    package var interpolated = 0
    package var held = 0
    package var isSingleFix = false
    package var hasTimesOfDay = false
    package var hasAltitude = false
    package init() {}
  }

  package init(_ source: ExportSource, _ frames: [Int]) {
    capture = source.context.capture
    parameters = source.context.parameters
    self.source = source
    self.frames = frames
  }

  package init(_ context: StageContext, _ frames: [Int] = []) {
    capture = context.capture
    parameters = context.parameters
    source = nil
    self.frames = frames
  }
}
