import Core
import SystemPackage

/// The files of one capture: one stem, five endings.
struct ScanNetFiles: Sendable {
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

  /// Endings of missing files of a complete upload.
  var absentEndings: [String] {
    [
      (".txt", metadata), (".depth", depth), (".h264", color), (".imu", imu), (".camera", camera),
    ].filter { $0.1 == nil }.map(\.0)
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
