import Captures
import Pipeline

/// What an export states, as the format tells when it has written everything. What of it was assumed follows from
/// this and from the capture, in one place for all formats (`AssumptionFinder`).
package struct ExportContent: Sendable {
  package enum Cameras: Sendable {
    case none
    /// Intrinsics of each frame.
    case each
    /// One camera for all frames.
    case one
  }

  package enum Poses: Sendable {
    case none, recorded
    /// The format has a place for them and no way to leave it empty.
    case identity
  }

  /// Inertial samples.
  package struct Inertial: Sendable {
    /// Whether acceleration with gravity is written with the sign of specific force.
    package var isSpecificForce = false
    /// Rows whose acceleration lies between two samples.
    package var interpolated = 0
    /// Whether samples stand beside frames that were taken at other times.
    package var isNearest = false
    /// Sensors whose places hold zeros.
    package var zeros: [String] = []
    /// Whether noise densities have a place, and none was given.
    package var lacksNoise = false
    package init() {}
  }

  package let capture: Capture
  package let parameters: ParameterValues
  /// `nil`: a format without pictures, depth and cameras.
  package let source: ExportSource?
  /// Exported frames, canonical; empty for formats without frames.
  package let frames: [Int]
  /// Color pictures, or colors taken from them.
  package var hasPictures = false
  /// Of depth pictures, or points of depth.
  package var depth = DepthChoice.none
  /// Whether depth has times of its own in the export.
  package var statesDepthTimes = false
  package var cameras = Cameras.none
  package var poses = Poses.none
  /// Whether the export turns the app's world.
  package var turnsWorld = false
  package var inertial: Inertial?
  /// Where the file says how camera and IMU stand to each other; `nil`: nowhere.
  package var cameraToIMU: String?
  /// Whether velocities and biases stand beside the poses.
  package var hasVelocities = false
  /// What holds covariances that are not known.
  package var covariances: String?
  /// Frames whose unknown time is written as 0.
  package var zeroTimes = 0
  /// Frames whose unknown confidence is written as 0.
  package var zeroConfidences = 0
  /// Positions by origin; `nil`: none is written.
  package var positions: Positions?

  package struct Positions: Sendable {
    /// Frames at which the position lies between two fixes, and at which the nearest fix is kept.
    package var interpolated = 0
    package var held = 0
    package var isSingleFix = false
    package var hasTimesOfDay = false
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
