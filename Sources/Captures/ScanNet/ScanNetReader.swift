import Core
import SystemPackage

extension CaptureFamily {
  public static let scannet = CaptureFamily("scannet")
}

/// Reads captures of the ScanNet iPad app: a Structure Sensor's depth, a bare H.264 stream, IMU
/// records and camera settings. All files of a capture share a stem; a folder may have several
/// captures.
enum ScanNetReader: CaptureReader {
  static let readerVersion = 6
  static let description: FamilyDescription = {
    var family = FamilyDescription(
      .scannet, title: "ScanNet", generations: [.init("v1", mark: "the only one")],
      recognition:
        "a .depth file beside a .txt of the same stem that states depthWidth or the extrinsics; without it "
        + "possibly, beside a .h264 or .imu")
    family.motionGaps = .above(nanoseconds: ScanNetIMU.gapNanoseconds)
    family.cameraStatement = .once
    family.statesRegistration = true
    family.hasStructuredLight = true
    family.video = .bare
    // The name that ScanNet's own tools write.
    family.sensorName = "StructureSensor"
    family.fileContents = [
      ".txt": "metadata", ".depth": "depth", ".imu": "IMU", ".camera": "camera settings",
    ]
    family.namesFilesByStem = true
    return family
  }()

  /// Certain with depth and a `.txt` of this app, possible with depth and color or IMU. Other files
  /// in the folder are ignored.
  static func recognize(_ listing: FolderListing) -> [Recognition] {
    ScanNetFiles.stems(in: listing).flatMap { stem in
      recognition(of: listing, stem: stem, evidence(stem, listing))
    }
  }

  private static func evidence(_ stem: String, _ listing: FolderListing) -> Evidence? {
    let metadata = ScanNetMetadata(listing.head(of: "\(stem).txt"))
    let key = ["depthWidth", ScanNetMetadata.extrinsicsKey].first { metadata.text($0) != nil }
    if listing.contains("\(stem).txt"), let key {
      return (.certain, "\(stem).depth, and \(stem).txt with \(key)")
    }
    return ["h264", "imu"].first { listing.contains("\(stem).\($0)") }
      .map { (.possible, "\(stem).depth and \(stem).\($0)") }
  }

  static func role(of name: String, stem: String?) -> FileRole? {
    guard let stem, name.hasPrefix(stem) else { return nil }
    return switch name.dropFirst(stem.count) {
    case ".depth": FileRole([.depth])
    case ".txt": FileRole([.depth, .intrinsics])
    case ".h264": FileRole([.color])
    case ".imu": FileRole([.imu])
    case ".camera", ".cam": FileRole([.cameraSettings], isAlternative: true)
    default: nil
    }
  }

  /// Maps the files, walks the depth records, counts the pictures and reads the small tables.
  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let folder = recognition.folder
    let listing = try CaptureError.listing(folder)
    let files = ScanNetFiles(
      folder: folder, stem: recognition.stem ?? recognition.id, listing: listing)
    guard files.depth != nil || files.color != nil || files.imu != nil || files.camera != nil else {
      throw CaptureError(
        file: folder.appending(name: "\(files.stem).depth"),
        problem: "none of the capture's streams is there",
        remedy: "copy all files of the stem into one folder")
    }
    return ScanNetCapture(files).capture()
  }
}

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

/// The files of one capture: one stem, five endings.
struct ScanNetFiles {
  let folder: FilePath
  let stem: String
  private(set) var depth: FilePath?
  private(set) var metadata: FilePath?
  private(set) var color: FilePath?
  private(set) var imu: FilePath?
  private(set) var camera: FilePath?
  /// Names that are links out of the folder and therefore not read.
  private(set) var outside: [String] = []

  init(folder: FilePath, stem: String, listing: FolderListing) {
    self.folder = folder
    self.stem = stem
    depth = find(["depth"], in: listing)
    metadata = find(["txt"], in: listing)
    color = find(["h264"], in: listing)
    imu = find(["imu"], in: listing)
    // Some documents call the camera file `.cam`.
    camera = find(["camera", "cam"], in: listing)
  }

  /// Endings of files of a complete upload that are missing, or side files without content. `.depth` and `.h264` are
  /// unreadable then.
  var absentEndings: [String] {
    let sideFiles = [".txt", ".imu", ".camera"]
    let files: [(ending: String, path: FilePath?)] = [
      (".txt", metadata), (".depth", depth), (".h264", color), (".imu", imu), (".camera", camera),
    ]
    return files.filter { ending, path in
      guard let path else { return true }
      return sideFiles.contains(ending) && FileStamp(of: path)?.bytes == 0
    }
    .map(\.ending)
  }

  /// The stems with a depth file, without the resource forks of copies made on a Mac (`._name`).
  static func stems(in listing: FolderListing) -> [String] {
    listing.files.filter { $0.hasSuffix(".depth") && !$0.hasPrefix("._") }
      .map { String($0.dropLast(".depth".count)) }.filter { !$0.isEmpty }
  }

  private mutating func find(_ endings: [String], in listing: FolderListing) -> FilePath? {
    for ending in endings {
      let name = "\(stem).\(ending)"
      if listing.contains(name) { return folder.appending(name: name) }
      if listing.outside.contains(name) { outside.append(name) }
    }
    return nil
  }
}
