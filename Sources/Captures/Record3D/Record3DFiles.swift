import Core
import Media
import SystemPackage

/// The files of a recording by role. Listed, not opened.
struct Record3DFiles {
  let generation: Record3DGeneration
  /// The recording: a folder, or an `.r3d` file.
  let path: FilePath
  let entries: any Record3DEntries
  /// The archive, if the recording is one.
  let archive: Record3DArchive?
  /// Absent without files whose number is believed or not.
  let color: StreamState<StoredPictureFiles>
  let depth: StreamState<StoredPictureFiles>
  let confidence: StreamState<StoredPictureFiles>
  /// Names in the recording's folder that are links out of it.
  let outside: [String]
  /// Number of pictures that are links out of the recording's folder, by stream.
  let outsidePictures: [(stream: String, count: Int)]

  /// An unpacked recording, or an export.
  static func folder(_ path: FilePath) throws(CaptureError) -> Record3DFiles {
    let listing = try CaptureError.listing(path)
    let generation = Record3DReader.isUnpacked(listing) ? Record3DGeneration.folder : .exr
    let folder = Record3DFolder(
      listing, subfolders: [generation.colorFolder, generation.depthFolder])
    return Record3DFiles(generation, path, folder, in: folder, nil)
  }

  /// An `.r3d` file.
  static func archive(_ path: FilePath) throws(CaptureError) -> Record3DFiles {
    let archive = try Record3DArchive(path)
    return Record3DFiles(.r3d, path, archive, in: nil, archive)
  }

  private init(
    _ generation: Record3DGeneration, _ path: FilePath, _ entries: any Record3DEntries,
    in folder: Record3DFolder?, _ archive: Record3DArchive?
  ) {
    self.generation = generation
    self.path = path
    self.entries = entries
    self.archive = archive
    let (colorFolder, depthFolder) = (generation.colorFolder, generation.depthFolder)
    let kinds: [(stream: String, folder: String, ending: String)] = [
      ("color", colorFolder, Record3DGeneration.colorEnding),
      ("depth", depthFolder, generation.depthEnding),
      // The export has none.
      (
        "confidence", depthFolder, generation == .exr ? "" : Record3DGeneration.confidenceEnding
      ),
    ]
    let found = kinds.map {
      NumberedFiles(entries.names(in: $0.folder), endings: [$0.ending], leastDigits: 1)
    }
    // Names tell how large a number can be.
    let most = NumberedFiles.mostBelieved(records: found.reduce(0) { $0 + $1.files.count })
    let states = zip(kinds, found).map {
      kind, files -> StreamState<StoredPictureFiles> in
      if let problem = folder?.problems[kind.folder] { return .unreadable(problem) }
      return files.isEmpty
        ? .absent("no \(kind.stream) files in \(kind.folder)")
        : .present(
          StoredPictureFiles(
            files.believing(upTo: most), entries, folder: kind.folder,
            limit: InputLimits.bytesOfRecord3DPicture))
    }
    (color, depth, confidence) = (states[0], states[1], states[2])
    outside =
      folder?.outside(in: "").filter {
        [colorFolder, depthFolder, generation.metadataName].contains($0)
      } ?? []
    outsidePictures = kinds.map { kind in
      let names = folder?.outside(in: kind.folder) ?? []
      let files = NumberedFiles(names, endings: [kind.ending], leastDigits: 1)
      return (kind.stream, files.files.count)
    }
  }

  var hasMetadata: Bool { entries.names(in: "").contains(generation.metadataName) }
  var metadataPath: FilePath { entries.path(of: generation.metadataName) }

  /// The stream of a doubled entry; `nil` for entries that are not read.
  func stream(ofEntry name: String) -> String? {
    if name == generation.metadataName { return "metadata" }
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 2, parts[0] == generation.colorFolder else { return nil }
    let endings = [
      ("color", Record3DGeneration.colorEnding), ("depth", generation.depthEnding),
      ("confidence", Record3DGeneration.confidenceEnding),
    ]
    return endings.first {
      !NumberedFiles([parts[1]], endings: [$0.1], leastDigits: 1).isEmpty
    }?.0
  }
}

/// The files of an unpacked recording. Listed, not opened.
struct Record3DFolder: Record3DEntries {
  let folder: FilePath
  /// Names by folder.
  private let listings: [String: FolderListing]
  /// Why a subfolder cannot be listed.
  let problems: [String: CaptureError]

  init(_ listing: FolderListing, subfolders: [String]) {
    folder = listing.folder
    var listings = ["": listing]
    var problems: [String: CaptureError] = [:]
    for name in subfolders where listing.subfolders.contains(name) {
      let path = listing.folder.appending(name: name)
      do throws(FileError) {
        listings[name] = try FolderListing(of: path, inside: listing.folder)
      } catch {
        problems[name] = CaptureError(error, of: path)
      }
    }
    self.listings = listings
    self.problems = problems
  }

  func names(in folder: String) -> [String] { listings[folder]?.files ?? [] }

  /// Names that are links out of the recording; not followed.
  func outside(in folder: String) -> [String] { listings[folder]?.outside ?? [] }

  func path(of name: String) -> FilePath {
    guard let slash = name.firstIndex(of: "/") else { return folder.appending(name: name) }
    return folder.appending(name: String(name[..<slash]))
      .appending(name: String(name[name.index(after: slash)...]))
  }

  func content(of name: String, limit: InputLimit) throws(CaptureError) -> StoredBytes {
    let path = path(of: name)
    do throws(FileError) {
      let file = try InputFile(path)
      if let problem = limit.problem(file.count) {
        return .none(
          FrameIssue(code: .corruptRecord, message: "\(PathText.shown(name)): \(problem)"))
      }
      return .bytes(try file.head(file.count))
    } catch {
      throw CaptureError(error, of: path)
    }
  }
}
