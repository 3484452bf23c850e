import Geometry
import Storage
import SystemPackage

/// The files of a capture by role, numbered by the rank of their time. Listed, not opened.
struct PolycamFiles: Sendable {
  static let outerName = "keyframes"

  /// The folders with one file per frame.
  enum Kind: CaseIterable {
    case camera, color, depth, confidence

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
    for kind in Kind.allCases where listing.subfolders.contains(kind.folder) {
      let path = inner.appending(name: kind.folder)
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

  func folder(of kind: Kind) -> FilePath { inner.appending(name: kind.folder) }
  func paths(_ kind: Kind) -> [FilePath] {
    self[kind].files.map { folder(of: kind).appending(name: $0.name) }
  }

  var generation: PolycamGeneration { self[.depth].files.isEmpty ? .photo : .lidar }
}
