import Core
import SystemPackage

extension CaptureFamily {
  public static let multiscan = CaptureFamily("multiscan")
}

/// Reads captures of the MultiScan apps for iOS and Android: one set of files with a common stem, the
/// scan id, which is also the capture's id.
enum MultiScanReader: CaptureReader {
  static let readerVersion = 13
  static let description: FamilyDescription = {
    var family = FamilyDescription(
      .multiscan, title: "MultiScan",
      generations: MultiScanGeneration.allCases.map { .init($0.rawValue, mark: $0.mark) },
      recognition:
        "files of one stem: a .json or .txt that describes the streams of a recording, camera info (.jsonl) "
        + "beside .depth.zlib or .confidence.zlib, or a motion file (.rot .acce .mag .atti .grav)")
    family.cameraStatement = .onceWithoutPoses
    family.fileContents = [
      ".json": "metadata", ".txt": "metadata", ".depth.zlib": "depth",
      ".confidence.zlib": "confidence", ".jsonl": "camera info",
      "-secondary.mp4": "second video", ".rot": "rotation rates (.rot)",
      ".acce": "accelerations (.acce)", ".mag": "magnetometer (.mag)", ".atti": "attitude (.atti)",
      ".grav": "gravity (.grav)",
    ]
    family.namesFilesByStem = true
    return family
  }()

  static func role(of name: String, stem: String?) -> FileRole? {
    guard let stem, name.hasPrefix(stem) else { return nil }
    switch name.dropFirst(stem.count) {
    case ".depth.zlib": return FileRole([.depth])
    case ".confidence.zlib": return FileRole([.confidence])
    case ".jsonl": return FileRole([.poses, .cameraSettings])
    case ".mp4", "-primary.mp4": return FileRole([.color], isAlternative: true)
    case ".json", ".txt": return FileRole([.depth, .intrinsics, .geo], isAlternative: true)
    case let ending where MultiScanMotionKind.allCases.contains { ".\($0)" == ending }:
      return FileRole([.imu])
    default: return nil
    }
  }

  /// Opens the files with `recognition`'s stem.
  ///
  /// Side files are parsed completely and the video is indexed. Depth and confidence are inflated
  /// once in constant memory, because their number of frames is not known otherwise; this takes
  /// most of the time.
  static func open(_ recognition: Recognition) throws(CaptureError) -> Capture {
    let listing = try CaptureError.listing(recognition.folder)
    let files = MultiScanFiles.set(stem: recognition.stem ?? recognition.id, in: listing)
    let contents = try MultiScanTables(of: files)
    var capture = MultiScanCapture(contents, warnings: WarningCollector()).capture()
    capture.warn(
      ofLinksOutside: listing.outside.filter { MultiScanFiles.isOwn($0, stem: files.stem) })
    return capture
  }
}

extension MultiScanReader {
  /// Recognizes one capture per stem with a depth or confidence file, a motion file, or metadata
  /// whose object has `streams` or `stream`. `certain` if the content of a file agrees with its
  /// name.
  ///
  /// Cost: reads the first bytes of files with the family's endings.
  public static func recognize(_ listing: FolderListing) -> [Recognition] {
    if isServerOutput(listing.folder) { return [] }
    return MultiScanFiles.sets(in: listing).flatMap { files in
      recognition(of: listing, stem: files.stem, evidence(for: files, in: listing))
    }
  }

  /// Whether this is the folder `outputs` that the apps' server writes next to a capture's own
  /// files.
  private static func isServerOutput(_ folder: FilePath) -> Bool {
    guard folder.name == "outputs",
      let around = try? FolderListing(of: folder.removingLastComponent())
    else { return false }
    return MultiScanFiles.sets(in: around).contains { evidence(for: $0, in: around) != nil }
  }

  /// Size limit of metadata: a few thousand bytes, also for Android files that were appended to
  /// many times.
  private static let metadataLimit = 1 << 20
  /// The size of the first read of a metadata file, in bytes.
  private static let smallMetadata = 4_096

