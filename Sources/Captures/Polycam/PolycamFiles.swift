import Core
import SystemPackage

/// The files of a capture by role, numbered by the rank of their time. Listed, not opened.
struct PolycamFiles: Sendable {
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

    /// In the recording.
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
