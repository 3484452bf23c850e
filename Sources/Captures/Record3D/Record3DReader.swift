import Core
import Media
import SystemPackage

extension CaptureFamily {
  static let record3D = CaptureFamily("record3d")
}

/// Reads recordings of the iOS app Record3D with one file per picture: the app's own `.r3d` file, which
/// is a ZIP archive, the same unpacked, and the export "EXR + JPG".
///
/// The number in a file's name is the canonical index, and the index into the lists of the metadata.
/// Pictures, poses and intrinsics are portrait and belong together as stored.
enum Record3DReader: CaptureReader {
  static let readerVersion = 7
  static let description: FamilyDescription = {
    var family = FamilyDescription(
      .record3D, title: "Record3D",
      generations: [
        .init(Record3DGeneration.r3d.rawValue, mark: "one .r3d file"),
        .init(Record3DGeneration.folder.rawValue, mark: "an .r3d file, unpacked"),
        .init(Record3DGeneration.exr.rawValue, mark: "metadata.json, rgb/*.jpg, depth/*.exr"),
      ],
      recognition:
        "a ZIP file with metadata, rgbd/*.jpg or rgbd/*.depth in it; a folder with a subfolder rgbd "
        + "beside metadata or with *.depth in it; a folder with a subfolder rgb or depth beside a "
        + "metadata.json that has poses and K, or with rgb/<number>.jpg and depth/<number>.exr")
    family.video = .absent
    family.sensorName = "Record3D"
    family.fileContents = [
      Record3DGeneration.folder.metadataName: "poses, times, intrinsics",
      "*.depth": "depth", "*.exr": "depth", "*.conf": "confidence",
    ]
    return family
  }()

  /// A longer file may keep its keys behind this, and is then recognized by one of them.
  private static let headBytes = 32 << 20

  // MARK: Folders

  static func recognize(_ listing: FolderListing) -> [Recognition] {
    recognition(of: listing, evidence(in: listing))
  }

  private static func evidence(
    in listing: FolderListing
  ) -> Evidence? {
    if isUnpacked(listing) { return (.certain, "an unpacked .r3d file") }
    let form = Record3DGeneration.exr
    guard
      listing.subfolders.contains(form.colorFolder)
        || listing.subfolders.contains(form.depthFolder)
    else { return nil }
    if listing.contains(form.metadataName),
      hasKeys(listing.head(of: form.metadataName, limit: headBytes))
    {
      return (.certain, "\(form.metadataName) has poses and K")
    }
    // The metadata is damaged or lost: no other app writes such pictures beside each other.
    let pictures = [
      (form.colorFolder, Record3DGeneration.colorEnding), (form.depthFolder, form.depthEnding),
    ]
    guard
      pictures.allSatisfy({ folder, ending in
        !NumberedFiles(listing.names(in: folder), endings: [ending], leastDigits: 1).isEmpty
      })
    else { return nil }
    return (.possible, "\(form.colorFolder)/<number>.jpg and \(form.depthFolder)/<number>.exr")
  }

  /// Whether a folder is an unpacked `.r3d` file.
  static func isUnpacked(_ listing: FolderListing) -> Bool {
    let form = Record3DGeneration.folder
    guard listing.subfolders.contains(form.colorFolder) else { return false }
    if listing.contains(form.metadataName) { return true }
    let names = listing.names(in: form.depthFolder)
    return !NumberedFiles(names, endings: [form.depthEnding], leastDigits: 1).isEmpty
  }

  /// Whether the outermost object has the keys `poses` and `K`.
  private static func hasKeys(_ head: [UInt8]) -> Bool {
    let bytes = TextBytes.utf8(head)
    let wanted = ["\"poses\"", "\"K\""].map { Array($0.utf8) }
    var found = [false, false]
    bytes.withUnsafeBytes { bytes in
      var depth = 0
      var last: LooseJSON.Tokens.Token?
      for token in LooseJSON.Tokens(bytes) {
        switch token.kind {
        case .open: depth += 1
        case .close: depth -= 1
        case .colon:
          guard depth == 1, let last, last.kind == .string else { break }
          for (index, key) in wanted.enumerated() where bytes[last.range].elementsEqual(key) {
            found[index] = true
          }
        default: break
        }
        if found == [true, true] { break }
        last = token
      }
    }
    return found == [true, true] || head.count == headBytes && found.contains(true)
  }

  // MARK: Files

  /// How many entries are looked at in an archive whose directory is lost.
  private static let entriesOfCut = 64
  private static let bytesOfCut = 4 << 20
  private static let bytesOfDirectory = 64 << 20
  private static let endings = [".r3d", ".zip"]

  /// Endings of the many files that are something else: they are opened only when a user names them.
  private static let otherEndings: Set<String> = [
    "arkit", "avi", "cam", "camera", "conf", "confidence", "crdownload", "csv", "db", "depth",
    "dng",
    "exr", "filepart", "gif", "glb", "gltf", "gz", "h264", "h265", "heic", "html", "imu", "ini",
    "jpeg", "jpg", "json", "las", "laz", "log", "lz4", "m4a", "m4v", "md", "mkv", "mov", "mp3",
    "mp4",
    "mtl", "npy", "npz", "obj", "part", "partial", "pcd", "pdf", "plist", "ply", "png", "py",
    "sens",
    "sh", "sqlite", "stl", "tar", "tgz", "tif", "tiff", "tmp", "toml", "tsv", "txt", "usdz", "wav",
    "webp", "xml", "xz", "yaml", "yml", "zlib", "zst",
  ]

