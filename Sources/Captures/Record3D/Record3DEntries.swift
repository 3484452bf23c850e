import Media
import Core
import SystemPackage

/// The files of a recording by their names, in a folder or in an archive. Called by several threads
/// at once.
protocol Record3DEntries: Sendable {
  /// Names without their folder; `folder` is empty for the recording's own.
  func names(in folder: String) -> [String]
  /// The content of a file, of at most `limit` bytes, or why there is none. Throws if it cannot be
  /// opened.
  func content(of name: String, limit: InputLimit) throws(CaptureError) -> StoredBytes
  /// The file that must be read for a name.
  func path(of name: String) -> FilePath
}

extension InputLimits {
  /// Depth of a picture has some hundred kilobytes, a color picture less.
  static let bytesOfRecord3DPicture = InputLimit(
    "bytes in a picture of a recording", most: 64 << 20, "it is read as a whole")
  /// Some hundred bytes per frame.
  static let bytesOfRecord3DMetadata = InputLimit(
    "bytes in a recording's metadata", most: 256 << 20, "it is held in memory")
}
