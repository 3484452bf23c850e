import Captures
import Core
import Engine

/// What an export contains, as stated by the format after writing. `export.json` says it, and its assumptions
/// follow from this and from the capture (`assumed`).
struct ExportContent {
  enum Cameras: Equatable {
    case none
    /// Intrinsics of each frame.
    case each
    /// One camera is written for all frames.
    case one(CommonCamera)

    /// The common camera, if there is one.
    var common: CommonCamera? { if case .one(let camera) = self { camera } else { nil } }
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
  /// `nil` for a format without frames.
  let exported: ExportFrames?
  /// For each exported frame the file name of its picture, or its time or index: third column of
  /// `frames.csv`. Same order as `exported`.
  var names: [String] = []
  /// Number of inertial samples written, and left out.
  var imu: (samples: Int, leftOut: Int)?
  /// Values of `export.json` that only this format has.
  var more: [String: JSONValue] = [:]
  /// Whether the format removes the distortion of the lens itself.
  var isUndistorted = false
  /// Whether there are color pictures, or colors taken from them.
  var hasPictures: Bool
  /// Kind of depth pictures, or of points from depth.
  var depth: DepthChoice
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

  init(_ source: ExportSource, _ frames: ExportFrames) {
    self.init(source.context, frames, source)
  }

  init(_ context: StageContext, _ frames: ExportFrames?, _ source: ExportSource? = nil) {
    capture = context.capture
    parameters = context.parameters
    self.source = source
    exported = frames
    hasPictures = source?.pictures != nil
    depth = source?.depthChoice ?? .none
  }

  /// Exported frames, canonical indices; empty for formats without frames.
  var frames: [Int] { exported?.frames ?? [] }

  /// `export.json`.
  ///
  /// - Parameter assumed: what is written without having been measured.
  func json(stage: String, assumed: [ExportAssumption], shared: FileSharing?) -> JSONValue {
    var leftOut = exported?.leftOut ?? [:]
    if exported == nil, !capture.frames.isEmpty { leftOut[.notInFormat] = capture.frames.count }
    var object = more
    object["schema"] = .integer(1)
    object["stage"] = .string(stage)
    object["frames"] = .integer(Int64(frames.count))
    object["leftOut"] = leftOut.json
    object["imu"] =
      imu.map {
        .object(["samples": .integer(Int64($0.samples)), "leftOut": .integer(Int64($0.leftOut))])
      } ?? .null
    object["intrinsicsDeviation"] =
      (cameras.common?.largestDeviation).map(JSONValue.number) ?? .null
    object["assumed"] = .array(assumed.filter(\.isWritten).map { .string($0.rawValue) })
    object["shared"] = (shared?.rawValue).map(JSONValue.string) ?? .null
    return .object(object)
  }
}
