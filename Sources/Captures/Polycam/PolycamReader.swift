import Storage
import SystemPackage

extension CaptureFamily {
  public static let polycam = CaptureFamily("polycam")
}

/// Reads "raw data" exports of the iOS app Polycam: `keyframes/` with one camera, color, depth and
/// confidence file per frame, named by the frame's time in microseconds. Experimental.
///
/// Written from PolyCam/polyform and nerfstudio, without a real capture at hand. Not confirmed on
/// data of a device: that names are the uptime; the axes of `t_00` … `t_23` (row-major camera to
/// world, x right, y up, z toward the viewer); that `width` and `height` are those of the stored
/// picture; that depth and `images` are pixels of one camera; that `corrected_images` and
/// `corrected_cameras` are made from `images` and `cameras` afterwards, and so are not what was
/// recorded.
public enum PolycamReader: CaptureReader {
  public static let readerVersion = 1
  public static let description: FamilyDescription = {
    var family = FamilyDescription(
      .polycam, title: "Polycam (experimental)",
      generations: [
        .init(PolycamGeneration.lidar.rawValue, mark: "keyframes/depth"),
        .init(PolycamGeneration.photo.rawValue, mark: "no keyframes/depth"),
      ],
      recognition:
        "experimental, not seen on data of a device: a folder whose "
        + "keyframes/cameras/<microseconds>.json has the key t_00, or that folder keyframes")
    // The app chooses frames by motion.
    family.frameGapFactor = .infinity
    family.sensorName = "Polycam"
    return family
  }()

  /// How many camera files are looked into: the first may be damaged.
  private static let mostFilesLookedAt = 8

  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    let isInside = listing.subfolders.contains(PolycamFiles.Kind.camera.folder)
    guard isInside || listing.subfolders.contains(PolycamFiles.outerName) else { return [] }
    var path = listing.folder
    if !isInside { path = path.appending(name: PolycamFiles.outerName) }
    guard
      let cameras = try? FolderListing(
        of: path.appending(name: PolycamFiles.Kind.camera.folder), inside: listing.folder),
      let name = cameras.files.lazy.filter({ !PolycamFiles.Kind.camera.files(of: [$0]).isEmpty })
        .prefix(mostFilesLookedAt)
        .first(where: { PolycamCamera.isOne(cameras.head(of: $0)) })
    else { return [] }
    return [
      Recognition(
        family: family, certainty: .certain, folder: listing.folder,
        id: isInside && FolderName.of(listing.folder) == PolycamFiles.outerName
          ? FolderName.ofParent(of: listing.folder) : FolderName.of(listing.folder),
        reason: "\(PolycamFiles.Kind.camera.folder)/\(name) has the key t_00")
    ]
  }

  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let tables = PolycamTables(try PolycamFiles(recognition.folder))
    return try PolycamCapture(tables, PolycamFrames(tables), WarningCollector()).capture(
      id: recognition.id)
  }
}
