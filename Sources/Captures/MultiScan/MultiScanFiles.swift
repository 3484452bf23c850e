import Core
import SystemPackage

/// The five motion files, named by their extensions.
enum MultiScanMotionKind: String, CaseIterable, Sendable {
  case rot, acce, mag, atti, grav
}

/// The files of one capture: all with the same stem. Debug copies, previews and server files have
/// other endings and do not belong to it.
struct MultiScanFiles: Sendable {
  let folder: FilePath
  let stem: String
  /// A file that may be the metadata; only its content decides.
  var json: String?
  var text: String?
  var cameraInfo: String?
  var depth: String?
  var confidence: String?
  var video: String?
  var primaryVideo: String?
  var secondaryVideo: String?
  var motion: [MultiScanMotionKind: String] = [:]

  func path(of file: String) -> FilePath { folder.appending(name: file) }

  /// The video of `color`: the dual mode's primary one, else the plain one.
  func colorVideo(in generation: MultiScanGeneration) -> String? {
    generation == .iosDual ? primaryVideo ?? video : video ?? primaryVideo
  }

  /// Whether there is a file with a name that only this family uses.
  var hasMarker: Bool { depth != nil || confidence != nil || !motion.isEmpty }
}

extension MultiScanFiles {
  /// The file sets of a folder by stem, without hidden files (`._…`, which other systems create
  /// when copying).
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

  /// The file set of one stem.
  static func set(stem: String, in listing: FolderListing) -> MultiScanFiles {
    var set = MultiScanFiles(folder: listing.folder, stem: stem)
    for (ending, keyPath) in endings where listing.contains(stem + ending) {
      set[keyPath: keyPath] = stem + ending
    }
    return set
  }

  /// Whether `name` belongs to a file of this stem.
  static func isOwn(_ name: String, stem: String) -> Bool {
    endings.contains { name == stem + $0.0 }
  }

  /// Endings in the order of matching: `-primary.mp4` before `.mp4`.
  private static let endings: [(String, any WritableKeyPath<MultiScanFiles, String?> & Sendable)] =
    [
      (".depth.zlib", \.depth), (".confidence.zlib", \.confidence), (".jsonl", \.cameraInfo),
      (".json", \.json), (".txt", \.text), ("-primary.mp4", \.primaryVideo),
      ("-secondary.mp4", \.secondaryVideo), (".mp4", \.video), (".rot", \.motion[.rot]),
      (".acce", \.motion[.acce]), (".mag", \.motion[.mag]), (".atti", \.motion[.atti]),
      (".grav", \.motion[.grav]),
    ]
}

extension MultiScanFiles {
  /// The start of the recording in the file stem, as ISO 8601: `yyyyMMdd'T'HHmmss±zzzz_…` (the
  /// server deletes the `+`) or `yyyyMMdd_HHmmss_…`, which has no time zone. `nil` for other stems
  /// and for years of another calendar.
  static func recordedAt(stem: String) -> String? {
    let form =
      /([0-9]{4})([0-9]{2})([0-9]{2})([T_])([0-9]{2})([0-9]{2})([0-9]{2})([-+]?)(?:([0-9]{2})([0-9]{2}))?+.*/
      .dotMatchesNewlines()
    guard let found = stem.wholeMatch(of: form)?.output else { return nil }
    let numbers = [found.1, found.2, found.3, found.5, found.6, found.7].compactMap { Int($0) }
    let ranges = [2015...2099, 1...12, 1...31, 0...23, 0...59, 0...60]
    guard zip(numbers, ranges).allSatisfy({ $1.contains($0) }) else { return nil }
    let time = "\(found.1)-\(found.2)-\(found.3)T\(found.5):\(found.6):\(found.7)"
    guard found.4 == "T", let hour = found.9, let minute = found.10, hour < "24", minute < "60"
    else { return time }
    return time + "\(found.8 == "-" ? "-" : "+")\(hour):\(minute)"
  }
}
