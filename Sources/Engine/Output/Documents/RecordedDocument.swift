import Captures
import Core

/// What `capture.json` in an output folder says, for all who look at an output. A part that is absent or
/// cannot be understood is `nil`, the rest stays.
public struct RecordedDocument: Hashable, Sendable, Decodable {
  public struct Stream: Hashable, Sendable, Decodable {
    public var file: String?
    public var encoding: String?
    public var width: Int?
    public var height: Int?
    public var frames: Int?
  }

  public var id: String?
  public var family: String?
  public var generation: String?
  public var path: String?
  var device: DeviceInfo?
  var scene: SceneInfo?
  var user: String?
  var recordedAt: String?
  public var frames: Int?
  /// The streams by name; those that the capture lacks are absent.
  public var streams: [String: Stream]

  /// Far above what the program writes.
  private static let mostBytes = 1 << 24

  private enum CodingKeys: CodingKey {
    case id, family, generation, path, device, scene, user, recordedAt, frames, streams
  }

  /// `nil` when there is none that is JSON.
  public init?(of layout: OutputLayout) {
    self.init(Self.bytes(of: layout))
  }

  /// Reads the document of an output that is held open.
  init?(_ open: OpenOutput) {
    self.init(open.contents(of: OutputNames.document))
  }

  /// Reads the document in the folder of the capture.
  init?(in folder: HeldFolder) {
    self.init(folder.stampedContents(of: OutputNames.document, limit: Self.mostBytes)?.bytes)
  }

  private init?(_ bytes: [UInt8]?) {
    guard let bytes, bytes.count <= Self.mostBytes,
      let document = try? Self(json: bytes)
    else {
      return nil
    }
    self = document
  }

  /// All that it says, for who shows all of it; `nil` when there is no object of JSON.
  package static func everything(of layout: OutputLayout) -> [String: JSONValue]? {
    guard let bytes = bytes(of: layout),
      case .object(let members)? = try? JSONValue(json: bytes)
    else { return nil }
    return members
  }

  /// Whether a file of this name is one that we wrote.
  static func isOurs(_ bytes: [UInt8]) -> Bool {
    guard let members = (try? JSONValue(json: bytes))?.members, members["schema"]?.whole != nil,
      members["streams"]?.members != nil
    else { return false }
    return ["id", "family", "generation", "path"].allSatisfy { name in
      if case .string? = members[name] { true } else { false }
    }
  }

  private static func bytes(of layout: OutputLayout) -> [UInt8]? {
    HeldFolder.contents(of: layout.captureDocument, below: layout.root, limit: mostBytes)
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ type: Value.Type, _ key: CodingKeys) -> Value? {
      try? values.decodeIfPresent(type, forKey: key)
    }
    id = value(String.self, .id)
    family = value(String.self, .family)
    generation = value(String.self, .generation)
    path = value(String.self, .path)
    device = value(DeviceInfo.self, .device)
    scene = value(SceneInfo.self, .scene)
    user = value(String.self, .user)
    recordedAt = value(String.self, .recordedAt)
    frames = value(Int.self, .frames)
    streams = (value([String: Stream?].self, .streams) ?? [:]).compactMapValues(\.self)
  }
}
