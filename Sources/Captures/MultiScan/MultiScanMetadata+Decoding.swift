import FoundationEssentials
import Core

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