  private static func evidence(
    for files: MultiScanFiles, in listing: FolderListing
  ) -> Evidence? {
    for name in [files.json, files.text].compactMap(\.self) {
      guard let metadata = metadata(name, in: listing) else { continue }
      let known = metadata.streams.contains { $0.role != nil }
      if known { return (.certain, "\(name) describes the streams of a recording") }
      // Other programs also write lists of streams, about their own files.
      if files.hasMarker || files.video != nil || files.cameraInfo != nil {
        return (.possible, "\(name) has a list of streams, next to files of its name")
      }
    }
    guard files.hasMarker else { return nil }
    if let name = files.cameraInfo, isCameraInfo(listing.head(of: name)) {
      return (.certain, "\(name) holds camera info, next to depth or confidence")
    }
    for name in files.motion.values.sorted() where isMotion(listing.head(of: name, limit: 65_536)) {
      return (.certain, "\(name) is a motion file")
    }
    if let name = files.depth ?? files.confidence {
      return (.possible, "\(name) is named as this family names depth or confidence")
    }
    // A motion ending alone proves nothing; with other files it may be an empty file of a killed
    // app.
    guard files.motion.count > 1 || files.video != nil || files.primaryVideo != nil else {
      return nil
    }
    return (
      .possible, "\(files.motion.values.sorted().joined(separator: ", ")) named as motion files"
    )
  }

  /// Cost: one read of a small file. Every text file of a folder that is searched is looked at, such as the thousands of
  /// frames of another family.
  static func metadata(_ name: String, in listing: FolderListing) -> MultiScanMetadata? {
    var bytes = listing.head(of: name, limit: smallMetadata)
    // Most other text files are not JSON, as their first bytes show.
    let start = TextBytes.utf8(bytes).first { !isSpace($0) }
    guard start == UInt8(ascii: "{") else { return nil }
    if bytes.count == smallMetadata { bytes = listing.head(of: name, limit: metadataLimit) }
    let text = TextBytes.utf8(bytes)
    // Either key for the streams; other JSON is not decoded.
    return text.contains("stream".utf8) ? MultiScanMetadata(text.span.bytes) : nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte <= 32 || byte >= 0xbb }

  private static func isCameraInfo(_ head: [UInt8]) -> Bool {
    let line = MultiScanCameraInfo.firstLine(TextBytes.utf8(head).span.bytes)
    return line?.timestamp != nil || line?.transform != nil
  }

  /// Whether there is a header, or records that could be samples: increasing times, small finite
  /// values.
  private static func isMotion(_ head: [UInt8]) -> Bool {
    if MultiScanMotionFile.Header(head.span.bytes) != nil { return true }
    return [MultiScanMotionFile.Encoding.littleEndian, .bigEndian].contains { encoding in
      let file = MultiScanMotionFile(head.span.bytes, headlessEncoding: encoding)
      let records = file.records.prefix(8)
      return !records.isEmpty && records.allSatisfy(isPlausible)
        && zip(records, records.dropFirst()).allSatisfy { $0.timestamp <= $1.timestamp }
    }
  }

  private static func isPlausible(_ record: IMUSample) -> Bool {
    record.timestamp.nanoseconds >= 0
      && [record.x, record.y, record.z].allSatisfy { $0 == 0 || (1e-30..<1e6).contains(abs($0)) }
  }
}

extension MultiScanMetadata {
  /// The endings of the files that it declares, each once.
  func endings(isDual: Bool, hasAttitude: Bool) -> [String] {
    var seen: Set<String> = []
    return streams.compactMap { stream -> String? in
      switch stream.role {
      case .color where isDual: stream.id == color?.id ? "-primary.mp4" : "-secondary.mp4"
      case .color: ".mp4"
      case .depth: ".depth.zlib"
      case .confidence: ".confidence.zlib"
      case .cameraInfo: ".jsonl"
      case .motion(.atti) where !hasAttitude: nil
      case .motion(let kind): ".\(kind)"
      case nil: stream.fileExtension.map { ".\($0)" }
      }
    }
    .filter { seen.insert($0).inserted }
  }
}

extension MultiScanReader {
  public static func namesLacking(ofUpload stem: String, in listing: FolderListing) -> [String]? {
    let files = MultiScanFiles.set(stem: stem, in: listing)
    for name in [files.json, files.text].compactMap(\.self) {
      guard let metadata = metadata(name, in: listing), !metadata.streams.isEmpty else { continue }
      let isDual = metadata.streams.count { $0.role == .color } > 1
      return metadata.endings(isDual: isDual, hasAttitude: !metadata.usesPlainKeys)
        .filter { !$0.contains("/") }
        .map { stem + $0 }.filter { !listing.contains($0) }
    }
    guard files.hasMarker || files.cameraInfo != nil else { return nil }
    return [stem + ".json"]
  }
}

/// The five motion files, named by their extensions.
enum MultiScanMotionKind: String, CaseIterable {
  case rot, acce, mag, atti, grav
}

/// The files of one capture: all with the same stem. Debug copies, previews and server files have
/// other endings and do not belong to it.
struct MultiScanFiles {
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
