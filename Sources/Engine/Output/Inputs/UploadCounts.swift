import Captures
import FoundationEssentials
import Core
import SystemPackage

/// What an upload server notes about the files of a capture, in numbers: how many there are, and of how many it has
/// compared the digest with that of the device.
public struct UploadCounts: Hashable, Sendable, Codable {
  public var files: Int
  public var verified: Int
  /// How many of these are as they were then, by size and time of modification.
  public var unchanged: Int
  /// The server has everything.
  var isComplete: Bool
  /// The id of another capture that had it first, with other content.
  var twinOf: String?
}

extension UploadCounts {
  /// `nil`: there is none, or it is damaged. Cost: a look by name where there is none, else one system call per file.
  ///
  /// - Parameter place: the capture's folder; the file of a capture that is one file.
  public init?(in place: FilePath) {
    let folder = FileSystem.isFolder(place) ? place : place.removingLastComponent()
    guard let root = try? EnclosedFolder(folder, followsPath: false),
      case .record(let record) = UploadRecord.read(in: root)
    else { return nil }
    self.init(
      files: record.files.count, verified: record.files.count { $0.state == .verified },
      unchanged: record.unchanged(in: root), isComplete: record.isComplete,
      twinOf: folder.name.flatMap { OutputName.twin(of: $0) })
  }
}
