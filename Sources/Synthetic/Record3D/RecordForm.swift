/// The exports of Record3D that have one file per picture.
enum RecordForm: String, CaseIterable {
  /// One ZIP file.
  case r3d
  /// An unpacked `.r3d`.
  case folder = "r3d-folder"
  /// "EXR + JPG".
  case exr

  var metadataName: String { self == .exr ? "metadata.json" : "metadata" }
  var colorFolder: String { self == .exr ? "rgb" : "rgbd" }
  var depthFolder: String { self == .exr ? "depth" : "rgbd" }
  var depthEnding: String { self == .exr ? "exr" : "depth" }
  var hasConfidence: Bool { self != .exr }
}
