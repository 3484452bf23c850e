extension ScanNetReader {
  /// The app sends five files with one stem, in any order. Its metadata has an ending that others use
  /// too, so that it alone tells nothing.
  public static func namesLacking(ofUpload stem: String, in listing: FolderListing) -> [String]? {
    let own = [".depth", ".h264", ".imu", ".camera", ".cam"]
    guard own.contains(where: { listing.contains(stem + $0) }) else { return nil }
    return ScanNetFiles(folder: listing.folder, stem: stem, listing: listing).absentEndings
      .map { stem + $0 }
  }
}
