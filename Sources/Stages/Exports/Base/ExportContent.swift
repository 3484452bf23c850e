import Captures
import Engine

/// What an export contains, as stated by the format after writing. Its assumptions follow from this
/// and from the capture (`AssumptionFinder`).
struct ExportContent {
  enum Cameras {
    case none
    /// Intrinsics of each frame.
    case each
    /// One camera is written for all frames.
    case one
  }

  enum Poses {
    case none, recorded
    /// The identity, because the format requires poses.
    case identity
  }

  /// Inertial samples.
  struct Inertial {
    /// Whether acceleration with gravity is written with the sign of specific force.
    var isSpecificForce = false
    /// Number of rows whose acceleration is interpolated between two samples.
    var interpolated = 0
    /// Whether samples are stored with frames of other times.
    var isNearest = false
    /// Sensors for which zeros are written.
    var zeros: [String] = []
    /// Whether the format stores noise densities and none was given.
    var lacksNoise = false
  }

  let capture: Capture
  let parameters: ParameterValues
  /// `nil` for a format without pictures, depth and cameras.
  let source: ExportSource?
  /// Exported frames, canonical indices; empty for formats without frames.
  let frames: [Int]
  /// Whether the format removes the distortion of the lens itself.
  var isUndistorted = false
  /// Whether there are color pictures, or colors taken from them.
  var hasPictures = false
  /// Kind of depth pictures, or of points from depth.
  var depth = DepthChoice.none
  /// Whether the export states separate times for depth.
  var statesDepthTimes = false
  var cameras = Cameras.none
  var poses = Poses.none
  /// Whether the export turns the app's world frame.
  var turnsWorld = false
  var inertial: Inertial?
  /// The file with the transform between camera and IMU; `nil` if there is none.
  var cameraToIMU: String?
  /// Whether velocities and biases are written with the poses.
  var hasVelocities = false
  /// Where unknown covariances are written.
  var covariances: String?
  /// Number of frames whose unknown time is written as 0.
  var zeroTimes = 0
  /// Number of frames whose unknown confidence is written as 0.
  var zeroConfidences = 0
  /// How positions were obtained; `nil` if none are written.
  var positions: Positions?

  struct Positions {
    /// Number of frames with a position between two fixes, and with that of the nearest fix.
    var interpolated = 0
    var held = 0
    var isSingleFix = false
    var hasTimesOfDay = false
    var hasAltitude = false
  }

  init(_ source: ExportSource, _ frames: [Int]) {
    capture = source.context.capture
    parameters = source.context.parameters
    self.source = source
    self.frames = frames
  }

  init(_ context: StageContext, _ frames: [Int] = []) {
    capture = context.capture
    parameters = context.parameters
    source = nil
    self.frames = frames
  }
}
