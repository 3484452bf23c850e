import Core
import FoundationEssentials

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

extension MultiScanMetadata {
  /// Reads the last document in `bytes` that describes streams; `nil` when there is none.
  init?(_ bytes: RawSpan) {
    for range in Self.jsonObjects(in: bytes).reversed() {
      let object = bytes.extracting(range)
      guard
        let document = object.withUnsafeBytes({ BoundedJSON.value(Document.self, in: $0) }),
        let entries = document.streams ?? document.stream
      else { continue }
      self.init(document, entries: entries)
      return
    }
    return nil
  }

  private init(_ document: Document, entries: [StreamEntry]) {
    usesPlainKeys = document.streams == nil
    isOf2020 = !document.hasLaterKeys
    depthUnit = document.depthUnit.flatMap(DepthUnit.init(rawValue:))
    deviceID = document.device?.id
    deviceType = document.device?.type
    deviceName = document.device?.name
    userName = document.user?.name
    sceneType = document.scene?.type
    sceneDescription = document.scene?.description
    if let fix = document.scene?.position, fix.count == 2, abs(fix[0]) <= 90, abs(fix[1]) <= 180 {
      position = (fix[0], fix[1])
    }
    streams = entries.map { MultiScanStream($0, sizeIsWidthFirst: document.streams == nil) }
  }
}

extension MultiScanStream {
  fileprivate init(_ entry: StreamEntry, sizeIsWidthFirst: Bool) {
    id = entry.id
    type = entry.type
    role = MultiScanRole(type: entry.type, id: entry.id, fileExtension: entry.fileExtension)
    fileExtension = entry.fileExtension.flatMap { $0.isEmpty ? nil : $0 }
    declaredFrames = entry.declaredFrames.flatMap { $0 >= 0 ? $0 : nil }
    intrinsics = entry.intrinsics.flatMap(MultiScanIntrinsics.init(columnMajor:))
    resolution = Self.resolution(entry.resolution, isPlain: sizeIsWidthFirst)
  }

  /// Height before width, as numbers; in the plain mode width before height, as text.
  private static func resolution(
    _ claim: StreamEntry.Numbers, isPlain: Bool
  ) -> MultiScanResolution {
    switch claim {
    case .absent: return .absent
    case .numbers(let none) where none.isEmpty: return .empty
    case .numbers(let pair) where pair.count == 2 && (isPlain || !pair.contains(where: \.isText)):
      let sides = isPlain ? (pair[0].value, pair[1].value) : (pair[1].value, pair[0].value)
      guard (1...16_384).contains(sides.0), (1...16_384).contains(sides.1) else { return .invalid }
      return .size(width: sides.0, height: sides.1)
    case .numbers, .other: return .invalid
    }
  }
}

/// A JSON object as the apps write it. A value of unexpected type counts as absent, so that the
/// others remain readable.
private struct Document: Decodable {
  struct Device: Decodable {
    var id: String?
    var type: String?
    var name: String?

    init(from decoder: any Decoder) throws {
      let keys = try decoder.container(keyedBy: AnyKey.self)
      id = keys.value("id")
      type = keys.value("type")
      name = keys.value("name")
    }
  }

  struct Scene: Decodable {
    var type: String?
    var description: String?
    var position: [Double]?

    init(from decoder: any Decoder) throws {
      let keys = try decoder.container(keyedBy: AnyKey.self)
      type = keys.value("type") ?? keys.value("sceneType")
      description = keys.value("description")
      position = keys.value("gps_location")
    }
  }

  var device: Device?
  var user: Device?
  var scene: Scene?
  var streams: [StreamEntry]?
  var stream: [StreamEntry]?
  var depthUnit: String?
  var hasLaterKeys: Bool

