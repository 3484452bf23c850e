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
enum PolycamReader: CaptureReader {
  static let readerVersion = 5
  static let description: FamilyDescription = {
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
    family.video = .absent
    family.sensorName = "Polycam"
    return family
  }()

  /// How many camera files are looked into: the first may be damaged.
  private static let mostFilesLookedAt = 8
  /// Digits of the shortest time by which a picture alone is recognized: ten seconds after the device was started.
  private static let leastDigits = 8

  static func recognize(_ listing: FolderListing) -> [Recognition] {
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

  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let tables = PolycamTables(try PolycamFiles(recognition.folder))
    return try PolycamCapture(tables: tables, warnings: WarningCollector())
      .capture(id: recognition.id)
  }
}

/// The two kinds of exports.
enum PolycamGeneration: String {
  case lidar
  /// The recording has no depth.
  case photo
}

/// The files of a capture by role, numbered by the rank of their time. Listed, not opened.
struct PolycamFiles {
  static let outerName = "keyframes"

  /// Whether pictures and cameras are those of the recording, or those that the app made of them afterwards.
  enum Source: CaseIterable {
    case recorded, corrected

    func folder(of kind: Kind) -> String {
      switch kind {
      case .camera, .color: (self == .corrected ? "corrected_" : "") + kind.folder
      case .depth, .confidence: kind.folder
      }
    }
  }

  /// The folders with one file per frame.
  enum Kind: CaseIterable {
    case camera, color, depth, confidence

    /// The folder of the files in the recording.
    var folder: String {
      switch self {
      case .camera: "cameras"
      case .color: "images"
      case .depth: "depth"
      case .confidence: "confidence"
      }
    }

    var ending: String {
      switch self {
      case .camera: "json"
      case .color: "jpg"
      case .depth, .confidence: "png"
      }
    }

    /// Files named by a time in microseconds.
    func files(of names: some Sequence<String>) -> NumberedFiles {
      NumberedFiles(
        names, endings: self == .color ? ["jpg", "jpeg", "png"] : [ending], leastDigits: 1)
    }
  }

  /// The greatest number of microseconds that is a time in nanoseconds.
  private static let latest = Int(Int64.max / 1_000)

  let folder: FilePath
  /// The folder around those of the kinds.
  let inner: FilePath
  /// Pictures and cameras belong together: both are of one source, the corrected ones only in an export without others.
  let source: Source
  private var numbered: [Kind: NumberedFiles] = [:]
  /// Why a folder that exists cannot be listed.
  private(set) var problems: [Kind: CaptureError] = [:]
  /// Number of files that are links out of the capture; not followed.
  private(set) var outside: [Kind: Int] = [:]
  /// The times of the frames, ascending: of all files of all kinds.
  let times: [Timestamp]

  init(_ folder: FilePath) throws(CaptureError) {
    self.folder = folder
    let listing: FolderListing
    do throws(FileError) {
      let outer = try FolderListing(of: folder)
      inner =
        outer.subfolders.contains(Self.outerName)
        ? folder.appending(name: Self.outerName) : folder
      listing = inner == folder ? outer : try FolderListing(of: inner, inside: folder)
    } catch {
      throw CaptureError(reasonOf: error, at: folder)
    }
    // A folder that cannot be listed is there.
    func has(_ source: Source) -> Bool {
      [Kind.camera, .color].contains { kind in
        let name = source.folder(of: kind)
        guard listing.subfolders.contains(name) else { return false }
        let names = try? FolderListing(of: listing.path(of: name), inside: folder).files
        return names.map { !kind.files(of: $0).isEmpty } ?? true
      }
    }
    source = !has(.recorded) && has(.corrected) ? .corrected : .recorded
    for kind in Kind.allCases where listing.subfolders.contains(source.folder(of: kind)) {
      let path = inner.appending(name: source.folder(of: kind))
      do throws(FileError) {
        let files = try FolderListing(of: path, inside: folder)
        numbered[kind] = kind.files(of: files.files)
        outside[kind] = kind.files(of: files.outside).files.count
      } catch {
        problems[kind] = CaptureError(error, of: path)
      }
    }
    let latest = Self.latest
    numbered = numbered.mapValues { $0.believing(upTo: latest) }
    let all = Set(numbered.values.flatMap { $0.files.map(\.number) }).sorted()
    let bounds = TimeBounds(all.lazy.map(Self.time))
    let numbers = all.filter { bounds.contains(Self.time($0)) }
    numbered = numbered.mapValues { $0.ranked(among: numbers) }
    times = numbers.map(Self.time)
  }

  private static func time(_ microseconds: Int) -> Timestamp {
    Timestamp(nanoseconds: Int64(microseconds) * 1_000)
  }

  subscript(kind: Kind) -> NumberedFiles { numbered[kind] ?? .none }

  func name(of kind: Kind) -> String { source.folder(of: kind) }
  func folder(of kind: Kind) -> FilePath { inner.appending(name: name(of: kind)) }
  func paths(_ kind: Kind) -> [FilePath] {
    self[kind].files.map { folder(of: kind).appending(name: $0.name) }
  }

  /// Confidence without depth is a `lidar` export that lost its depth.
  var generation: PolycamGeneration {
    self[.depth].files.isEmpty && self[.confidence].files.isEmpty ? .photo : .lidar
  }
}
