import Core
import Media
import SystemPackage

/// Builds one capture of the recorder.
struct StraboCapture {
  private let folder: FilePath
  private let id: String
  private let files: StraboFiles
  private let tables: StraboTables
  let warnings = WarningCollector()

  init(_ recognition: Recognition) throws(CaptureError) {
    folder = recognition.folder
    id = recognition.id
    let info = try StraboTables.info(folder, warnings)
    files = StraboFiles(folder, info, warnings)
    tables = StraboTables(info: info, files: files, warnings: warnings)
  }

  private var info: StraboInfo { tables.info }

  func capture() throws(CaptureError) -> Capture {
    let media = media()
    var capture = Capture(
      id: id, family: .strabo, generation: info.generation, folder: folder,
      clock: CaptureClock(.recordingStart, unit: "s"))
    capture.scene.label = info.title
    capture.recordedAt = recordedAt(media)
    capture.uploadedAt = info.uploadedAt.map { UTCText.text(seconds: Int64($0.rounded(.down))) }
    capture.orientation = info.orientation
    capture.frames = (media.value?.times ?? []).map {
      CaptureFrame(timestamp: $0, colorTimestamp: $0)
    }
    capture.color = color(media)
    capture.geo = tables.geo(media.value)
    capture.hasThumbnail = files.media != nil
    if let thumbnail = files.thumbnail, let media = media.value {
      media.check(thumbnail: thumbnail, warnings)
    }
    let description = folder.appending(StraboInfo.file)
    capture.files[.color] = [files.media].compactMap { $0 }
    capture.files[.frames] = [files.media].compactMap { $0 }
    // The media's length determines which points are stale.
    capture.files[.geo] = [files.geo, description, files.media].compactMap { $0 }
    capture.files[.thumbnail] = [files.thumbnail].compactMap { $0 }
    if files.thumbnail == nil { capture.partProblems[.thumbnail] = files.problems[.thumbnail] }
    capture.completeness = completeness(media)
    capture.warnings = warnings.warnings
    claim(&capture, media.value)
    return capture
  }

  private func media() -> StreamState<StraboMedia> {
    guard let path = files.media else {
      return files.problems[.media].map { .unreadable($0) } ?? .absent("no movie and no still")
    }
    return StreamState(try StraboMedia(path))
  }

  /// The app records the time when it has moved the files to their place: for a movie its end.
  private func recordedAt(_ media: StreamState<StraboMedia>) -> String? {
    guard let createdAt = info.createdAt else { return nil }
    var seconds = createdAt
    switch media {
    case .present(let media): seconds -= Double(media.durationNanoseconds) / 1e9
    case .absent, .unreadable: if info.mediaType != .image { return nil }
    }
    return UTCText.text(seconds: Int64(seconds.rounded(.down)))
  }

  private func completeness(_ media: StreamState<StraboMedia>) -> UploadCompleteness {
    var missing: [String] = []
    switch media {
    case .absent(let why): missing.append(why)
    case .unreadable(let error): missing.append("the media file cannot be read: \(error.problem)")
    case .present(.movie(let movie)) where movie.endsEarly: missing.append("the movie is cut")
    case .present: break
    }
    if files.geo == nil, files.problems[.geo] == nil { missing.append("no geo data") }
    if files.thumbnail == nil, files.problems[.thumbnail] == nil { missing.append("no thumbnail") }
    return UploadCompleteness(missing: missing, absentFiles: files.absentNames)
  }
}

extension StraboCapture {
  /// Adds claims about stream lengths: the movie's index states the number of pictures, and the
  /// movie's duration that of a cut geo log.
  func claim(_ capture: inout Capture, _ media: StraboMedia?) {
    guard let media, case .movie(let movie) = media else { return }
    capture.claims.add(
      "color", held: movie.track.pictureCount, declared: movie.track.listedPictures,
      by: "the index of the movie")
    guard let geo = capture.geo.value, geo.isCut, let last = geo.description.lastTimestamp else {
      return
    }
    capture.claims.add(
      "geo", held: media.times.count { $0 <= last }, declared: movie.pictureCount,
      unit: "frames lie before the last point", by: "the movie")
  }
}

