import Core
import FoundationEssentials

/// The content of the metadata. Its counts, sizes and encodings are not verified.
struct MultiScanMetadata {
  enum DepthUnit: String {
    case meters = "m"
    case millimeters = "mm"
  }

  var deviceID: String?
  var deviceType: String?
  /// The name of the device or of its user, which is personal data.
  var deviceName: String?
  /// The name of the device or of its user, which is personal data.
  var userName: String?
  var sceneType: String?
  var sceneDescription: String?
  /// Latitude and longitude in degrees, one position at the start.
  var position: (latitude: Double, longitude: Double)?
  /// Whether a position is stated that is not one pair of such numbers.
  private(set) var hasUnusablePosition = false
  var streams: [MultiScanStream] = []
  var depthUnit: DepthUnit?
  /// Whether the streams are under the key `stream`, which only Android's plain mode writes.
  var usesPlainKeys = false
  /// Whether unit, confidence keys and format names are all absent.
  var isOf2020 = false

  func first(_ role: MultiScanRole) -> MultiScanStream? { streams.first { $0.role == role } }

  /// The dual mode's second camera.
  var secondColor: MultiScanStream? {
    streams.first { $0.role == .color && $0.id != color?.id }
  }

  /// The color stream of `color/`; the dual mode's second one is a stream of its own.
  var color: MultiScanStream? {
    let all = streams.filter { $0.role == .color }
    return all.first { $0.id == "color_back_1" } ?? all.first { $0.id != "color_back_2" }
      ?? all.first
  }
}

/// The kind of a stream entry.
enum MultiScanRole: Hashable {
  case color, depth, confidence, cameraInfo
  case motion(MultiScanMotionKind)
}

/// One entry of `streams`, identified by its content, never by its position.
struct MultiScanStream {
  var id: String?
  var type: String?
  var role: MultiScanRole?
  /// The declared extension, without the dot.
  var fileExtension: String?
  var declaredFrames: Int?
  var resolution: MultiScanResolution
  /// `fx fy cx cy` in pixels.
  var intrinsics: Intrinsics?
}

enum MultiScanResolution: Equatable {
  case absent
  /// The app had none yet and wrote `[]`.
  case empty
  /// Anything but two integers in 1…16384.
  case invalid
  case size(PictureSize)

  var size: PictureSize? { if case .size(let size) = self { size } else { nil } }
}

extension Intrinsics {
  /// - Parameter matrix: 9 finite numbers, column by column; `nil` for others.
  init?(ofMatrix matrix: [Double]) {
    guard matrix.count == 9, matrix.allSatisfy(\.isFinite) else { return nil }
    self.init(columnMajor: matrix)
  }
}

extension MultiScanRole {
  /// By type, else by id, else by file extension: the first one that is known.
  init?(type: String?, id: String?, fileExtension: String?) {
    let known =
      type.flatMap(Self.of(type:)) ?? id.flatMap(Self.of(id:))
      ?? fileExtension.flatMap(Self.of(fileExtension:))
    guard let known else { return nil }
    self = known
  }

  private static func of(type: String) -> MultiScanRole? {
    switch type {
    case "color_camera", "rgb_camera": .color
    case "lidar_sensor", "ARCore", "dual_camera_stereo_depth": .depth
    case "confidence_map": .confidence
    case "camera_info": .cameraInfo
    case "rotation_1": .motion(.rot)
    case "accelerometer_1": .motion(.acce)
    case "gravity_1": .motion(.grav)
    case "magnet_1": .motion(.mag)
    case "attitude_1": .motion(.atti)
    default: MultiScanMotionKind(rawValue: type).map { .motion($0) }
    }
  }

  private static func of(id: String) -> MultiScanRole? {
    if id == "confidence_map" { return .confidence }
    let beginnings: [(String, MultiScanRole)] = [
      ("color_back_", .color), ("depth_back_", .depth), ("stereo_depth_", .depth),
      ("camera_info_", .cameraInfo),
    ]
    return (beginnings + MultiScanMotionKind.allCases.map { ("\($0)_", .motion($0)) })
      .first { id.hasPrefix($0.0) }?.1
  }

