import Storage
import SystemPackage

/// The five motion files, named by their extensions.
enum MultiScanMotionKind: String, CaseIterable, Sendable {
  case rot, acce, mag, atti, grav
}

/// The files of one capture: all that share a stem. Debug copies, previews and server files have
/// other endings and are not among them.
struct MultiScanFiles: Sendable {
  let folder: FilePath
  let stem: String
  /// Candidates for the metadata; which of them are metadata only their content tells.
  var json: String?
  var text: String?
  var cameraInfo: String?
  var depth: String?
  var confidence: String?
  var video: String?
  var primaryVideo: String?
  var secondaryVideo: String?
  var motion: [MultiScanMotionKind: String] = [:]

  init(folder: FilePath, stem: String) {
    self.folder = folder
    self.stem = stem
  }

  func path(of file: String) -> FilePath { folder.appending(name: file) }

  /// The video that `color` is decoded from: the dual mode's primary one, else the plain one.
  func colorVideo(in generation: MultiScanGeneration) -> String? {
    generation == .iosDual ? primaryVideo ?? video : video ?? primaryVideo
  }

  /// Whether a file is there whose name belongs to this family only.
  var hasMarker: Bool { depth != nil || confidence != nil || !motion.isEmpty }
}

extension MultiScanFiles {
  /// The file sets of a folder, by stem. Hidden files (`._…` copies of other systems) belong to none.
  static func sets(in listing: FolderListing) -> [MultiScanFiles] {
    var sets: [String: MultiScanFiles] = [:]
    for name in listing.files where !name.hasPrefix(".") {
      for (ending, keyPath) in endings where name.hasSuffix(ending) {
        let stem = String(name.dropLast(ending.count))
        guard !stem.isEmpty else { break }
        sets[stem, default: MultiScanFiles(folder: listing.folder, stem: stem)][keyPath: keyPath] =
          name
        break
      }
    }
    return sets.values.sorted { $0.stem < $1.stem }
  }

  /// The set of one stem.
  static func set(stem: String, in listing: FolderListing) -> MultiScanFiles {
    var set = MultiScanFiles(folder: listing.folder, stem: stem)
    for (ending, keyPath) in endings where listing.contains(stem + ending) {
      set[keyPath: keyPath] = stem + ending
    }
    return set
  }

  /// Whether `name` is that of a file of this stem.
  static func isOwn(_ name: String, stem: String) -> Bool {
    endings.contains { name == stem + $0.0 }
  }

  /// Endings in the order in which they are tried: `-primary.mp4` before `.mp4`.
  private static let endings: [(String, any WritableKeyPath<MultiScanFiles, String?> & Sendable)] =
    [
      (".depth.zlib", \.depth), (".confidence.zlib", \.confidence), (".jsonl", \.cameraInfo),
      (".json", \.json), (".txt", \.text), ("-primary.mp4", \.primaryVideo),
      ("-secondary.mp4", \.secondaryVideo), (".mp4", \.video), (".rot", \.motion[.rot]),
      (".acce", \.motion[.acce]), (".mag", \.motion[.mag]), (".atti", \.motion[.atti]),
      (".grav", \.motion[.grav]),
    ]
}
