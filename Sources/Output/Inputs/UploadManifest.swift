import Captures
import FoundationEssentials
import Storage
import SystemPackage

/// What an upload server notes about the files of a capture: how many there are, and of how many it has compared
/// the digest with that of the device.
public struct UploadManifest: Hashable, Sendable, Codable {
  public var files: Int
  public var verified: Int
  /// The server has everything.
  public var isComplete: Bool

  public static let fileName = ".upload.json"

  public init(files: Int, verified: Int, isComplete: Bool) {
    self.files = files
    self.verified = verified
    self.isComplete = isComplete
  }

  /// `nil`: there is none, or it is damaged. Cost: a look by name where there is none.
  public init?(in folder: FilePath) {
    struct Document: Decodable {
      struct File: Decodable { var state: String? }
      var schema: Int
      var complete: String?
      var files: [File]?
    }
    guard let root = try? EnclosedFolder(folder, followsPath: false),
      let file = try? InputFile(Self.fileName, in: root), file.count <= 1 << 24,
      let bytes = try? file.head(file.count),
      let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)),
      document.schema == 1
    else { return nil }
    let all = document.files ?? []
    self.init(
      files: all.count, verified: all.count { $0.state == "verified" },
      isComplete: document.complete != nil)
  }
}
