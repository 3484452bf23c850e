import Core
import SystemPackage

extension ARKitScannerReader {
  /// Recognizes one capture if the folder has a file name that only this app uses, or a file
  /// `depth` with the content of a depth file.
  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    guard let (certainty, reason) = evidence(listing) else { return [] }
    return [
      Recognition(
        family: family, certainty: certainty, folder: listing.folder, reason: reason)
    ]
  }

  private static func evidence(
    _ listing: FolderListing
  ) -> (Recognition.Certainty, String)? {
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
    if listing.contains("depth"), isDepthFile(listing) {
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

  private static func isDepthFile(_ listing: FolderListing) -> Bool {
    guard let file = listing.file("depth") else { return false }
    return ARKitScannerDepthLayout.holdsDepth(file)
  }
}
