import SystemPackage

extension CaptureFamily {
  static let strayScanner = CaptureFamily("stray-scanner")
}

/// Reads captures of the iOS app Stray Scanner, and of apps built from its source: a folder with a
/// video, one depth and one confidence picture per frame, poses and motion as CSV.
///
/// The number in a file's name and in the column `frame` is the canonical index. The first picture
/// of the video is hidden by an edit list, which is ignored.
enum StrayScannerReader: CaptureReader {
  static let readerVersion = 9
  static let description: FamilyDescription = {
    var family = FamilyDescription(
      .strayScanner, title: "Stray Scanner",
      generations: [
        .init(
          StrayScannerGeneration.early.rawValue,
          mark: "odometry.csv of x, y, z, qx, qy, qz, qw alone (2021, versions 1.0 and 1.1)"),
        .init(StrayScannerGeneration.npy.rawValue, mark: "depth/*.npy (2021)"),
        .init(
          StrayScannerGeneration.png.rawValue,
          mark: "depth/*.png, accelerations of imu.csv in m/s² (2022)"),
        .init(
          StrayScannerGeneration.rawIMU.rawValue,
          mark: "depth/*.png, accelerations of imu.csv in g (2025)"),
        .init(
          StrayScannerGeneration.perFrameIntrinsics.rawValue,
          mark: "column fx in odometry.csv (2026)"),
      ],
      recognition:
        "a folder with odometry.csv that has the columns frame, qx, qy, qz and qw, or with a subfolder "
        + "depth beside rgb.mp4, camera_matrix.csv or an imu.csv with the column a_x")
    family.sensorName = "StrayScanner"
    family.fileContents = [
      StrayScannerFiles.odometryName: "poses", StrayScannerFiles.motionName: "IMU",
      StrayScannerFiles.matrixName: "camera matrix",
    ]
    return family
  }()

  static func recognize(_ listing: FolderListing) -> [Recognition] {
    recognition(of: listing, evidence(in: listing))
  }

  private static func evidence(
    in listing: FolderListing
  ) -> Evidence? {
    if RowTable.hasPoses(in: listing) {
      return (.certain, "\(RowTable.poseTable) has the columns frame, qx, qy, qz and qw")
    }
    guard listing.subfolders.contains(StrayScannerFiles.depthName) else { return nil }
    for name in [StrayScannerFiles.videoName, StrayScannerFiles.matrixName]
    where listing.contains(name) {
      return (.possible, "a subfolder depth beside \(name)")
    }
    guard
      RowTable.columns(of: StrayScannerFiles.motionName, in: listing).contains("a_x")
    else { return nil }
    return (.possible, "a subfolder depth beside imu.csv with the column a_x")
  }

  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let files = try StrayScannerFiles(recognition.folder)
    let warnings = WarningCollector()
    let tables = StrayScannerTables(files)
    let frames = StrayScannerFrames(tables)
    return try StrayScannerCapture(tables: tables, frames: frames, warnings: warnings).capture(
      id: recognition.id)
  }

  static func role(of name: String, stem: String?) -> FileRole? {
    switch name {
    case StrayScannerFiles.videoName: FileRole([.color])
    case StrayScannerFiles.odometryName: FileRole([.poses, .frames])
    case StrayScannerFiles.motionName: FileRole([.imu])
    // The columns of odometry.csv may replace it.
    case StrayScannerFiles.matrixName: FileRole([.intrinsics], isAlternative: true)
    default: nil
    }
  }
}

/// The layouts of the app's versions.
enum StrayScannerGeneration: String {
  /// 1.0 and 1.1: no times.
  case early
  case npy
  case png
  case rawIMU = "raw-imu"
  case perFrameIntrinsics = "per-frame-intrinsics"

  /// The first sign that applies decides.
  init(
    isEarly: Bool, hasIntrinsicsColumns: Bool, hasArrays: Bool, isMotionInGravities: Bool
  ) {
    if isEarly {
      self = .early
    } else if hasIntrinsicsColumns {
      self = .perFrameIntrinsics
    } else if hasArrays {
      self = .npy
    } else {
      self = isMotionInGravities ? .rawIMU : .png
    }
  }

  /// Whether the times of the video are real; from 2022 on they count frames.
  var hasRealVideoTimes: Bool { self == .npy }
  /// The versions of 2021 recorded depth alone, at first without motion.
  var writesConfidence: Bool { self != .npy && self != .early }
  var writesMotion: Bool { self != .npy && self != .early }
}