  static func mayBeCapture(fileName: String) -> Bool {
    if fileName.utf8.first == UInt8(ascii: ".") { return false }
    guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")) else { return true }
    return !otherEndings.contains(fileName[fileName.index(after: dot)...].lowercased())
  }

  static func isCalledLikeCapture(fileName: String) -> Bool {
    if fileName.utf8.first == UInt8(ascii: ".") { return false }
    let name = fileName.lowercased()
    return endings.contains { name.hasSuffix($0) }
  }

  static func recognize(file: InputFile) throws(FileError) -> Recognition? {
    let head = try file.head(4)
    guard head == [0x50, 0x4B, 3, 4] || head == [0x50, 0x4B, 5, 6] else { return nil }
    let entries =
      ZIPDirectory(file, mostBytes: bytesOfDirectory)?.entries
      ?? ZIPLocalWalk(file, mostEntries: entriesOfCut, mostSearched: bytesOfCut).entries
    guard let folder = Record3DGeneration.recording(in: entries) else { return nil }
    return Recognition(
      family: family, certainty: .certain, file: file.path, id: name(ofFile: file.path),
      reason: "a ZIP file with metadata or pictures in rgbd"
        + (folder.isEmpty ? "" : ", in its only folder \(PathText.shown(folder))"))
  }

  private static func name(ofFile path: FilePath) -> String {
    let name = path.name ?? path.text
    let ending = endings.first {
      name.lowercased().hasSuffix($0) && name.utf8.count > $0.utf8.count
    }
    return ending.map { String(name.dropLast($0.count)) } ?? name
  }

  // MARK: Opening

  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let files =
      recognition.isFile
      ? try Record3DFiles.archive(recognition.path) : try Record3DFiles.folder(recognition.path)
    let warnings = WarningCollector()
    let tables = Record3DTables(files)
    let frames = Record3DFrames(tables)
    return try Record3DCapture(tables: tables, frames: frames, warnings: warnings).capture(
      id: recognition.id)
  }

  static func role(of name: String, stem: String?) -> FileRole? {
    switch name {
    case Record3DGeneration.folder.metadataName, Record3DGeneration.exr.metadataName:
      FileRole([.frames, .poses, .intrinsics])
    default: nil
    }
  }
}

/// The forms of a recording.
enum Record3DGeneration: String {
  /// The app's own file.
  case r3d
  /// An unpacked `.r3d`.
  case folder = "r3d-folder"
  /// The app's export "EXR + JPG".
  case exr

  var metadataName: String { self == .exr ? "metadata.json" : "metadata" }
  /// The folder of color pictures.
  var colorFolder: String { self == .exr ? "rgb" : "rgbd" }
  /// The folder of depth and confidence.
  var depthFolder: String { self == .exr ? "depth" : "rgbd" }
  var depthEnding: String { self == .exr ? "exr" : "depth" }

  static let colorEnding = "jpg"
  static let confidenceEnding = "conf"

  /// The folder, with a slash, in which an archive holds a recording: the only one where it was packed again, empty as the
  /// app writes it. `nil`: it holds none.
  static func recording(in entries: [ZIPEntry]) -> String? {
    let folder = innerFolder(of: entries)
    let isThere = entries.contains { entry in
      let name = String(decoding: entry.name, as: UTF8.self)
      guard entry.hostility == nil, name.hasPrefix(folder) else { return false }
      let inner = name.dropFirst(folder.count)
      // One in many other archives holds something called so in a folder.
      return isPicture(inner) || folder.isEmpty && inner == r3d.metadataName
    }
    return isThere ? folder : nil
  }

  /// The only folder of an archive in which everything lies, with a slash; empty if there is none. What macOS and
  /// servers add does not count.
  static func innerFolder(of entries: [ZIPEntry]) -> String {
    var folder: Substring?
    for entry in entries where entry.hostility == nil {
      let name = String(decoding: entry.name, as: UTF8.self)
      let parts = name.split(separator: "/", maxSplits: 1)
      guard let first = parts.first, first != "__MACOSX",
        parts.last.map({ !IgnoredFiles.contains(String($0)) }) ?? true
      else { continue }
      // The app's own archive.
      guard name.utf8.contains(UInt8(ascii: "/")), first != r3d.colorFolder,
        folder ?? first == first
      else { return "" }
      folder = first
    }
    return folder.map { $0 + "/" } ?? ""
  }

  private static func isPicture(_ name: Substring) -> Bool {
    guard name.hasPrefix(r3d.colorFolder + "/") else { return false }
    let inner = String(name.dropFirst(r3d.colorFolder.count + 1))
    return !NumberedFiles([inner], endings: [colorEnding, r3d.depthEnding], leastDigits: 1).isEmpty
  }
}
