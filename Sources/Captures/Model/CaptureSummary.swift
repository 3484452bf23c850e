import Core
import Media
import SystemPackage

/// What the planner needs to know about a capture. Small, and the same whether the capture was
/// opened now or described by an earlier run.
public struct CaptureSummary: Hashable, Sendable, Codable {
  public enum PartState: Hashable, Sendable, Codable {
    case present
    case absent(String)
    case unreadable(String)
  }

  public var id = ""
  public var family = CaptureFamily("")
  public var readerVersion = 0
  public var deviceID: String?
  public var parts: [CapturePart: PartState] = [:]
  /// Paths of the files from which each part was read.
  public var files: [CapturePart: [String]] = [:]
  public var frameCount = 0
  public var framesShareIMUClock = false
  /// Parts of the calibration that the capture itself does not state.
  public var missingCalibration: [String] = []
  /// Missing files of a complete upload, as in `UploadCompleteness.absentFiles`.
  public var missingFiles: [String] = []
  /// Streams that have less than the capture declares, as in `Capture.claims`.
  public var lacking: [StreamClaim] = []
  /// Facts for exporters.
  public var exports = ExportFacts()
  /// Whether color is a video rather than stills.
  public var colorIsVideo = false
  /// Whether an ordinary screen needs another form of the color video's pictures: `true` for HDR,
  /// logarithmic and linear transfers and for wide primaries; `nil` for all others, so that summaries of
  /// ordinary captures stay as they are.
  public var colorDiffersFromSDR: Bool?

  public init(_ capture: Capture, readerVersion: Int) {
    id = capture.id
    family = capture.family
    self.readerVersion = readerVersion
    deviceID = capture.device.id
    parts = [
      .color: Self.state(capture.color), .depth: Self.state(capture.depth),
      .confidence: Self.state(capture.confidence), .imu: Self.state(capture.imu),
      .poses: Self.state(capture.poses), .intrinsics: Self.state(capture.intrinsics),
      .cameraSettings: Self.state(capture.cameraSettings), .geo: Self.state(capture.geo),
      .thumbnail: capture.hasThumbnail
        ? Self.state(capture.color) : .absent("the family keeps no thumbnail"),
      .frames: Self.frames(of: capture),
    ]
    // Summaries of captures with one camera stay as they are.
    if case .absent = capture.secondColor {
    } else {
      parts[.secondColor] = Self.state(capture.secondColor)
    }
    files = capture.files.mapValues { $0.map(\.text) }
    frameCount = capture.frames.count
    framesShareIMUClock = capture.framesShareIMUClock
    // Unreadable parts are not missing: stages start, and report why they fail.
    missingCalibration =
      capture.calibrationProblem == nil ? Self.missing(in: capture.alignment) : []
    missingFiles = capture.completeness.absentFiles
    lacking = capture.claims.lacking
    exports = ExportFacts(capture)
    colorIsVideo =
      switch capture.color.value?.source {
      case .video: true
      case .stills, .pictures, nil: false
      }
    let differs = capture.color.value?.description.color?.differsFromSDR ?? false
    colorDiffersFromSDR = colorIsVideo && differs ? true : nil
  }

  /// A summary that a record fills.
  package init() {}

  public func state(of part: CapturePart) -> PartState {
    parts[part] ?? .absent("the capture has no \(part.rawValue)")
  }

  /// Arrangement of the cameras; `nil` if the capture does not state it, or has no depth.
  var arrangement: CameraArrangement? {
    if exports.isRegistered { return .oneCamera }
    return missingCalibration.contains(Self.extrinsics) ? nil : .twoCameras
  }

  private static let extrinsics = "extrinsics"

  private static func frames(of capture: Capture) -> PartState {
    if let problem = capture.framesProblem { return .unreadable(problem.description) }
    return capture.frames.isEmpty ? .absent("the capture has no frames") : .present
  }

  private static func state<Value>(_ stream: StreamState<Value>) -> PartState {
    switch stream {
    case .absent(let why): .absent(why)
    case .unreadable(let error): .unreadable(error.description)
    case .present: .present
    }
  }

  /// The parts that alignment needs and a calibration lacks, in words; empty if it is complete.
  package static func missing(in calibration: DepthCalibration?) -> [String] {
    guard let calibration else { return ["color intrinsics", "depth intrinsics", extrinsics] }
    var missing: [String] = []
    if calibration.colorIntrinsics == nil { missing.append("color intrinsics") }
    if calibration.depthIntrinsics == nil, !calibration.registered {
      missing.append("depth intrinsics")
    }
    if calibration.colorFromDepth == nil, !calibration.registered { missing.append(extrinsics) }
    return missing
  }
}

/// The app format of a capture, by its name in files and on the command line: `vi-slam`.
///
/// Only a `CaptureRegistry` knows which names have a reader. Each reader defines a constant for its
/// family.
public struct CaptureFamily: RawRepresentable, Hashable, Sendable, Codable {
  public let rawValue: String

  public init(_ name: String) { rawValue = name }

  /// `nil` for an empty name.
  public init?(rawValue: String) {
    guard !rawValue.isEmpty else { return nil }
    self.rawValue = rawValue
  }
}
