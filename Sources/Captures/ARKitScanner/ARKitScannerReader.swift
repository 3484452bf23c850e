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
    let listing: FolderListing
    do throws(FileError) {
      listing = try FolderListing(of: recognition.folder)
    } catch {
      throw CaptureError(reasonOf: error, at: recognition.folder)
    }
    if let name = listing.files.first(where: Self.isFirstLayout), !Self.isRecognized(listing) {
      throw CaptureError(
        file: recognition.folder.appending(name),
        problem:
          "the layout of 2022-10-12, one depth file and one picture per frame, is not supported",
        remedy: "convert it with the app's own scripts of that time")
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
