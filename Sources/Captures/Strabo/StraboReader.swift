import Core
import FoundationEssentials
import SystemPackage

extension CaptureFamily {
  static let strabo = CaptureFamily("strabo")
}

/// Reads movies and stills of 2012 with a log of position and compass heading.
///
/// One folder per capture: `capture-info.json`, the media, a thumbnail and the geo data; all but
/// the first are named by a token. No IMU, no depth, no poses, no calibration.
enum StraboReader: CaptureReader {
  static let readerVersion = 3
  static let description: FamilyDescription = {
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

  static func recognize(_ listing: FolderListing) -> [Recognition] {
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

  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    try StraboCapture(recognition).capture()
  }
}

/// The files of a capture's folder, by its description or by their usual names.
///
/// A path in the description may consist of the parent folder, the token or the folder's own name,
/// and a file name. The resolved file must be inside the capture's folder. Other paths are treated
/// as absent, and the usual names are tried.
struct StraboFiles {
  private static let movieExtensions: Set<String> = ["mov", "mp4", "m4v"]
  private static let stillExtensions: Set<String> = ["jpg", "jpeg", "png", "tif", "tiff", "heic"]

  private(set) var media: FilePath?
  private(set) var geo: FilePath?
  private(set) var thumbnail: FilePath?
  /// The errors of what has the name of a missing file, by key.
  private(set) var problems: [StraboFileKey: CaptureError] = [:]

  /// Keys of files of 0 bytes, which count as absent.
  private var empty: Set<StraboFileKey> = []

  private let folder: FilePath
  /// `folder`, held open.
  private let root: EnclosedFolder?
  private let info: StraboInfo
  private let warnings: WarningCollector

  init(_ folder: FilePath, _ info: StraboInfo, _ warnings: WarningCollector) {
    self.folder = folder
    root = try? EnclosedFolder(folder)
    self.info = info
    self.warnings = warnings
    thumbnail = find(.thumbnail)
    geo = find(.geo)
    media = findMedia()
    (geo, thumbnail) = (withContent(geo, .geo), withContent(thumbnail, .thumbnail))
    for (key, path) in [
      (StraboFileKey.media, media), (.geo, geo), (.thumbnail, thumbnail),
    ] where path == nil && problems[key] == nil && !empty.contains(key) {
      warnings.add(.missingFile, key.rawValue, "no file under the named or a usual name")
    }
  }

  /// Names of the media and the geo file in the description that do not exist, or that are empty geo files.
  var absentNames: [String] {
    var absent: [String] = []
    if media == nil, problems[.media] == nil {
      let usual = usualNames(.media)
      absent.append(
        acceptedName(of: .media) ?? (info.mediaType == .image ? usual.last : usual.first)
          ?? StraboFileKey.media.rawValue)
    }
    if geo == nil, problems[.geo] == nil {
      absent.append(acceptedName(of: .geo) ?? usualNames(.geo).first ?? StraboFileKey.geo.rawValue)
    }
    return absent
  }

  /// The file name of a key, without reporting a rejected one.
  private func acceptedName(of key: StraboFileKey) -> String? {
    info.path(key).flatMap(acceptedName)
  }

  private mutating func find(_ key: StraboFileKey) -> FilePath? {
    var seen: Set<FilePath> = []
    for name in [named(key)].compactMap({ $0 }) + usualNames(key) {
      if let path = inside(name, key, &seen) { return path }
    }
    return nil
  }

  /// The file, but for one that is empty, which is told.
  private mutating func withContent(_ path: FilePath?, _ key: StraboFileKey) -> FilePath? {
    guard let path, let name = path.name, root?.stamp(of: name)?.bytes == 0 else { return path }
    empty.insert(key)
    warnings.add(.missingFile, key.rawValue, "\(path.shownName) is empty")
    return nil
  }

  private mutating func findMedia() -> FilePath? {
    var seen: Set<FilePath> = []
    var named: FilePath?
    if let name = self.named(.media) { named = inside(name, .media, &seen) }
    var usual: [FilePath?] = []
    for name in usualNames(.media) { usual.append(inside(name, .media, &seen)) }
    let (movie, still) = (usual.first ?? nil, usual.last ?? nil)
    guard let movie, let still else { return named ?? movie ?? still ?? onlyMedia(&seen) }
    warnings.add(
      .multipleStreams, "color", "a movie and a still carry the capture's name; media_type decides")
    if let named, named != movie, named != still { return named }
    switch info.mediaType {
    case .video: return movie
    case .image: return still
    case nil: return named ?? movie
    }
  }

  /// The file name of a key inside the folder; `nil` when it is absent or rejected.
  private func named(_ key: StraboFileKey) -> String? {
    guard let path = info.path(key) else { return nil }
    let name = acceptedName(path)
    if name == nil {
      warnings.add(
        .pathOutsideCapture, key.rawValue,
        "the path leads out of the capture; the usual name is used instead")
    }
    return name
  }

  /// The last component of a path that stays inside the capture.
  private func acceptedName(_ path: String) -> String? {
    guard !path.utf8.contains(UInt8(ascii: "\\")), !path.utf8.contains(0) else { return nil }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard !parts.contains(where: { ["", ".", ".."].contains($0) }) else { return nil }
    switch parts.count {
    case 1: return parts[0]
    case 2: return [info.token, FolderName.name(of: folder)].contains(parts[0]) ? parts[1] : nil
    default: return nil
    }
  }

  /// `<token>.mov` and similar; none for a token that is not a file name.
  private func usualNames(_ key: StraboFileKey) -> [String] {
    guard let token = info.token ?? FilePath(text: FolderName.name(of: folder)).name,
      acceptedName(token) == token
    else { return [] }
    return switch key {
    case .media: [token + ".mov", token + ".jpg"]
    case .geo: [token + ".json"]
    case .thumbnail: [token + ".png"]
    }
  }

  /// The only file whose name is that of a movie or a still.
  private mutating func onlyMedia(_ seen: inout Set<FilePath>) -> FilePath? {
    let names = (try? FileSystem.names(in: folder)) ?? []
    let aside = Set([thumbnail?.name].compactMap { $0 } + usualNames(.thumbnail))
    let candidates = names.filter { name in
      guard !name.hasPrefix("."), !aside.contains(name),
        let type = FilePath(text: name).extension?.lowercased()
      else { return false }
      return Self.movieExtensions.contains(type) || Self.stillExtensions.contains(type)
    }
    return candidates.count == 1 ? inside(candidates[0], .media, &seen) : nil
  }

  /// The regular file of that name, if it is inside the folder after all links are resolved.
  private mutating func inside(
    _ name: String, _ key: StraboFileKey, _ seen: inout Set<FilePath>
  ) -> FilePath? {
    let path = folder.appending(name: name)
    switch root?.look(at: name) {
    case .file: return path
    case .outside where seen.insert(path).inserted:
      warnings.add(
        .pathOutsideCapture, key.rawValue, "a link leads out of the capture; not followed")
    case .outside: break
    default: note(path, key)
    }
    return nil
  }

  /// Records why an existing file cannot be opened.
  private mutating func note(_ path: FilePath, _ key: StraboFileKey) {
    guard problems[key] == nil else { return }
    do throws(FileError) {
      _ = try FileIdentity(of: path)
    } catch {
      guard error.kind != .notFound else { return }
      var problem = CaptureError(error, of: path)
      if FileSystem.isFolder(path) { problem.problem = "cannot be opened: it is a folder" }
      if problem.errorNumber == nil {
        problem.remedy =
          problem.remedy ?? "move it away, and copy the file from the device again"
      }
      problems[key] = problem
    }
  }
}
