import Core
import SystemPackage

extension CaptureFamily {
  static let polycam = CaptureFamily("polycam")
}

/// Reads "raw data" exports of the iOS app Polycam: `keyframes/` with one camera, color, depth and
/// confidence file per frame, named by the frame's time in microseconds. Experimental.
///
/// Written from PolyCam/polyform and nerfstudio, without a real capture at hand. Not confirmed on
/// data of a device: that names are the uptime; the axes of `t_00` … `t_23` (row-major camera to
/// world, x right, y up, z toward the viewer); that `width` and `height` are those of the stored
/// picture; that depth and `images` are pixels of one camera; that `corrected_images` and
/// `corrected_cameras` are made from `images` and `cameras` afterwards, and so are not what was
/// recorded: they are read only in an export without the others.
public enum PolycamReader: CaptureReader {
  public static let readerVersion = 2
  public static let description: FamilyDescription = {
    var family = FamilyDescription(
      .polycam, title: "Polycam (experimental)",
      generations: [
        .init(PolycamGeneration.lidar.rawValue, mark: "keyframes/depth"),
        .init(PolycamGeneration.photo.rawValue, mark: "no keyframes/depth"),
      ],
      recognition:
        "experimental, not seen on data of a device: a folder whose "
        + "keyframes/cameras/<microseconds>.json (or corrected_cameras) has the key t_00, or that folder keyframes; "
        + "possibly keyframes/images, corrected_images or depth with pictures named by times")
    // The app chooses frames by motion.
    family.frameGapFactor = .infinity
    family.sensorName = "Polycam"
    return family
  }()

  /// How many camera files are looked into: the first may be damaged.
  private static let mostFilesLookedAt = 8
  /// Digits of the shortest time by which a picture alone is recognized: ten seconds after the device was started.
  private static let leastDigits = 8

  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    let isOuter = listing.subfolders.contains(PolycamFiles.outerName)
    let isInner = !isOuter && listing.folder.name == PolycamFiles.outerName
    let sources = PolycamFiles.Source.allCases
    guard
      isOuter || sources.contains(where: { listing.subfolders.contains($0.folder(of: .camera)) })
        || isInner
    else { return [] }
    let inner = isOuter ? listing.folder.appending(name: PolycamFiles.outerName) : listing.folder
    for source in sources {
      let folder = source.folder(of: .camera)
      guard
        let cameras = try? FolderListing(
          of: inner.appending(name: folder), inside: listing.folder),
        let name = cameras.files.lazy.filter({ !PolycamFiles.Kind.camera.files(of: [$0]).isEmpty })
          .prefix(mostFilesLookedAt)
          .first(where: { PolycamCamera.isOne(cameras.head(of: $0)) })
      else { continue }
      return recognition(of: listing, (.certain, "\(folder)/\(name) has the key t_00"))
    }
    // Cameras that are damaged or lost: the name of the folder, and pictures named by times.
    let pictures = sources.map { $0.folder(of: .color) } + [PolycamFiles.Kind.depth.folder]
    guard isOuter || isInner,
      let folder = pictures.first(where: { folder in
        let names =
          (try? FolderListing(of: inner.appending(name: folder), inside: listing.folder).files)
          ?? []
        return !NumberedFiles(names, endings: ["jpg", "jpeg", "png"], leastDigits: leastDigits)
          .isEmpty
      })
    else { return [] }
    return recognition(
      of: listing, (.possible, "\(PolycamFiles.outerName)/\(folder) with pictures named by times"))
  }

  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let tables = PolycamTables(try PolycamFiles(recognition.folder))
    return try PolycamCapture(
      tables: tables, frames: PolycamFrames(tables), warnings: WarningCollector()
    ).capture(
      id: recognition.id)
  }
}

/// The two kinds of exports.
enum PolycamGeneration: String {
  case lidar
  /// Without depth.
  case photo
}
