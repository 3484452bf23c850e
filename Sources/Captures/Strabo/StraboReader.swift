import FoundationEssentials
import Core
import SystemPackage

extension CaptureFamily {
  static let strabo = CaptureFamily("strabo")
}

/// Reads movies and stills of 2012 with a log of position and compass heading.
///
/// One folder per capture: `capture-info.json`, the media, a thumbnail and the geo data; all but
/// the first are named by a token. No IMU, no depth, no poses, no calibration.
public enum StraboReader: CaptureReader {
  public static let readerVersion = 3
  public static let description: FamilyDescription = {
    var family = FamilyDescription(
      .strabo, title: "Strabo",
      generations: [
        .init("v0", mark: "no such token, or a path in capture-info.json that has no folder"),
        .init(
          "v1",
          mark: "a token of 64 hexadecimal digits, and a folder in every path of capture-info.json"),
      ],
      recognition: "a folder with capture-info.json, a JSON object with media_type or geodata_file")
    // Frame times are those of positions, which jitter.
    family.frameGapFactor = .infinity
    // Named by the capture's token: position and heading.
    family.fileContents = ["*.json": "geo data"]
    return family
  }()

  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    guard listing.contains(StraboInfo.file) else { return [] }
    do throws(CaptureError) {
      let info = try StraboInfo(listing.folder)
      return info.isCapture
        ? recognition(of: listing, (.certain, "\(StraboInfo.file) with media_type or geodata_file"))
        : []
    } catch {
      // A damaged capture must be reported rather than skipped.
      return recognition(of: listing, (.possible, "\(StraboInfo.file): \(error.problem)"))
    }
  }

  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    try StraboCapture(recognition).capture()
  }
}
