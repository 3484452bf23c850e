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
enum ThreeDScannerAppReader: CaptureReader {
  static let readerVersion = 5
  static let description: FamilyDescription = {
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
    family.video = .absent
    family.sensorName = "3DScannerApp"
    family.fileContents = [
      ThreeDScannerAppFiles.infoName: "description of the scan", "*.json": "pose and intrinsics",
    ]
    return family
  }()

  /// How many frame files are looked into: the first may be damaged.
  private static let mostFilesLookedAt = 8

  static func recognize(_ listing: FolderListing) -> [Recognition] {
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

  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let tables = ThreeDScannerAppTables(try ThreeDScannerAppFiles(recognition.folder))
    let frames = ThreeDScannerAppFrames(tables)
    return try ThreeDScannerAppCapture(tables: tables, frames: frames, warnings: WarningCollector())
      .capture(
        id: recognition.id)
  }

  static func role(of name: String, stem: String?) -> FileRole? {
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
struct ThreeDScannerAppTables {
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
    confidence = .confidence(files[.confidence], in: files.folder, isARKit: true)
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

  /// Whether the description is there, and nothing of it can be read.
  var isInfoUnreadable: Bool { files.hasInfo && info == nil }

  /// The frame files that can be read, by frame number.
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
struct ThreeDScannerAppInfo {
  var title: String?
  /// The number of frames that the app declares.
  var declaredFrames: Int?
  /// The place of the scan, which is personal data.
  var position: (latitude: Double, longitude: Double)?
  /// Altitude of that position, in meters above mean sea level.
  var altitude: Double?
  /// Whether a position is stated that is none on earth.
  let isPositionLost: Bool

  init(_ members: LooseJSON) {
    title = members.text("title")
    declaredFrames = members.integer("numImages").flatMap { $0 >= 0 ? $0 : nil }
    position = ThreeDScannerAppFrameFile.place(members, "gpsLatitude", "gpsLongitude")
      .flatMap { $0.latitude != 0 || $0.longitude != 0 ? $0 : nil }
    altitude = members.finite("gpsAltitude")
    isPositionLost = ThreeDScannerAppFrameFile.isPlaceLost(members, "gpsLatitude", "gpsLongitude")
  }
}

/// The files of a capture's folder by role. Listed, not opened.
struct ThreeDScannerAppFiles {
  static let infoName = "info.json"
  /// Digits of the shortest number.
  private static let leastDigits = 5
  /// Numbers for each file: color exists for every sixth frame, and a part of the files may be lost.
  private static let numbersPerFile = 10

  /// The kinds of files with a number.
  enum Kind: CaseIterable {
    case frame, color, depth, confidence

    private var prefix: String {
      switch self {
      case .frame, .color: "frame_"
      case .depth: "depth_"
      case .confidence: "conf_"
      }
    }

    private var endings: [String] {
      switch self {
      case .frame: ["json"]
      case .color: ["jpg", "jpeg"]
      case .depth, .confidence: ["png"]
      }
    }

    private var parts: Set<CapturePart> {
      switch self {
      case .frame: [.poses, .intrinsics, .frames, .cameraSettings, .geo]
      case .color: [.color]
      case .depth: [.depth]
      case .confidence: [.confidence]
      }
    }

    func files(of names: some Sequence<String>) -> NumberedFiles {
      NumberedFiles(
        names, prefix: prefix, endings: endings, leastDigits: ThreeDScannerAppFiles.leastDigits)
    }

    /// Names of this kind, in their order. Cost: a binary search, unless one asks for them all.
    func names(in listing: FolderListing) -> some Sequence<String> & Collection<String> {
      listing.files(withPrefix: prefix).lazy.filter { !files(of: [$0]).isEmpty }
    }

    /// The name of a frame's file.
    func name(_ frame: Int) -> String {
      let digits = String(frame)
      let zeros = String(
        repeating: "0", count: max(0, ThreeDScannerAppFiles.leastDigits - digits.count))
      return prefix + zeros + digits + "." + endings[0]
    }

    /// One of many files: another frame's replaces it where only the kind counts.
    fileprivate var role: FileRole { FileRole(parts, isAlternative: true) }
  }

  let folder: FilePath
  /// Whether the description is there and not empty.
  let hasInfo: Bool
  private var numbered: [Kind: NumberedFiles] = [:]
  /// Number of pictures and tables that are links out of the capture, by kind; not followed.
  private(set) var outside: [Kind: Int] = [:]
  let isInfoOutside: Bool

  init(_ folder: FilePath) throws(CaptureError) {
    self.folder = folder
    let listing = try CaptureError.listing(folder)
    hasInfo = listing.contains(Self.infoName) && !listing.isEmpty(Self.infoName)
    isInfoOutside = listing.outside.contains(Self.infoName)
    for kind in Kind.allCases {
      numbered[kind] = kind.files(of: listing.files)
      outside[kind] = kind.files(of: listing.outside).files.count
    }
    let count = numbered.values.reduce(0) { $0 + $1.files.count }
    let most = NumberedFiles.mostBelieved(records: count, factor: Self.numbersPerFile)
    numbered = numbered.mapValues { $0.believing(upTo: most) }
  }

  subscript(kind: Kind) -> NumberedFiles { numbered[kind] ?? .none }

  func path(_ name: String) -> FilePath { folder.appending(name: name) }
  func paths(_ kind: Kind) -> [FilePath] { self[kind].files.map { path($0.name) } }

  /// The greatest number of any file; -1 without files.
  var greatest: Int { numbered.values.compactMap { $0.files.last?.number }.max() ?? -1 }

  /// Confidence without depth is a `lidar` capture that lost its depth.
  var generation: ThreeDScannerAppGeneration {
    self[.depth].files.isEmpty && self[.confidence].files.isEmpty ? .highResolution : .lidar
  }

  static func role(of name: String) -> FileRole? {
    if name == infoName { return FileRole([.geo], isAlternative: true) }
    return Kind.allCases.first { !$0.files(of: [name]).isEmpty }?.role
  }
}

/// What `frame_<k>.json` says of its frame.
struct ThreeDScannerAppFrameFile {
  static let poseKey = "cameraPoseARFrame"

  var time: Timestamp?
  /// Whether the file has the key of the time, with a value that can be read or not.
  let statesTime: Bool
  var pose: PoseReading
  /// `nil` unless there are nine finite numbers with focal lengths above zero.
  var intrinsics: Intrinsics?
  /// `nil` = unknown.
  var exposureSeconds: Double?
  var position: (latitude: Double, longitude: Double, accuracy: Double?, altitude: Double?)?
  /// Whether the file says that there is a position, and states none on earth.
  let isPositionLost: Bool
  /// The Unix time of the position fix; `nil` = not stated.
  var unixTime: Timestamp?
  /// The frame's number by its own word; `nil` if it has none.
  var statedIndex: Double?

  init(_ members: LooseJSON) {
    time = members.number("time").flatMap { Timestamp(decimalSeconds: $0) }
    statesTime = members.contains("time")
    pose = Self.pose(members.numbers(Self.poseKey))
    intrinsics = members.numbers("intrinsics").flatMap { rows in
      rows.count == 9 && rows.allSatisfy(\.isFinite)
        ? Intrinsics(usable: [rows[0], rows[4], rows[2], rows[5]]) : nil
    }
    // The app writes 0 for unknown.
    exposureSeconds = members.finite("exposureDuration").flatMap { $0 > 0 ? $0 : nil }
    position = Self.position(members)
    isPositionLost =
      members.flag("hasGPS") == true && Self.isPlaceLost(members, "latitude", "longitude")
    // 0 and years before the app existed are no time of a fix.
    unixTime = members.number("gpsTime").flatMap { Timestamp(decimalSeconds: $0) }.flatMap {
      $0.nanoseconds > Self.earliestFixNanoseconds ? $0 : nil
    }
    statedIndex = members.finite("frame_index")
  }

  /// 2010-01-01 in Unix time.
  private static let earliestFixNanoseconds: Int64 = 1_262_304_000_000_000_000

  /// Whether the first bytes of a file are an object with a pose.
  static func hasPose(_ head: [UInt8]) -> Bool {
    let text = TextBytes.utf8(head)
    return text.withUnsafeBytes { bytes in
      var depth = 0
      for token in LooseJSON.Tokens(bytes) {
        switch token.kind {
        case .open:
          if depth == 0, bytes[token.range.lowerBound] != UInt8(ascii: "{") { return false }
          depth += 1
        case .close: depth -= 1
        case .string where depth == 1:
          if bytes[token.range].elementsEqual("\"\(poseKey)\"".utf8) { return true }
        default: if depth == 0 { return false }
        }
      }
      return false
    }
  }

  /// From a row-major matrix, camera to world, in ARKit camera axes.
  private static func pose(_ rows: [Double]?) -> PoseReading {
    guard let rows, rows.count == 16 else { return .none }
    guard rows.allSatisfy(\.isFinite), rows[15] != 0 else { return .nonFinite }
    return PoseReading(rowMajor: rows)
  }

  /// Without `hasGPS`, both keys must be there and not both 0 (not confirmed on data of a device).
  private static func position(
    _ members: LooseJSON
  ) -> (latitude: Double, longitude: Double, accuracy: Double?, altitude: Double?)? {
    guard let place = place(members, "latitude", "longitude") else { return nil }
    let isMeasured = members.flag("hasGPS") ?? (place.latitude != 0 || place.longitude != 0)
    guard isMeasured else { return nil }
    let accuracy = members.finite("horizontalAccuracy").flatMap { $0 >= 0 ? $0 : nil }
    // An accuracy of 0 or less says that the altitude is not valid.
    let isHeightValid = members.finite("verticalAccuracy").map { $0 > 0 } ?? true
    return (
      place.latitude, place.longitude, accuracy, isHeightValid ? members.finite("altitude") : nil
    )
  }

  /// Whether both keys have values that are no latitude and longitude on earth; `null` is none.
  static func isPlaceLost(_ members: LooseJSON, _ latitude: String, _ longitude: String) -> Bool {
    [latitude, longitude].allSatisfy {
      members.text(of: $0).map { !$0.elementsEqual("null".utf8) } ?? false
    } && place(members, latitude, longitude) == nil
  }

  /// A latitude and a longitude on earth.
  static func place(
    _ members: LooseJSON, _ latitude: String, _ longitude: String
  ) -> (latitude: Double, longitude: Double)? {
    guard let latitude = members.finite(latitude), let longitude = members.finite(longitude),
      abs(latitude) <= 90, abs(longitude) <= 180
    else { return nil }
    return (latitude, longitude)
  }
}
