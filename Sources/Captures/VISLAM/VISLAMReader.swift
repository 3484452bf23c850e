import Core
import Media
import SystemPackage

extension CaptureFamily {
  static let vislam = CaptureFamily("vi-slam")
}

/// Reads sessions of one camera with inertial sensors: a video, `imu_data.csv` with one row per
/// sample, `frame_metadata.csv` with one row per camera frame.
///
/// No depth, no poses, no calibration. Table columns are found by name, whatever program wrote
/// them; times stay integers throughout.
enum VISLAMReader: CaptureReader {
  static let readerVersion = 9
  static let description: FamilyDescription = {
    var family = FamilyDescription(
      .vislam, title: "VI-SLAM",
      generations: [
        .init("v1", mark: "a video, and imu_data.csv in the long form of the iOS recorder"),
        .init(
          "android",
          mark:
            "still pictures, imu.csv, a wide IMU table, or columns such as exposure_time_ns and image_filename"
        ),
      ],
      recognition:
        "a folder with imu_data.csv that has columns for time and sensors, or frame_metadata.csv with "
        + "frame_number and timestamp_ns")
    // Gaps in real recordings of this family are one and a half periods long.
    family.frameGapFactor = 1.4
    family.cameraStatement = .onceOrFocalLength
    family.fileContents = ["imu_data.csv": "IMU", "frame_metadata.csv": "frame times"]
    return family
  }()

  static func recognize(_ listing: FolderListing) -> [Recognition] {
    // A folder with a pose table belongs to an app of another family.
    guard !RowTable.hasPoses(in: listing) else { return [] }
    return recognition(
      of: listing,
      [imuReason(listing), frameReason(listing)].compactMap(\.self)
        .max { $0.certainty < $1.certainty })
  }

  static func role(of name: String, stem: String?) -> FileRole? {
    switch name {
    case VISLAMFiles.imuFile: FileRole([.imu])
    case VISLAMFiles.siblingIMUFile: FileRole([.imu], isAlternative: true)
    case VISLAMFiles.frameFile: FileRole([.cameraSettings, .frames])
    // Contributes to the sign convention of the sensors.
    case VISLAMFiles.metadataFile: FileRole([.imu])
    default: VISLAMFiles.isMovie(name) ? FileRole([.color], isAlternative: true) : nil
    }
  }

  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let session = try VISLAMCapture(recognition)
    return try session.capture()
  }

  private static func imuReason(_ listing: FolderListing) -> Evidence? {
    reason(
      VISLAMFiles.imuFile, in: listing, VISLAMIMUColumns.ownOrder, VISLAMIMUColumns.isRow,
      "IMU rows",
      "columns for time and sensors"
    ) { columns in
      columns.keys.contains { $0.hasPrefix("timestamp") }
        && (columns["sensor_type"] != nil || columns["accel_x"] != nil)
    }
  }

  private static func frameReason(_ listing: FolderListing) -> Evidence? {
    reason(
      VISLAMFiles.frameFile, in: listing, VISLAMFrameTable.ownOrder, VISLAMFrameTable.isRow,
      "frame rows", "columns frame_number and timestamp_ns"
    ) { $0["frame_number"] != nil && $0["timestamp_ns"] != nil }
  }

  /// What a table tells by its head: certainly, where its header has the columns; possibly, where it has rows of the
  /// app and no header.
  private static func reason(
    _ file: String, in listing: FolderListing, _ order: [String], _ isRow: (CSVScanner) -> Bool,
    _ rows: String, _ columns: String, _ hasColumns: ([String: Int]) -> Bool
  ) -> Evidence? {
    guard listing.contains(file),
      let table = try? RowTable(
        listing.folder.appending(file), head: listing.head(of: file), ownOrder: order, isRow: isRow),
      table.hasContent
    else { return nil }
    guard table.hasHeader else { return (.possible, "\(file) without header, but with \(rows)") }
    return hasColumns(table.columns) ? (.certain, "\(file) with \(columns)") : nil
  }
}

/// The files of a session's folder by role.
struct VISLAMFiles {
  static let imuFile = "imu_data.csv"
  static let siblingIMUFile = "imu.csv"
  static let frameFile = "frame_metadata.csv"
  /// The usual name; any other movie is used as well.
  static let usualVideo = "video.mp4"
  static let metadataFile = "metadata.json"
  static let calibrationFile = "calibration.json"
  static let checksumsFile = "checksums.sha256"
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
    [imuFile, siblingIMUFile, frameFile, metadataFile, calibrationFile, checksumsFile].contains(
      name)
      || hasExtension(name, movieExtensions)
  }

  private static func hasExtension(_ name: String, _ extensions: Set<String>) -> Bool {
    guard !name.hasPrefix("."), let last = FilePath(text: name).extension else { return false }
    return extensions.contains(last.lowercased())
  }
}
