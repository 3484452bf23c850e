import Captures
import Core
import SystemPackage

extension CaptureFamily {
  public static let toy = CaptureFamily("toy")
}

/// A family that only tests know: a folder with `toy.json`, made by `ToyScene`.
///
/// Written as a family is meant to be: reader, files, tables, frames, capture. Nothing outside of this module
/// and of the registry that a test makes knows of it.
public enum ToyReader: CaptureReader {
  public static let readerVersion = 1
  public static let description: FamilyDescription = {
    var family = FamilyDescription(
      .toy, title: "Toy", generations: [.init("t1", mark: "the only one")],
      recognition: "a folder with toy.json")
    family.frameGapFactor = 4
    family.sensorName = "ToySensor"
    family.fileContents = [ToyFiles.depthName: "toy depth"]
    return family
  }()

  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    guard listing.contains(ToyFiles.headerName) else { return [] }
    return [
      Recognition(
        family: family, certainty: .certain, folder: listing.folder,
        id: listing.folder.name ?? "toy", reason: "holds \(ToyFiles.headerName)")
    ]
  }

  public static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let files = try ToyFiles(recognition.folder)
    let tables = try ToyTables(files)
    return ToyCapture(files, tables, ToyFrames(files, tables)).capture(id: recognition.id)
  }

  public static func role(of name: String, stem: String?) -> FileRole? {
    switch name {
    case ToyFiles.depthName: FileRole([.depth])
    case ToyFiles.motionName: FileRole([.imu])
    default: nil
    }
  }
}
