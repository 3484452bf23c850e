import Core
import SystemPackage

/// The app's files that a folder holds.
struct ARKitScannerFiles: Sendable {
  let listing: FolderListing
  /// The file with depth records, if any.
  let depthFile: String?
  /// The video, if any. Its name does not determine its container.
  let videoFile: String?
  /// Names of the per-frame property lists `<t>_trans.xml` of the first two generations.
  let poseLists: [String]
  /// Names of files of keys and settings that have 0 bytes: they count as absent.
  private(set) var emptyFiles: Set<String> = []

  static let releasePoses = "pose_intrinsic_imu.json"
  private static let depthNames = [
    "depth.bin", "depthBufferSequence.bin", "depthBufferSequence", "depth",
  ]

  init(_ listing: FolderListing) {
    self.listing = listing
    depthFile = Self.depthNames.first(where: listing.contains)
    poseLists = listing.files.filter { Self.key(in: $0, before: "_trans.xml") != nil }
    let videoNames =
      if listing.contains(Self.releasePoses) {
        ["rgb.mkv", "rgb.mp4", "video.mp4"]
      } else if !poseLists.isEmpty {
        ["video.mp4", "rgb.mp4", "rgb.mkv"]
      } else {
        ["rgb.mp4", "video.mp4", "rgb.mkv"]
      }
    videoFile = videoNames.first(where: listing.contains)
  }

  var path: FilePath { listing.folder }
  var isRelease: Bool { listing.contains(Self.releasePoses) }
  var hasDepthBufferSequence: Bool { depthFile?.hasPrefix("depthBufferSequence") ?? false }
  /// Whether this generation has one property list per frame and value.
  var usesPropertyLists: Bool {
    !poseLists.isEmpty || (hasDepthBufferSequence && !has("trans.json"))
  }

  /// Whether a file is there, with content where that has been looked at (`lookAtSizes`).
  func has(_ name: String) -> Bool { listing.contains(name) && !emptyFiles.contains(name) }
  /// `imu.json is empty` or `no imu.json`, of a file that is not there.
  func absence(of name: String) -> String {
    emptyFiles.contains(name) ? "\(name) is empty" : "no \(name)"
  }
  /// `is empty` or `is not there`.
  func lack(of name: String) -> String { emptyFiles.contains(name) ? "is empty" : "is not there" }

  /// Finds the empty files. The app writes these when it stops, each at once; `exif.json` grows while it records.
  mutating func lookAtSizes() {
    emptyFiles = Set(Self.filesWrittenAtOnce.filter { listing.contains($0) && listing.isEmpty($0) })
  }

  private static let filesWrittenAtOnce = [
    releasePoses, "trans.json", "intri.json", "intri.xml", "offset.json", "imu.json",
    "metadata.json",
  ]

  func path(of name: String) -> FilePath { path.appending(name: name) }

  /// Files named `<decimal number><suffix>`, with the text of the number.
  func files(endingIn suffix: String) -> [(name: String, key: String)] {
    listing.files.compactMap { name in
      Self.key(in: name, before: suffix).map { (name, $0) }
    }
  }

  /// The parts of a capture that a file belongs to, by its name.
  static func role(of name: String) -> FileRole? {
    switch name {
    case releasePoses: return FileRole([.poses, .intrinsics, .imu])
    case "trans.json": return FileRole([.poses])
    case "intri.json", "intri.xml": return FileRole([.intrinsics])
    case "offset.json", "exif.json": return FileRole([.cameraSettings])
    case "imu.json": return FileRole([.imu])
    case "metadata.json": return FileRole([.depth, .intrinsics])
    case "rgb.mp4", "rgb.mkv", "video.mp4": return FileRole([.color], isAlternative: true)
    default: break
    }
    if depthNames.contains(name) { return FileRole([.depth], isAlternative: true) }
    let lists: [(String, CapturePart)] = [
      ("_trans.xml", .poses), ("_offset.txt", .cameraSettings), ("_imu.xml", .imu),
    ]
    return lists.first { key(in: name, before: $0.0) != nil }.map { FileRole([$0.1]) }
  }

  /// Whether the name is one that the app uses.
  static func isOwn(_ name: String) -> Bool { role(of: name) != nil }

  /// The decimal number before `suffix` in `name`; `nil` for anything else.
  static func key(in name: String, before suffix: String) -> String? {
    guard name.hasSuffix(suffix) else { return nil }
    let text = String(name.dropLast(suffix.count))
    return ARKitScannerKey(time: text) == nil ? nil : text
  }
}
