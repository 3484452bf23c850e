import Core
import SystemPackage

extension CaptureFamily {
  static let arkitScanner = CaptureFamily("arkit-scanner")
}

/// Reads the captures of ARKit-Scanner in all its generations, and the `iphone` folder of released
/// ScanNet++ scenes: one flat folder per capture.
public enum ARKitScannerReader: CaptureReader {
  public static let readerVersion = 4
  public static let description: FamilyDescription = {
    var family = FamilyDescription(
      .arkitScanner, title: "ARKit-Scanner",
      generations: ARKitScannerGeneration.allCases.map {
        // Published ScanNet++ scenes use the world frame of their mesh, which has z up.
        .init($0.rawValue, mark: $0.mark, world: $0 == .scannetpp ? .zUp : .yUp)
      },
      recognition:
        "a folder with trans.json, pose_intrinsic_imu.json, depth.bin or depthBufferSequence, or a file depth "
        + "with depth pictures in it")
    family.fileContents = [
      "metadata.json": "metadata", "depth": "depth", "depth.bin": "depth",
      "depthBufferSequence": "depth", "depthBufferSequence.bin": "depth", "trans.json": "poses",
      "_trans.xml": "poses", "pose_intrinsic_imu.json": "poses",
    ]
    return family
  }()

  public static func role(of name: String, stem: String?) -> FileRole? {
    ARKitScannerFiles.role(of: name)
  }

  /// Opens the folder of `recognition`.
  ///
  /// Side tables are parsed completely, depth records are located without decoding, the video is
  /// indexed. Only a depth file that is one DEFLATE stream is inflated, once and in constant
  /// memory, because its number of frames is not known otherwise.
  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let listing = try CaptureError.listing(recognition.folder)
    if let name = listing.files.first(where: Self.isFirstLayout), !Self.isRecognized(listing) {
      throw CaptureError(
        file: recognition.folder.appending(name),
        problem:
          "the layout of 2022-10-12, one depth file and one picture per frame, is not supported",
        correction: "convert it with the app's own scripts of that time")
    }
    var files = ARKitScannerFiles(listing)
    files.lookAtSizes()
    let contents = ARKitScannerTables(files)
    if let failure = contents.failure { throw failure }
    var capture = ARKitScannerCapture(contents).capture(id: recognition.id)
    capture.warn(ofLinksOutside: listing.outside.filter(ARKitScannerFiles.isOwn))
    return capture
  }
}

extension ARKitScannerReader {
  /// Recognizes one capture if the folder has a file name that only this app uses, or a file
  /// `depth` with the content of a depth file.
  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    recognition(of: listing, evidence(listing))
  }

  private static func evidence(_ listing: FolderListing) -> Evidence? {
    let certain = [
      ARKitScannerFiles.releasePoses, "trans.json", "depthBufferSequence",
      "depthBufferSequence.bin",
    ]
    if let name = certain.first(where: listing.contains) { return (.certain, "holds \(name)") }
    if listing.contains("depth.bin") {
      let companion = ["exif.json", "metadata.json", "rgb.mp4"].first(where: listing.contains)
      return companion.map { (.certain, "holds depth.bin and \($0)") }
        ?? (.possible, "holds depth.bin")
    }
    if let file = listing.file("depth"), ARKitScannerDepthLayout.holdsDepth(file) {
      return (.possible, "holds a file depth with depth pictures")
    }
    if let name = listing.files.first(where: isFirstLayout) {
      return (.possible, "holds \(name), the layout of 2022-10-12")
    }
    return nil
  }

  static func isRecognized(_ listing: FolderListing) -> Bool {
    ARKitScannerFiles(listing).depthFile != nil || listing.contains("trans.json")
      || listing.contains(ARKitScannerFiles.releasePoses)
  }

  /// Whether the name is that of one depth file per frame, named by its time.
  static func isFirstLayout(_ name: String) -> Bool {
    ARKitScannerFiles.key(in: name, before: "_depthBuffer.bin") != nil
  }
}
