/// The content of the metadata. Its counts, sizes and encodings are not verified.
struct MultiScanMetadata: Sendable {
  enum DepthUnit: String, Sendable {
    case meters = "m"
    case millimeters = "mm"
  }

  var deviceID: String?
  var deviceType: String?
  /// Personal data.
  var deviceName: String?
  /// Personal data.
  var userName: String?
  var sceneType: String?
  var sceneDescription: String?
  /// Latitude and longitude in degrees, one position at the start.
  var position: (latitude: Double, longitude: Double)?
  var streams: [MultiScanStream] = []
  var depthUnit: DepthUnit?
  /// Whether the streams are under the key `stream`, which only Android's plain mode writes.
  var usesPlainKeys = false
  /// Whether unit, confidence keys and format names are all absent.
  var isOf2020 = false

  func first(_ role: MultiScanRole) -> MultiScanStream? { streams.first { $0.role == role } }

  /// The color stream that is exported; the dual mode's second one is not.
  var color: MultiScanStream? {
    let all = streams.filter { $0.role == .color }
    return all.first { $0.id == "color_back_1" } ?? all.first { $0.id != "color_back_2" }
      ?? all.first
  }
}

/// The kind of a stream entry.
enum MultiScanRole: Hashable, Sendable {
  case color, depth, confidence, cameraInfo
  case motion(MultiScanMotionKind)
}

/// One entry of `streams`, identified by its content, never by its position.
struct MultiScanStream: Sendable {
  var id: String?
  var type: String?
  var role: MultiScanRole?
  /// The declared extension, without the dot.
  var fileExtension: String?
  var declaredFrames: Int?
  var resolution: MultiScanResolution
  /// `fx fy cx cy` in pixels.
  var intrinsics: MultiScanIntrinsics?
}

enum MultiScanResolution: Equatable, Sendable {
  case absent
  /// The app had none yet and wrote `[]`.
  case empty
  /// Anything but two integers in 1…16384.
  case invalid
  case size(width: Int, height: Int)
}

struct MultiScanIntrinsics: Equatable, Sendable {
  var fx: Double
  var fy: Double
  var cx: Double
  var cy: Double

  /// From `fx 0 0 0 fy 0 cx cy 1`; `nil` unless there are nine finite numbers.
  init?(columnMajor m: [Double]) {
    guard m.count == 9, m.allSatisfy(\.isFinite) else { return nil }
    (fx, fy, cx, cy) = (m[0], m[4], m[6], m[7])
  }
}

extension MultiScanRole {
  /// By type, else by id, else by file extension: the first one that is known.
  init?(type: String?, id: String?, fileExtension: String?) {
    let known =
      type.flatMap(Self.init(type:)) ?? id.flatMap(Self.init(id:))
      ?? fileExtension.flatMap(Self.init(fileExtension:))
    guard let known else { return nil }
    self = known
  }

  private init?(type: String) {
    switch type {
    case "color_camera", "rgb_camera": self = .color
    case "lidar_sensor", "ARCore", "dual_camera_stereo_depth": self = .depth
    case "confidence_map": self = .confidence
    case "camera_info": self = .cameraInfo
    case "rotation_1": self = .motion(.rot)
    case "accelerometer_1": self = .motion(.acce)
    case "gravity_1": self = .motion(.grav)
    case "magnet_1": self = .motion(.mag)
    case "attitude_1": self = .motion(.atti)
    default:
      guard let kind = MultiScanMotionKind(rawValue: type) else { return nil }
      self = .motion(kind)
    }
  }

  private init?(id: String) {
    if id.hasPrefix("color_back_") {
      self = .color
    } else if id.hasPrefix("depth_back_") || id.hasPrefix("stereo_depth_") {
      self = .depth
    } else if id == "confidence_map" {
      self = .confidence
    } else if id.hasPrefix("camera_info_") {
      self = .cameraInfo
    } else if let kind = MultiScanMotionKind.allCases.first(where: { id.hasPrefix("\($0)_") }) {
      self = .motion(kind)
    } else {
      return nil
    }
  }

  private init?(fileExtension: String) {
    switch fileExtension {
    case "mp4": self = .color
    case "depth.zlib": self = .depth
    case "confidence.zlib": self = .confidence
    case "jsonl": self = .cameraInfo
    default:
      guard let kind = MultiScanMotionKind(rawValue: fileExtension) else { return nil }
      self = .motion(kind)
    }
  }
}
