import SystemPackage

extension CaptureFamily {
  static let threeDScannerApp = CaptureFamily("3d-scanner-app")
}

/// Reads "All data" exports of the iOS app 3D Scanner App: a folder with one JSON file per frame,
/// and PNG and JPEG pictures of the same number beside it.
///
/// The number in a file's name is the canonical index. Color exists for some frames only in exports
/// with depth: by design, no loss.
public enum ThreeDScannerAppReader: CaptureReader {
  public static let readerVersion = 2
  public static let description: FamilyDescription = {
    var family = FamilyDescription(
      .threeDScannerApp, title: "3D Scanner App",
      generations: [
        .init(
          ThreeDScannerAppGeneration.lidar.rawValue,
          mark: "depth_*.png; color for every third or sixth frame"),
        .init(
          ThreeDScannerAppGeneration.highResolution.rawValue,
          mark: "no depth; color for every frame"),
      ],
      recognition:
        "a folder with a frame_<digits>.json that has the key cameraPoseARFrame, or with "
        + "depth_<digits>.png and conf_<digits>.png")
    // The app chooses frames by motion.
    family.frameGapFactor = .infinity
    family.sensorName = "3DScannerApp"
    family.fileContents = [
      ThreeDScannerAppFiles.infoName: "description of the scan", "*.json": "pose and intrinsics",
    ]
    return family
  }()

  /// How many frame files are looked into: the first may be damaged.
  private static let mostFilesLookedAt = 8

  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    guard let (certainty, reason) = evidence(in: listing) else { return [] }
    return [
      Recognition(
        family: family, certainty: certainty, folder: listing.folder, reason: reason)
    ]
  }

  private static func evidence(
    in listing: FolderListing
  ) -> (certainty: Recognition.Certainty, reason: String)? {
    let frames = ThreeDScannerAppFiles.Kind.frame.names(in: listing)
    for name in frames.prefix(mostFilesLookedAt)
    where ThreeDScannerAppFrameFile.hasPose(listing.head(of: name)) {
      return (.certain, "\(name) has the key \(ThreeDScannerAppFrameFile.poseKey)")
    }
    guard !ThreeDScannerAppFiles.Kind.depth.names(in: listing).isEmpty,
      !ThreeDScannerAppFiles.Kind.confidence.names(in: listing).isEmpty
    else { return nil }
    return (.possible, "depth_<digits>.png and conf_<digits>.png")
  }

  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let tables = ThreeDScannerAppTables(try ThreeDScannerAppFiles(recognition.folder))
    let frames = ThreeDScannerAppFrames(tables)
    return try ThreeDScannerAppCapture(tables, frames, WarningCollector()).capture(
      id: recognition.id)
  }

  public static func role(of name: String, stem: String?) -> FileRole? {
    ThreeDScannerAppFiles.role(of: name)
  }
}
