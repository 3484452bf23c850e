import Storage

/// The forms of a recording.
enum Record3DGeneration: String {
  /// The app's own file.
  case r3d
  /// The same, unpacked.
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

  /// Whether an entry of an archive is one by which a recording is recognized.
  static func isMark(_ name: [UInt8]) -> Bool {
    let name = String(decoding: name, as: UTF8.self)
    let form = Record3DGeneration.r3d
    if name == form.metadataName { return true }
    guard name.hasPrefix(form.colorFolder + "/") else { return false }
    let inner = String(name.dropFirst(form.colorFolder.count + 1))
    return
      !NumberedFiles([inner], endings: [colorEnding, form.depthEnding], leastDigits: 1).isEmpty
  }
}
