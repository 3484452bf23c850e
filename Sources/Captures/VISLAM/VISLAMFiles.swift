import Storage
import SystemPackage

/// The files of a session's folder by their part in it.
struct VISLAMFiles {
  static let imuFile = "imu_data.csv"
  static let siblingIMUFile = "imu.csv"
  static let frameFile = "frame_metadata.csv"
  /// The usual name; any movie counts.
  static let usualVideo = "video.mp4"
  static let metadataFile = "metadata.json"
  static let stillsFolder = "frames"
  private static let movieExtensions: Set<String> = ["mp4", "mov", "m4v"]
  private static let stillExtensions: Set<String> = ["png", "jpg", "jpeg"]

  let path: FilePath
  /// The folder, held open.
  private let root: EnclosedFolder
  let listing: FolderListing
  /// Files of a part, and the folder of stills, whose links lead out of the folder: treated as absent.
  let outside: [String]
  /// The folder of stills, if it lies inside the capture.
  private let pictures: FolderListing?

  init(_ path: FilePath) throws(CaptureError) {
    self.path = path
    do throws(FileError) {
      listing = try FolderListing(of: path)
      root = try EnclosedFolder(path)
    } catch {
      throw CaptureError(file: path, problem: "the folder cannot be listed: \(error.reason)")
    }
    let stills = path.appending(Self.stillsFolder)
    pictures =
      listing.subfolders.contains(Self.stillsFolder)
      ? try? FolderListing(of: stills, inside: path) : nil
    outside = listing.outside.filter { Self.hasPart($0) || $0 == Self.stillsFolder }
  }

  /// The folder's name unchanged, also when the path ends in `.` or `..`.
  static func name(of folder: FilePath) -> String {
    FolderName.of(folder)
  }

  func contains(_ file: String) -> Bool { listing.contains(file) }

  func file(_ name: String) -> FilePath { path.appending(name: name) }

  /// Movies by name, hidden files left out.
  var movies: [String] {
    listing.files.filter { Self.hasExtension($0, Self.movieExtensions) }
  }

  var hasStillsFolder: Bool { listing.subfolders.contains(Self.stillsFolder) }

  /// The pictures of the stills folder in order of their names, links that lead out left out.
  /// Throws when the stills folder may not be read.
  func stills() throws(FileError) -> [FilePath] {
    guard hasStillsFolder, !outside.contains(Self.stillsFolder) else { return [] }
    // Listing it again tells why it could not be.
    let pictures: FolderListing
    if let known = self.pictures {
      pictures = known
    } else {
      pictures = try FolderListing(of: path.appending(Self.stillsFolder), inside: path)
    }
    return pictures.files.filter { Self.hasExtension($0, Self.stillExtensions) }
      .map(pictures.path)
  }

  /// How many links among the stills lead out of the capture.
  var outsideStillCount: Int {
    (pictures?.outside ?? []).count { Self.hasExtension($0, Self.stillExtensions) }
  }

  /// Where a picture named in a table lies.
  enum Place {
    case found(FilePath)
    case missing
    /// The name leads out of the capture.
    case outside
  }

  /// The picture that a table calls `name`, relative to the folder or to its stills folder.
  func place(of name: String) -> Place {
    guard !name.isEmpty, !name.utf8.contains(0) else { return .missing }
    let relative = FilePath(name)
    guard relative.isRelative else { return .outside }
    var place = Place.missing
    for base in [path, path.appending(Self.stillsFolder)] {
      let candidate = base.pushing(relative).lexicallyNormalized()
      var rest = candidate
      guard rest.removePrefix(path.lexicallyNormalized()) else { return .outside }
      switch root.look(at: rest.text) {
      // What is forbidden may be there: reading it will say why it cannot be. A folder in the place of a picture
      // is an error of the picture, not its absence.
      case .file, .folder, .forbidden: return .found(candidate)
      case .outside: place = .outside
      case .other, .nothing: continue
      }
    }
    return place
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
