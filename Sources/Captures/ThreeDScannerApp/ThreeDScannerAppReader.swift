import Core
import Media
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
    recognition(of: listing, evidence(in: listing))
  }

  private static func evidence(
    in listing: FolderListing
  ) -> Evidence? {
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
    return try ThreeDScannerAppCapture(tables: tables, frames: frames, warnings: WarningCollector())
      .capture(
        id: recognition.id)
  }

  public static func role(of name: String, stem: String?) -> FileRole? {
    ThreeDScannerAppFiles.role(of: name)
  }
}

/// The two kinds of exports.
enum ThreeDScannerAppGeneration: String {
  /// Depth and confidence for every frame, color for some.
  case lidar
  /// Color for every frame, no depth.
  case highResolution = "high-resolution"
}

/// The canonical frames: 0 to the greatest number of any file.
struct ThreeDScannerAppFrames {
  let frames: [CaptureFrame]
  /// Number of frames with a picture and without time.
  let picturesWithoutTime: Int

  init(_ tables: ThreeDScannerAppTables) {
    var frames = [CaptureFrame](repeating: CaptureFrame(), count: tables.files.greatest + 1)
    let color = Set(tables.files[.color].files.map(\.number))
    for (index, file) in tables.rows {
      frames[index].timestamp = file.time
      if color.contains(index) { frames[index].colorTimestamp = file.time }
      if tables.depth.hasFile(index) { frames[index].depthTimestamp = file.time }
    }
    picturesWithoutTime = frames.indices.count { index in
      frames[index].timestamp == nil
        && (color.contains(index) || tables.depth.hasFile(index)
          || tables.confidence.hasFile(index))
    }
    self.frames = frames
  }
}

/// The content of all files of one capture, each read for itself.
struct ThreeDScannerAppTables: Sendable {
  let files: ThreeDScannerAppFiles
  let color: ColorPictures
  let depth: PictureFiles<UInt16>
  let confidence: PictureFiles<UInt8>
  private let frameFiles: FrameFiles<ThreeDScannerAppFrameFile>
  /// Number of frame files, readable or not.
  let rowFileCount: Int
  /// `nil` without the file, and for one that cannot be read.
  let info: ThreeDScannerAppInfo?

  /// Cost: reads every frame file, and pictures until one of each kind is readable.
  init(_ files: ThreeDScannerAppFiles) {
    self.files = files
    color = ColorPictures(StoredPictureFiles(files[.color], in: files.folder))
    depth = .depth(files[.depth], in: files.folder)
    confidence = .confidence(files[.confidence], in: files.folder)
    rowFileCount = files[.frame].files.count
    info =
      files.hasInfo
      ? (try? Self.bytes(files.path(ThreeDScannerAppFiles.infoName)))
        .flatMap { LooseJSON(TextBytes.utf8($0)) }.map(ThreeDScannerAppInfo.init) : nil
    var frameFiles = FrameFiles(files[.frame], in: files.folder, ThreeDScannerAppFrameFile.init)
    // A frame file whose time is far away from all others is damaged.
    let bounds = TimeBounds(frameFiles.values.values.lazy.compactMap(\.time))
    frameFiles.keep { $0.time.map(bounds.contains) ?? true }
    self.frameFiles = frameFiles
  }

  /// By frame number, the frame files that can be read.
  var rows: [Int: ThreeDScannerAppFrameFile] { frameFiles.values }
  var emptyRows: Int { frameFiles.empty }
  var corruptRows: Int { frameFiles.corrupt }
  /// Why a frame file cannot be opened.
  var problem: CaptureError? { frameFiles.problem }

  /// The readable frame files, by number.
  var sorted: [(frame: Int, file: ThreeDScannerAppFrameFile)] {
    frameFiles.sorted.map { ($0.frame, $0.value) }
  }

  private static func bytes(_ path: FilePath) throws(FileError) -> [UInt8] {
    try InputFile(path).whole(limit: InputLimits.bytesOfDescription)
  }
}

/// What `info.json` says of the whole scan.
struct ThreeDScannerAppInfo: Sendable {
  var title: String?
  /// The number of frames that the app declares.
  var declaredFrames: Int?
  /// Personal data.
  var position: (latitude: Double, longitude: Double)?
  /// Altitude of that position, in meters above mean sea level.
  var altitude: Double?

  init(_ members: LooseJSON) {
    title = members.text("title")
    declaredFrames = members.integer("numImages").flatMap { $0 >= 0 ? $0 : nil }
    position = ThreeDScannerAppFrameFile.place(members, "gpsLatitude", "gpsLongitude")
      .flatMap { $0.latitude != 0 || $0.longitude != 0 ? $0 : nil }
    altitude = members.finite("gpsAltitude")
  }
}
