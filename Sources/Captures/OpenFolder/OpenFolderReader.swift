import Core
import SystemPackage

extension CaptureFamily {
  static let openFolder = CaptureFamily("open-folder")
}

/// Reads the folder of any app whose `capture.yaml` says where its pictures, depth, times, poses,
/// intrinsics and motion lie (docs/your-own-app.md).
enum OpenFolderReader: CaptureReader {
  static let readerVersion = 8
  static let description: FamilyDescription = {
    var family = FamilyDescription(
      .openFolder, title: "Open folder", generations: [.init("v1", mark: "capture.yaml")],
      recognition: "a folder with a \(fileName) whose first key is \(mark)")
    // Nothing is known of the app: it may choose frames by motion.
    family.frameGapFactor = .infinity
    family.fileContents = [fileName: "where the parts of the capture lie, in which form"]
    return family
  }()

  static let fileName = "capture.yaml"
  static let mark = "scanmill-capture"

  static func recognize(_ listing: FolderListing) -> [Recognition] {
    guard listing.contains(fileName), hasMark(listing.head(of: fileName)) else { return [] }
    return [
      Recognition(
        family: family, certainty: .declared, folder: listing.folder,
        reason: "\(fileName) begins with \(mark)")
    ]
  }

  /// Whether the first line that is neither empty nor a comment has the key.
  private static func hasMark(_ head: [UInt8]) -> Bool {
    let text = String(decoding: TextBytes.utf8(head), as: UTF8.self)
    let first = text.split(whereSeparator: \.isNewline).lazy
      .map { $0.drop { $0 == " " } }
      .first { !$0.isEmpty && !$0.hasPrefix("#") && !$0.hasPrefix("---") && !$0.hasPrefix("%") }
    return first?.hasPrefix(mark + ":") ?? false
  }

  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let folder = try OpenFolderContent(recognition.folder)
    let description = try OpenFolderDescription(recognition.folder.appending(name: fileName))
    return try OpenFolderCapture(description, folder).capture(id: recognition.id)
  }
}