  init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: AnyKey.self)
    device = keys.value("device")
    user = keys.value("user")
    scene = keys.value("scene")
    streams = keys.value("streams")
    stream = keys.value("stream")
    depthUnit = keys.value("depth_unit")
    hasLaterKeys = [
      "depth_unit", "depth_confidence_avaliable", "depth_confidence_available",
      "depth_confidence_value_range", "camera_orientation_quaternion_format",
      "camera_orientation_euler_angles_format",
    ].contains { keys.contains(AnyKey($0)) }
  }
}

/// An entry of `streams` or `stream`; an entry that is not an object has no values.
private struct StreamEntry: Decodable {
  enum Numbers {
    case absent
    case numbers([LooseInt])
    case other
  }

  var id: String?
  var type: String?
  var fileExtension: String?
  var declaredFrames: Int?
  var resolution = Numbers.absent
  var intrinsics: [Double]?

  init(from decoder: any Decoder) throws {
    guard let keys = try? decoder.container(keyedBy: AnyKey.self) else { return }
    id = keys.value("id")
    type = keys.value("type")
    fileExtension = keys.value("file_extension")
    declaredFrames =
      (keys.value("number_of_frames") ?? keys.value("num_frames") as LooseInt?)?.value
    intrinsics = keys.value("intrinsics") ?? keys.value("intrinsics_matrix")
    if keys.contains(AnyKey("resolution")) {
      let numbers: [LooseInt]? = keys.value("resolution")
      resolution = numbers.map { .numbers($0) } ?? .other
    }
  }
}

/// An integer that some versions write as text.
private struct LooseInt: Decodable {
  var value: Int
  var isText = false

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      value = number
    } else if let number = Int(try container.decode(String.self)) {
      value = number
      isText = true
    } else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an integer")
    }
  }
}

private struct AnyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<AnyKey> {
  fileprivate func value<Value: Decodable>(_ key: String) -> Value? {
    try? decode(Value.self, forKey: AnyKey(key))
  }
}

extension MultiScanMetadata {
  /// The ranges of the top-level objects in a text: files that were appended to contain several
  /// JSON documents. Text between them is skipped; an object without end is left out. Whether an
  /// object is valid JSON is left to the decoder.
  ///
  /// An object that was cut and then appended to would include the next one. So if the text ends
  /// inside an object, its last line that starts with a brace is tried by itself.
  ///
  /// Cost: one pass over the bytes, two at most.
  static func jsonObjects(in bytes: RawSpan) -> [Range<Int>] {
    bytes.withUnsafeBytes { bytes in
      let (objects, openFrom) = closedObjects(in: bytes, from: 0)
      guard let openFrom, let line = lastLineWithBrace(in: bytes, after: openFrom) else {
        return objects
      }
      return objects + closedObjects(in: bytes, from: line).objects
    }
  }

  /// The ranges of closed objects, and the start of one that is not closed.
  private static func closedObjects(
    in bytes: UnsafeRawBufferPointer, from first: Int
  ) -> (objects: [Range<Int>], openFrom: Int?) {
    var objects: [Range<Int>] = []
    var offset = first
    while let start = bytes[offset...].firstIndex(of: UInt8(ascii: "{")) {
      guard let end = end(ofObjectAt: start, in: bytes) else { return (objects, start) }
      objects.append(start..<end)
      offset = end
    }
    return (objects, nil)
  }

  /// Only braces are counted: a list that is not closed does not hide the end of its object.
  private static func end(ofObjectAt start: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
    var depth = 0
    for token in JSONTokens(bytes, from: start) {
      switch (token.kind, bytes[token.range.lowerBound]) {
      case (.open, UInt8(ascii: "{")): depth += 1
      case (.close, UInt8(ascii: "}")):
        depth -= 1
        if depth == 0 { return token.range.upperBound }
      default: break
      }
    }
    return nil
  }

  private static func lastLineWithBrace(in bytes: UnsafeRawBufferPointer, after start: Int) -> Int?
  {
    var offset = bytes.count - 1
    while offset > start {
      if bytes[offset] == UInt8(ascii: "{"), bytes[offset - 1] == UInt8(ascii: "\n") {
        return offset
      }
      offset -= 1
    }
    return nil
  }
}