extension StraboCapture {
  /// Builds the color stream and warns of its unusual properties.
  func color(_ media: StreamState<StraboMedia>) -> StreamState<ColorStream> {
    media.map { media in
      switch media {
      case .movie(let movie): color(movie, media.times)
      case .still(let still): color(still)
      }
    }
  }

  private func color(_ movie: CaptureVideo, _ times: [Timestamp]) -> ColorStream {
    warnings.add(
      .multipleStreams, "color", count: movie.otherTracks,
      "further video tracks in \(movie.name); not used")
    if movie.track.orientation.isIgnored {
      warnings.add(
        .rotationIgnored, "color",
        "the rotation in the display matrix is not a multiple of 90°: pictures stay as stored")
    }
    if movie.endsEarly {
      warnings.add(
        .truncatedStream, movie.name,
        "the movie ends before its own index says; what is there is used")
    }
    VideoOddities(movie.track).report(to: warnings)
    var description = movie.description()
    description.state(times: times)
    return movie.stream(description)
  }

  private func color(_ still: CaptureStill) -> ColorStream {
    var description = StreamDescription(
      file: still.path.shownName, encoding: still.encoding,
      width: still.size.width, height: still.size.height, frames: 1)
    description.state(times: [Timestamp(nanoseconds: 0)])
    return ColorStream(
      source: .stills([still.path]), description: description,
      clockwiseQuarterTurns: still.orientation.clockwiseQuarterTurns,
      isMirrored: still.orientation.isMirrored)
  }
}

/// The thumbnail that the app makes of a capture. It is checked but never used.
extension StraboMedia {
  private static let longestSide = 300

  /// Whether a thumbnail of this size fits: those of movies have at most 300 pixels and the movie's aspect, to one pixel;
  /// stills may also have one in full size.
  private func fits(_ thumbnail: PictureSize) -> Bool {
    if !isMovie, thumbnail == size { return true }
    guard max(thumbnail.width, thumbnail.height) <= Self.longestSide, size.width > 0,
      size.height > 0
    else { return false }
    let isWide = size.width >= size.height
    let (long, short) = isWide ? (size.width, size.height) : (size.height, size.width)
    let own = isWide ? thumbnail : thumbnail.turned
    let expected = Double(own.width) * Double(short) / Double(long)
    return abs(Double(own.height) - expected) <= 1
  }

  func check(thumbnail path: FilePath, _ warnings: WarningCollector) {
    do throws(ImageError) {
      let thumbnail = try StillImage.header(path).uprightSize
      guard !fits(thumbnail) else { return }
      warnings.add(
        .sizeMismatch, "thumbnail",
        "the app's thumbnail of \(thumbnail.width)x\(thumbnail.height) does not fit "
          + "\(size.width)x\(size.height)")
    } catch {
      warnings.add(.corruptRecord, "thumbnail", "the app's thumbnail cannot be read: \(error.what)")
    }
  }
}

/// The side files of a capture: its description and its log of positions. The log is read once, on
/// request, because reading it adds warnings.
struct StraboTables {
  let info: StraboInfo
  let files: StraboFiles
  let warnings: WarningCollector

  /// Reads the description, which names the other files. Throws when it is not a JSON object.
  static func info(
    _ folder: FilePath, _ warnings: WarningCollector
  ) throws(CaptureError) -> StraboInfo {
    let info = try StraboInfo(folder)
    warnings.add(
      .unknownKey, StraboInfo.file, count: info.unknownKeys.count,
      "unknown keys: \(info.unknownKeys.prefix(8).joined(separator: ", "))")
    warnings.add(
      .missingKey, StraboInfo.file, count: info.missingKeys.count,
      "missing keys: \(info.missingKeys.joined(separator: ", "))")
    return info
  }

