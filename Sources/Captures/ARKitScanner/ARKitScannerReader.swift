import Core
import SystemPackage

extension CaptureFamily {
  static let arkitScanner = CaptureFamily("arkit-scanner")
}

/// Reads the captures of ARKit-Scanner in all its generations, and the `iphone` folder of released
/// ScanNet++ scenes: one flat folder per capture.
enum ARKitScannerReader: CaptureReader {
  static let readerVersion = 9
  static let description: FamilyDescription = {
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
      "_trans.xml": "poses", "pose_intrinsic_imu.json": "poses", "intri.json": "intrinsics",
      "imu.json": "IMU", "offset.json": "camera settings", "exif.json": "camera settings",
    ]
    return family
  }()

  static func role(of name: String, stem: String?) -> FileRole? {
    ARKitScannerFiles.role(of: name)
  }

  /// Opens the folder of `recognition`.
  ///
  /// Side tables are parsed completely, depth records are located without decoding, the video is
  /// indexed. Only a depth file that is one DEFLATE stream is inflated, once and in constant
  /// memory, because its number of frames is not known otherwise.
  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let listing = try CaptureError.listing(recognition.folder)
    if let name = listing.files.first(where: Self.isFirstLayout), !Self.isRecognized(listing) {
      throw CaptureError(
        file: recognition.folder.appending(name),
        problem:
          "the layout of 2022-10-12, one depth file and one picture per frame, is not supported",
        correction: "convert it with the app's own scripts of that time")
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

extension ARKitScannerReader {
  /// Recognizes one capture if the folder has a file name that only this app uses, or a file
  /// `depth` with the content of a depth file.
  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    recognition(of: listing, evidence(listing))
  }

  private static func evidence(_ listing: FolderListing) -> Evidence? {
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
    if let file = listing.file("depth"), ARKitScannerDepthLayout.holdsDepth(file) {
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
}

/// The app's files that a folder holds.
struct ARKitScannerFiles {
  let listing: FolderListing
  /// The file with depth records, if any.
  let depthFile: String?
  /// The video, if any. Its name does not determine its container.
  let videoFile: String?
  /// Names of the per-frame property lists `<t>_trans.xml` of the first two generations.
  let poseLists: [String]
  /// Names of files of keys and settings that have 0 bytes: they count as absent.
  private(set) var emptyFiles: Set<String> = []

  static let releasePoses = "pose_intrinsic_imu.json"
  private static let depthNames = [
    "depth.bin", "depthBufferSequence.bin", "depthBufferSequence", "depth",
  ]

  init(_ listing: FolderListing) {
    self.listing = listing
    depthFile = Self.depthNames.first(where: listing.contains)
    poseLists = listing.files.filter { Self.key(in: $0, before: "_trans.xml") != nil }
    let videoNames =
      if listing.contains(Self.releasePoses) {
        ["rgb.mkv", "rgb.mp4", "video.mp4"]
      } else if !poseLists.isEmpty {
        ["video.mp4", "rgb.mp4", "rgb.mkv"]
      } else {
        ["rgb.mp4", "video.mp4", "rgb.mkv"]
      }
    videoFile = videoNames.first(where: listing.contains)
  }

  var path: FilePath { listing.folder }
  var isRelease: Bool { listing.contains(Self.releasePoses) }
  var hasDepthBufferSequence: Bool { depthFile?.hasPrefix("depthBufferSequence") ?? false }
  /// Whether this generation has one property list per frame and value.
  var usesPropertyLists: Bool {
    !poseLists.isEmpty || (hasDepthBufferSequence && !has("trans.json"))
  }

  /// Whether a file is there, with content where that has been looked at (`lookAtSizes`).
  func has(_ name: String) -> Bool { listing.contains(name) && !emptyFiles.contains(name) }
  /// `imu.json is empty` or `no imu.json`, of a file that is not there.
  func absence(of name: String) -> String {
    emptyFiles.contains(name) ? "\(name) is empty" : "no \(name)"
  }
  /// `is empty` or `is not there`.
  func lack(of name: String) -> String { emptyFiles.contains(name) ? "is empty" : "is not there" }

  /// Finds the empty files. The app writes these when it stops, each at once; `exif.json` grows while it records.
  mutating func lookAtSizes() {
    emptyFiles = Set(Self.filesWrittenAtOnce.filter { listing.contains($0) && listing.isEmpty($0) })
  }

  private static let filesWrittenAtOnce = [
    releasePoses, "trans.json", "intri.json", "intri.xml", "offset.json", "imu.json",
    "metadata.json",
  ]

  func path(of name: String) -> FilePath { path.appending(name: name) }

  /// Files named `<decimal number><suffix>`, with the text of the number.
  func files(endingIn suffix: String) -> [(name: String, key: String)] {
    listing.files.compactMap { name in
      Self.key(in: name, before: suffix).map { (name, $0) }
    }
  }

  /// The parts of a capture that a file belongs to, by its name.
  static func role(of name: String) -> FileRole? {
    switch name {
    case releasePoses: return FileRole([.poses, .intrinsics, .imu])
    case "trans.json": return FileRole([.poses])
    case "intri.json", "intri.xml": return FileRole([.intrinsics])
    case "offset.json", "exif.json": return FileRole([.cameraSettings])
    case "imu.json": return FileRole([.imu])
    case "metadata.json": return FileRole([.depth, .intrinsics])
    case "rgb.mp4", "rgb.mkv", "video.mp4": return FileRole([.color], isAlternative: true)
    default: break
    }
    if depthNames.contains(name) { return FileRole([.depth], isAlternative: true) }
    let lists: [(String, CapturePart)] = [
      ("_trans.xml", .poses), ("_offset.txt", .cameraSettings), ("_imu.xml", .imu),
    ]
    return lists.first { key(in: name, before: $0.0) != nil }.map { FileRole([$0.1]) }
  }

  /// Whether the name is one that the app uses.
  static func isOwn(_ name: String) -> Bool { role(of: name) != nil }

  /// The decimal number before `suffix` in `name`; `nil` for anything else.
  static func key(in name: String, before suffix: String) -> String? {
    guard name.hasSuffix(suffix) else { return nil }
    let text = String(name.dropLast(suffix.count))
    return Timestamp(arkitKey: text) == nil ? nil : text
  }
}

/// The app's file layouts over time, by their names in `capture.json`.
enum ARKitScannerGeneration: String, CaseIterable {
  case g1, g2a, g2b, g2c, g3, g4, g5, g6, scannetpp

  /// Determines the generation by its marks. If several fit, the latest, since later generations
  /// drop marks.
  init(
    _ folder: ARKitScannerFiles, metadata: ARKitScannerMetadata?, keysAreTimes: Bool,
    layout: ARKitScannerDepthLayout.Kind?
  ) {
    let hasExposureMarks =
      metadata?.hasExposureKeys ?? false
      || folder.has("exif_ShutterSpeedValue.json") || folder.has("exif_BrightnessValue.json")
    if folder.isRelease {
      self = .scannetpp
    } else if folder.usesPropertyLists {
      self =
        switch (folder.depthFile, layout) {
        case ("depthBufferSequence.bin", _): .g1
        case ("depthBufferSequence", _), (_, .deflateStream): .g2a
        default: .g1
        }
    } else if folder.has("exif.json") {
      self = .g6
    } else if metadata?.isFirstVersion ?? (folder.depthFile == "depth") {
      self = .g2b
    } else if folder.has("intri.json") || keysAreTimes {
      if case .framed(_, first: .deflate) = layout {
        self = .g4
      } else {
        self = hasExposureMarks ? .g5 : .g6
      }
    } else {
      switch layout {
      case .framed(_, first: .lz4): self = hasExposureMarks ? .g5 : .g6
      case .framed: self = .g3
      case .deflateStream, .raw: self = .g2c
      case nil: self = metadata?.hasMisspelledMatrix ?? false ? .g2c : .g3
      }
    }
  }

  /// A phrase for people about how the generation is recognized.
  var mark: String {
    switch self {
    case .g1: "poses in files <time>_trans.xml; uncompressed depthBufferSequence.bin"
    case .g2a: "poses in files <time>_trans.xml; depthBufferSequence, one DEFLATE stream"
    case .g2b: "trans.json keyed by frame number; a depth file that is called depth"
    case .g2c: "trans.json keyed by frame number; depth.bin, one DEFLATE stream"
    case .g3: "trans.json keyed by frame number; depth.bin, one DEFLATE block per frame"
    case .g4: "trans.json keyed by time and intri.json; depth.bin, one DEFLATE block per frame"
    case .g5: "as g4 with LZ4 blocks, and exif_*.json or exposure_duration in metadata.json"
    case .g6: "exif.json; or as g5 without the marks of exposure"
    case .scannetpp: "pose_intrinsic_imu.json: the iphone folder of a released ScanNet++ scene"
    }
  }

  /// Whether intrinsics are in a separate file with one matrix per frame.
  var writesIntrinsicsFile: Bool { [.g4, .g5, .g6].contains(self) }
  /// Whether `metadata.json` has the intrinsics.
  var statesIntrinsics: Bool { [.g2b, .g2c, .g3].contains(self) }

  /// The video's file name in this generation.
  var videoName: String {
    switch self {
    case .g1, .g2a: "video.mp4"
    case .g2b, .g2c, .g3, .g4, .g5, .g6: "rgb.mp4"
    case .scannetpp: "rgb.mkv"
    }
  }

  /// The depth file's name in this generation.
  var depthName: String {
    switch self {
    case .g1: "depthBufferSequence.bin"
    case .g2a: "depthBufferSequence"
    case .g2b: "depth"
    case .g2c, .g3, .g4, .g5, .g6, .scannetpp: "depth.bin"
    }
  }

  /// The pose file's name in this generation; with one file per pose, the suffix.
  var poseName: String {
    switch self {
    case .g1, .g2a: "_trans.xml"
    case .g2b, .g2c, .g3, .g4, .g5, .g6: "trans.json"
    case .scannetpp: ARKitScannerFiles.releasePoses
    }
  }

  /// Whether the app writes `metadata.json`, which released scenes do not have.
  var writesMetadata: Bool { ![.g1, .g2a, .scannetpp].contains(self) }

  /// Whether `exif.json` is written while recording.
  var writesExif: Bool { self == .g6 || self == .scannetpp }
}
