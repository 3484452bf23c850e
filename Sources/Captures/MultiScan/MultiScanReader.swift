import Core
import SystemPackage

extension CaptureFamily {
  public static let multiscan = CaptureFamily("multiscan")
}

/// Reads captures of the MultiScan apps for iOS and Android: one set of files with a common stem, the
/// scan id, which is also the capture's id.
public enum MultiScanReader: CaptureReader {
  public static let readerVersion = 4
  public static let description: FamilyDescription = {
    var family = FamilyDescription(
      .multiscan, title: "MultiScan",
      generations: MultiScanGeneration.allCases.map { .init($0.rawValue, mark: $0.mark) },
      recognition:
        "files of one stem: a .json or .txt that describes the streams of a recording, camera info (.jsonl) "
        + "beside .depth.zlib or .confidence.zlib, or a motion file (.rot .acce .mag .atti .grav)")
    family.cameraStatement = .onceWithoutPoses
    family.fileContents = [
      ".json": "metadata", ".txt": "metadata", ".depth.zlib": "depth",
      ".confidence.zlib": "confidence", ".jsonl": "camera info",
      "-secondary.mp4": "second video", ".rot": "rotation rates (.rot)",
      ".acce": "accelerations (.acce)", ".mag": "magnetometer (.mag)", ".atti": "attitude (.atti)",
      ".grav": "gravity (.grav)",
    ]
    family.namesFilesByStem = true
    return family
  }()

  public static func role(of name: String, stem: String?) -> FileRole? {
    guard let stem, name.hasPrefix(stem) else { return nil }
    switch name.dropFirst(stem.count) {
    case ".depth.zlib": return FileRole([.depth])
    case ".confidence.zlib": return FileRole([.confidence])
    case ".jsonl": return FileRole([.poses, .cameraSettings])
    case ".mp4", "-primary.mp4": return FileRole([.color], isAlternative: true)
    case ".json", ".txt": return FileRole([.depth, .intrinsics, .geo], isAlternative: true)
    case let ending where MultiScanMotionKind.allCases.contains { ".\($0)" == ending }:
      return FileRole([.imu])
    default: return nil
    }
  }

  /// Opens the files with `recognition`'s stem.
  ///
  /// Side files are parsed completely and the video is indexed. Depth and confidence are inflated
  /// once in constant memory, because their number of frames is not known otherwise; this takes
  /// most of the time.
  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let listing: FolderListing
    do throws(FileError) {
      listing = try FolderListing(of: recognition.folder)
    } catch {
      throw CaptureError(reasonOf: error, at: recognition.folder)
    }
    let files = MultiScanFiles.set(stem: recognition.stem ?? recognition.id, in: listing)
    let contents = try MultiScanTables(of: files)
    var capture = MultiScanCapture(contents, warnings: WarningCollector()).capture()
    capture.warn(
      ofLinksOutside: listing.outside.filter { MultiScanFiles.isOwn($0, stem: files.stem) })
    return capture
  }
}
