import SystemPackage

extension CaptureFamily {
  static let vislam = CaptureFamily("vi-slam")
}

/// Reads sessions of one camera with inertial sensors: a video, `imu_data.csv` with one row per
/// sample, `frame_metadata.csv` with one row per camera frame.
///
/// No depth, no poses, no calibration. Table columns are found by name, whatever program wrote
/// them; times stay integers throughout.
public enum VISLAMReader: CaptureReader {
  public static let readerVersion = 3
  public static let description: FamilyDescription = {
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
    // Its real gaps are one and a half periods.
    family.frameGapFactor = 1.4
    family.fileContents = ["imu_data.csv": "IMU", "frame_metadata.csv": "frame times"]
    return family
  }()

  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    // Such a folder belongs to an app that also records poses.
    guard !PoseTable.isThere(in: listing) else { return [] }
    return recognition(
      of: listing,
      [imuReason(listing), frameReason(listing)].compactMap(\.self)
        .max { $0.certainty < $1.certainty })
  }

  public static func role(of name: String, stem: String?) -> FileRole? {
    switch name {
    case VISLAMFiles.imuFile: FileRole([.imu])
    case VISLAMFiles.siblingIMUFile: FileRole([.imu], isAlternative: true)
    case VISLAMFiles.frameFile: FileRole([.cameraSettings, .frames])
    // Contributes to the sign convention of the sensors.
    case VISLAMFiles.metadataFile: FileRole([.imu])
    default: VISLAMFiles.isMovie(name) ? FileRole([.color], isAlternative: true) : nil
    }
  }

  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let session = try VISLAMCapture(recognition)
    return try session.capture()
  }

  private static func imuReason(_ listing: FolderListing) -> Evidence? {
    let file = VISLAMFiles.imuFile
    guard listing.contains(file),
      let table = try? RowTable(
        listing.folder.appending(file), head: listing.head(of: file),
        ownOrder: VISLAMIMUColumns.ownOrder, isRow: VISLAMIMUColumns.isRow),
      table.hasContent
    else { return nil }
    guard table.hasHeader else { return (.possible, "\(file) without header, but with IMU rows") }
    let names = table.columns.keys
    guard names.contains(where: { $0.hasPrefix("timestamp") }),
      names.contains("sensor_type") || names.contains("accel_x")
    else { return nil }
    return (.certain, "\(file) with columns for time and sensors")
  }

  private static func frameReason(_ listing: FolderListing) -> Evidence? {
    let file = VISLAMFiles.frameFile
    guard listing.contains(file),
      let table = try? RowTable(
        listing.folder.appending(file), head: listing.head(of: file),
        ownOrder: VISLAMFrameTable.ownOrder, isRow: VISLAMFrameTable.isRow),
      table.hasContent
    else { return nil }
    guard table.hasHeader else { return (.possible, "\(file) without header, but with frame rows") }
    guard table.columns["frame_number"] != nil, table.columns["timestamp_ns"] != nil else {
      return nil
    }
    return (.certain, "\(file) with columns frame_number and timestamp_ns")
  }
}
