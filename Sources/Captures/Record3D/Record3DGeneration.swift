import Media
import Core

/// The forms of a recording.
enum Record3DGeneration: String {
  /// The app's own file.
  case r3d
  /// An unpacked `.r3d`.
  case folder = "r3d-folder"
  /// The app's export "EXR + JPG".
  case exr

  var metadataName: String { self == .exr ? "metadata.json" : "metadata" }
  /// Where color pictures lie.
  var colorFolder: String { self == .exr ? "rgb" : "rgbd" }
  /// Where depth and confidence lie.
  var depthFolder: String { self == .exr ? "depth" : "rgbd" }
  var depthEnding: String { self == .exr ? "exr" : "depth" }

  static let colorEnding = "jpg"
  static let confidenceEnding = "conf"

  /// The folder, with a slash, in which an archive holds a recording: the only one where it was packed again, empty as the
  /// app writes it. `nil`: it holds none.
  static func recording(in entries: [ZIPEntry]) -> String? {
    let folder = innerFolder(of: entries)
    let isThere = entries.contains { entry in
      let name = String(decoding: entry.name, as: UTF8.self)
      guard entry.hostility == nil, name.hasPrefix(folder) else { return false }
      let inner = name.dropFirst(folder.count)
      // One in many other archives holds something called so in a folder.
      return isPicture(inner) || folder.isEmpty && inner == r3d.metadataName
    }
    return isThere ? folder : nil
  }

  /// The only folder of an archive in which everything lies, with a slash; empty if there is none. What macOS and
  /// servers add does not count.
  static func innerFolder(of entries: [ZIPEntry]) -> String {
    var folder: Substring?
    for entry in entries where entry.hostility == nil {
      let name = String(decoding: entry.name, as: UTF8.self)
      let parts = name.split(separator: "/", maxSplits: 1)
      guard let first = parts.first, first != "__MACOSX",
        parts.last.map({ !IgnoredFiles.contains(String($0)) }) ?? true
      else { continue }
      // The app's own archive.
      guard name.utf8.contains(UInt8(ascii: "/")), first != r3d.colorFolder,
        folder ?? first == first
      else { return "" }
      folder = first
    }
    return folder.map { $0 + "/" } ?? ""
  }

  private static func isPicture(_ name: Substring) -> Bool {
    guard name.hasPrefix(r3d.colorFolder + "/") else { return false }
    let inner = String(name.dropFirst(r3d.colorFolder.count + 1))
    return !NumberedFiles([inner], endings: [colorEnding, r3d.depthEnding], leastDigits: 1).isEmpty
  }
}
