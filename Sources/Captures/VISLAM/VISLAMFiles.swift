import Core
import SystemPackage

/// The files of a session's folder by role.
struct VISLAMFiles {
  static let imuFile = "imu_data.csv"
  static let siblingIMUFile = "imu.csv"
  static let frameFile = "frame_metadata.csv"
  /// The usual name; any other movie is used as well.
  static let usualVideo = "video.mp4"
  static let metadataFile = "metadata.json"
  static let stillsFolder = "frames"
  private static let movieExtensions: Set<String> = ["mp4", "mov", "m4v"]
  private static let stillExtensions: Set<String> = ["png", "jpg", "jpeg"]

  let path: FilePath
  /// The folder, held open.
  private let root: EnclosedFolder
  let listing: FolderListing
  /// Files with a role, and the folder of stills, that are links out of the folder: treated as
  /// absent.
  let outside: [String]
  /// The folder of stills, if it is inside the capture.
  private let pictures: FolderListing?

  init(_ path: FilePath) throws(CaptureError) {
    self.path = path
    do throws(FileError) {
      listing = try FolderListing(of: path)
      root = try EnclosedFolder(path)
    } catch {
      var problem = CaptureError(error, of: path)
      problem.problem = "the folder cannot be listed: \(error.reason)"
      throw problem
    }
    let stills = path.appending(Self.stillsFolder)
    pictures =
      listing.subfolders.contains(Self.stillsFolder)
      ? try? FolderListing(of: stills, inside: path) : nil
    outside = listing.outside.filter { Self.hasPart($0) || $0 == Self.stillsFolder }
  }

  func contains(_ file: String) -> Bool { listing.contains(file) }

  func file(_ name: String) -> FilePath { path.appending(name: name) }

  /// Movies sorted by name, without hidden files.
  var movies: [String] {
    listing.files.filter { Self.hasExtension($0, Self.movieExtensions) }
  }

  var hasStillsFolder: Bool { listing.subfolders.contains(Self.stillsFolder) }

  /// The pictures of the stills folder sorted by name, without links out of the capture. Throws
  /// when the folder cannot be read.
  func stills() throws(FileError) -> [FilePath] {
    guard hasStillsFolder, !outside.contains(Self.stillsFolder) else { return [] }
    // Listing it again gives the error.
    let pictures: FolderListing
    if let known = self.pictures {
      pictures = known
    } else {
      pictures = try FolderListing(of: path.appending(Self.stillsFolder), inside: path)
    }
    return pictures.files.filter { Self.hasExtension($0, Self.stillExtensions) }
      .map(pictures.path)
  }

  /// Number of stills that are links out of the capture.
  var outsideStillCount: Int {
    (pictures?.outside ?? []).count { Self.hasExtension($0, Self.stillExtensions) }
  }

  /// The location of a picture that a table names.
  enum PictureLocation {
    case found(FilePath)
    case missing
    /// The name leads out of the capture.
    case outside
  }

  /// The location of the picture `name`, relative to the folder or to its stills folder.
  func location(of name: String) -> PictureLocation {
    guard !name.isEmpty, !name.utf8.contains(0) else { return .missing }
    let relative = FilePath(name)
    guard relative.isRelative else { return .outside }
    var location = PictureLocation.missing
    for base in [path, path.appending(Self.stillsFolder)] {
      let candidate = base.pushing(relative).lexicallyNormalized()
      var rest = candidate
      guard rest.removePrefix(path.lexicallyNormalized()) else { return .outside }
      switch root.look(at: rest.text) {
      // A picture without permission may exist: reading it gives the error. A folder in its place
      // is an error of the picture rather than its absence.
      case .file, .folder, .forbidden, .failed: return .found(candidate)
      case .outside: location = .outside
      case .other, .nothing: continue
      }
    }
    return location
  }

  static func isMovie(_ name: String) -> Bool { hasExtension(name, movieExtensions) }

  private static func hasPart(_ name: String) -> Bool {
    [imuFile, siblingIMUFile, frameFile, metadataFile].contains(name)
      || hasExtension(name, movieExtensions)
  }

  private static func hasExtension(_ name: String, _ extensions: Set<String>) -> Bool {
    guard !name.hasPrefix("."), let last = FilePath(text: name).extension else { return false }
    return extensions.contains(last.lowercased())
  }
}