  func geo(_ media: StraboMedia?) -> StreamState<GeoStream> {
    do throws(CaptureError) {
      var log: StraboGeoLog
      if let problem = files.problems[.geo], files.geo == nil { throw problem }
      if let path = files.geo {
        log = try StraboGeoLog(
          path, mediaNanoseconds: media?.durationNanoseconds, warnings: warnings)
      } else {
        log = StraboGeoLog(withoutFile: warnings)
      }
      log.track.heldLatitude = info.coordinates?.latitude
      log.track.heldLongitude = info.coordinates?.longitude
      log.track.heldHeading = info.heading
      var description = StreamDescription(
        file: files.geo?.shownName ?? StraboInfo.file, encoding: "json",
        frames: log.times.count)
      description.state(times: log.times)
      if case .movie(let movie) = media, !log.times.isEmpty { reportHidden(movie) }
      return .present(
        GeoStream(
          description: description, track: log.track, coverage: .everyFrame, isCut: log.isCut))
    } catch {
      return .unreadable(error)
    }
  }

  /// Warns of hidden pictures: the log counts from the beginning of the recording, pictures from
  /// the first displayed one.
  private func reportHidden(_ movie: CaptureVideo) {
    let hidden = movie.track.hidden
    warnings.add(
      .pairingApproximate, "geo", count: hidden.before > 0 ? movie.pictureCount : 0,
      "the movie's edit list hides its first \(hidden.before) pictures "
        + "(\(HiddenStart.milliseconds(hidden.nanoseconds)) ms): if the log begins with them, positions are off "
        + "by as much")
  }
}

/// The movie or still of a capture.
enum StraboMedia {
  case movie(CaptureVideo)
  case still(CaptureStill)

  /// The content of the file decides its kind, not its name.
  init(_ path: FilePath) throws(CaptureError) {
    if Self.isStill(path) {
      self = .still(try CaptureStill(path))
    } else {
      guard let video = try CaptureVideo(path), video.pictureCount > 0 else {
        throw CaptureError(file: path, problem: "it holds no picture")
      }
      self = .movie(video)
    }
  }

  /// Upright size.
  var size: PictureSize {
    switch self {
    case .movie(let movie): movie.track.uprightSize
    case .still(let still): still.size
    }
  }

  /// The times of its frames: of a movie from the first picture, in display order; that of a still is 0.
  var times: [Timestamp] {
    switch self {
    case .movie(let movie): movie.pictureNanoseconds.map(Timestamp.init(nanoseconds:))
    case .still: [Timestamp(nanoseconds: 0)]
    }
  }

  /// Time from the first picture to the end of the last, whose duration is the most frequent one; 0 for a still.
  var durationNanoseconds: Int64 {
    let times = times
    guard isMovie, let last = times.last else { return 0 }
    return last.advanced(byNanoseconds: TimeSteps(times).medianNanoseconds ?? 0).nanoseconds
  }

  var isMovie: Bool {
    if case .movie = self { true } else { false }
  }

  /// Whether the file is a still. JPEG, PNG and TIFF are known by their magic numbers. Other files
  /// are movies, unless their name is that of a still.
  private static func isStill(_ path: FilePath) -> Bool {
    guard let file = try? MappedFile(path) else { return false }
    let head = file.withBytes(in: 0..<12) { $0.withUnsafeBytes { Array($0) } }
    let marks: [[UInt8]] = [
      [0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E, 0x47], [0x49, 0x49, 0x2A, 0x00],
      [0x4D, 0x4D, 0x00, 0x2A],
    ]
    if marks.contains(where: { head.starts(with: $0) }) { return true }
    let isMovie =
      head.count >= 8 && movieAtoms.contains(String(decoding: head[4..<8], as: UTF8.self))
    let named = path.extension?.lowercased() ?? ""
    return !isMovie && ["jpg", "jpeg", "png", "tif", "tiff"].contains(named)
  }

  private static let movieAtoms: Set<String> = [
    "ftyp", "moov", "mdat", "wide", "free", "skip", "pnot",
  ]
}
