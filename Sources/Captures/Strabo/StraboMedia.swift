import Media
import Core
import SystemPackage

/// The movie or still of a capture.
enum StraboMedia {
  case movie(StraboMovie)
  case still(CaptureStill)

  /// The content of the file decides its kind, not its name.
  init(_ path: FilePath) throws(CaptureError) {
    if Self.isStill(path) {
      self = .still(try CaptureStill(path))
    } else {
      self = .movie(try StraboMovie(path))
    }
  }

  /// Upright size.
  var size: (width: Int, height: Int) {
    switch self {
    case .movie(let movie): (movie.track.uprightWidth, movie.track.uprightHeight)
    case .still(let still): (still.width, still.height)
    }
  }

  /// Duration; 0 for a still.
  var durationNanoseconds: Int64 {
    switch self {
    case .movie(let movie): movie.durationNanoseconds
    case .still: 0
    }
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

/// A movie: its pictures are counted and timed without decoding.
struct StraboMovie {
  let video: CaptureVideo
  /// Presentation times from the first picture, in display order.
  let times: [Timestamp]

  init(_ path: FilePath) throws(CaptureError) {
    guard let video = try CaptureVideo(path), video.pictureCount > 0 else {
      throw CaptureError(file: path, problem: "it holds no picture")
    }
    self.video = video
    times = video.pictureNanoseconds.map { Timestamp(nanoseconds: $0) }
  }

  var track: VideoTrack { video.track }

  /// Time from the first picture to the end of the last, whose duration is the most frequent one.
  var durationNanoseconds: Int64 {
    guard let last = times.last else { return 0 }
    return last.advanced(byNanoseconds: TimeSteps(times).medianNanoseconds ?? 0).nanoseconds
  }
}
