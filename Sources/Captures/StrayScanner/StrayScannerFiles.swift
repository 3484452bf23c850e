import Core
import SystemPackage

/// The files of a capture's folder by role. Listed, not opened.
struct StrayScannerFiles: Sendable {
  static let videoName = "rgb.mp4"
  static let odometryName = PoseTable.name
  static let motionName = "imu.csv"
  static let matrixName = "camera_matrix.csv"
  static let depthName = "depth"
  static let confidenceName = "confidence"
  private static let arrayEnding = "npy"

  /// A subfolder with one picture per frame.
  struct Pictures: Sendable {
    let folder: FilePath
    var files: NumberedFiles
    /// Number of pictures that are links out of the capture; not followed.
    let outside: Int
  }

  let folder: FilePath
  private let listing: FolderListing
  /// Absent without a subfolder, and for one without pictures.
  let depth: StreamState<Pictures>
  let confidence: StreamState<Pictures>

  init(_ folder: FilePath) throws(CaptureError) {
    self.folder = folder
    do throws(FileError) {
      listing = try FolderListing(of: folder)
    } catch {
      throw CaptureError(reasonOf: error, at: folder)
    }
    // The PNG counts if a frame has two depth files.
    depth = Self.pictures(Self.depthName, ["png", Self.arrayEnding], listing)
    confidence = Self.pictures(Self.confidenceName, ["png"], listing)
  }

  func contains(_ name: String) -> Bool { listing.contains(name) }
  func path(_ name: String) -> FilePath { folder.appending(name: name) }
  func existing(_ names: [String]) -> [FilePath] { names.filter(contains).map(path) }

  /// Whether any depth file is a NumPy array.
  var hasArrays: Bool {
    depth.value?.files.files.contains { $0.name.lowercased().hasSuffix("." + Self.arrayEnding) }
      ?? false
  }

  /// Whether the header of `odometry.csv` has a column for the focal length, also where the rows
  /// cannot be read.
  var hasIntrinsicsColumns: Bool {
    ColumnTable.columns(of: Self.odometryName, in: listing).contains("fx")
  }

  /// Names with a role that are links out of the capture.
  var outside: [String] {
    listing.outside.filter {
      [
        Self.videoName, Self.odometryName, Self.motionName, Self.matrixName, Self.depthName,
        Self.confidenceName,
      ].contains($0)
    }
  }

  private static func pictures(
    _ name: String, _ endings: [String], _ listing: FolderListing
  ) -> StreamState<Pictures> {
    guard listing.subfolders.contains(name) else { return .absent("no folder \(name)") }
    let folder = listing.folder.appending(name: name)
    do throws(FileError) {
      let inner = try FolderListing(of: folder, inside: listing.folder)
      let files = NumberedFiles(inner.files, endings: endings)
      let outside = NumberedFiles(inner.outside, endings: endings).files.count
      if files.isEmpty, outside == 0 { return .absent("the folder \(name) has no pictures") }
      return .present(Pictures(folder: folder, files: files, outside: outside))
    } catch {
      return .unreadable(CaptureError(error, of: folder))
    }
  }
}