  private static func of(fileExtension: String) -> MultiScanRole? {
    switch fileExtension {
    case "mp4": .color
    case "depth.zlib": .depth
    case "confidence.zlib": .confidence
    case "jsonl": .cameraInfo
    default: MultiScanMotionKind(rawValue: fileExtension).map { .motion($0) }
    }
  }
}

extension MultiScanMetadata: Decodable {
  /// Reads the last document in `bytes` that describes streams; `nil` when there is none.
  init?(_ bytes: RawSpan) {
    for range in Self.jsonObjects(in: bytes).reversed() {
      let object = bytes.extracting(range)
      if let found = object.withUnsafeBytes({ LooseJSON.value(Self.self, in: $0) }) {
        self = found
        return
      }
    }
    return nil
  }

  /// A JSON object as the apps write it. A value of unexpected type counts as absent, so that the
  /// others remain readable. Throws for an object without streams.
  init(from decoder: any Decoder) throws {
    let keys = try decoder.members
    if let found: [MultiScanStream] = keys.value("streams") {
      streams = found
    } else {
      streams = try keys.decode([MultiScanStream].self, forKey: "stream")
      usesPlainKeys = true
    }
    isOf2020 = ![
      "depth_unit", "depth_confidence_avaliable", "depth_confidence_available",
      "depth_confidence_value_range", "camera_orientation_quaternion_format",
      "camera_orientation_euler_angles_format",
    ].contains { keys.contains(TextKey(stringValue: $0)) }
    depthUnit = keys.value("depth_unit").flatMap(DepthUnit.init(rawValue:))
    func members(_ key: TextKey) -> KeyedDecodingContainer<TextKey>? {
      try? keys.nestedContainer(keyedBy: TextKey.self, forKey: key)
    }
    let (device, scene) = (members("device"), members("scene"))
    deviceID = device?.value("id")
    deviceType = device?.value("type")
    deviceName = device?.value("name")
    userName = members("user")?.value("name")
    sceneType = scene?.value("type") ?? scene?.value("sceneType")
    sceneDescription = scene?.value("description")
    let place: TextKey = "gps_location"
    let fix: [Double]? = scene?.value(place)
    if let fix, fix.count == 2, abs(fix[0]) <= 90, abs(fix[1]) <= 180 {
      position = (fix[0], fix[1])
    } else {
      // An empty list and `null` are what the app writes without a fix.
      let isStated = (try? scene?.decodeNil(forKey: place)) == false
      hasUnusablePosition = isStated && fix?.isEmpty != true
    }
  }
}

extension MultiScanStream: Decodable {
  /// An entry that is not an object has no values.
  init(from decoder: any Decoder) throws {
    resolution = .absent
    guard let keys = try? decoder.members else { return }
    id = keys.value("id")
    type = keys.value("type")
    let ending: String? = keys.value("file_extension")
    role = MultiScanRole(type: type, id: id, fileExtension: ending)
    fileExtension = ending == "" ? nil : ending
    let count: LooseInt? = keys.value("number_of_frames") ?? keys.value("num_frames")
    declaredFrames = count.flatMap { $0.value >= 0 ? $0.value : nil }
    let matrix: [Double]? = keys.value("intrinsics") ?? keys.value("intrinsics_matrix")
    intrinsics = matrix.flatMap(Intrinsics.init(ofMatrix:))
    if keys.contains("resolution") {
      let isPlain = decoder.codingPath.first?.stringValue == "stream"
      resolution = Self.resolution(keys.value("resolution"), isPlain: isPlain)
    }
  }

  /// Height before width, as numbers; in the plain mode width before height, as text.
  private static func resolution(_ claim: [LooseInt]?, isPlain: Bool) -> MultiScanResolution {
    guard let claim else { return .invalid }
    if claim.isEmpty { return .empty }
    guard claim.count == 2, isPlain || !claim.contains(where: \.isText),
      claim.allSatisfy({ (1...16_384).contains($0.value) })
    else { return .invalid }
    let size = PictureSize(width: claim[0].value, height: claim[1].value)
    return .size(isPlain ? size : size.turned)
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
    for token in LooseJSON.Tokens(bytes, from: start) {
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
