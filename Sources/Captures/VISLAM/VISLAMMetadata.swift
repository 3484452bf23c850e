import SystemPackage

/// The optional side file of the Android recorder. Values that cannot be decoded are left out,
/// because the file is never required.
struct VISLAMMetadata {
  /// Size limit in bytes; such a file has some hundred.
  private static let mostBytes = 1 << 22

  private(set) var hasRecordingID = false
  /// Number of frames that the app declares.
  private(set) var frameCount: Int?

  init() {}

  init(_ bytes: [UInt8]) {
    guard bytes.count < Self.mostBytes,
      let content = BoundedJSON.value(Content.self, in: TextBytes.utf8(bytes))
    else { return }
    hasRecordingID = content.hasRecordingID
    frameCount = content.frameCount
  }

  init(_ folder: VISLAMFiles) {
    self.init()
    guard folder.contains(VISLAMFiles.metadataFile) else { return }
    self = VISLAMMetadata(folder.listing.head(of: VISLAMFiles.metadataFile, limit: Self.mostBytes))
  }

  private struct Content: Decodable {
    enum Key: String, CodingKey {
      case recordingID = "recording_id"
      case frameCount = "frame_count"
    }

    var hasRecordingID: Bool
    var frameCount: Int?

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      hasRecordingID = values.contains(.recordingID)
      frameCount = try? values.decode(Int.self, forKey: .frameCount)
    }
  }
}
