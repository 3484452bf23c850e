import Core
import SystemPackage

extension CaptureFamily {
  public static let scannet = CaptureFamily("scannet")
}

/// Reads captures of the ScanNet iPad app: a Structure Sensor's depth, a bare H.264 stream, IMU
/// records and camera settings. All files of a capture share a stem; a folder may have several
/// captures.
public enum ScanNetReader: CaptureReader {
  public static let readerVersion = 4
  public static let description: FamilyDescription = {
    var family = FamilyDescription(
      .scannet, title: "ScanNet", generations: [.init("v1", mark: "the only one")],
      recognition:
        "a .depth file beside a .txt of the same stem that states depthWidth or the extrinsics; without it "
        + "possibly, beside a .h264 or .imu")
    family.motionGaps = .above(nanoseconds: ScanNetIMU.gapNanoseconds)
    family.cameraStatement = .once
    family.statesRegistration = true
    family.hasStructuredLight = true
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
  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    ScanNetFiles.stems(in: listing).compactMap { stem in
      let certainty: Recognition.Certainty
      let reason: String
      let metadata = ScanNetMetadata(listing.head(of: "\(stem).txt"))
      let key = ["depthWidth", ScanNetKeys.extrinsics].first { metadata.text($0) != nil }
      if listing.contains("\(stem).txt"), let key {
        (certainty, reason) = (.certain, "\(stem).depth, and \(stem).txt with \(key)")
      } else if let other = ["h264", "imu"].first(where: { listing.contains("\(stem).\($0)") }) {
        (certainty, reason) = (.possible, "\(stem).depth and \(stem).\(other)")
      } else {
        return nil
      }
      return Recognition(
        family: family, certainty: certainty, folder: listing.folder, stem: stem,
        reason: reason)
    }
  }

  public static func role(of name: String, stem: String?) -> FileRole? {
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
  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let folder = recognition.folder
    let listing: FolderListing
    do {
      listing = try FolderListing(of: folder)
    } catch {
      throw CaptureError(reasonOf: error, at: folder)
    }
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
