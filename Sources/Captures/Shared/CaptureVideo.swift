import Media
import Core
import SystemPackage

/// The video of a capture: its pictures are counted and timed, but not decoded.
struct CaptureVideo: Sendable {
  let path: FilePath
  let track: VideoTrack
  /// Number of further video tracks, which are not read.
  let otherTracks: Int
  /// Whether the file ends before its own index says. Always false for bare streams, which have no
  /// index.
  let endsEarly: Bool

  /// The assumed rate of a bare stream, which has no times.
  private static let nominalRateHz: Int64 = 30

  /// Indexes the file. Cost: reads its index; for a bare stream, one scan for start codes.
  ///
  /// - Parameters:
  ///   - container: the kind of file; by default detected by content.
  ///   - statedCounts: picture counts in side files.
  ///   - ignoresEditList: whether pictures that an edit list hides belong to the recording.
  ///   - choice: chooses the track to read among all video tracks; by default the first.
  /// - Throws: an error for a file that cannot be indexed. `nil` if no track was chosen.
  init?(
    _ path: FilePath, container: VideoContainer = .any, statedCounts: Set<Int> = [],
    ignoresEditList: Bool = false,
    choosing choice: ([VideoTrack]) -> VideoTrack? = \.first
  ) throws(CaptureError) {
    do throws(VideoError) {
      let index = try VideoIndex.read(
        path, container: container, statedCounts: statedCounts, ignoresEditList: ignoresEditList)
      guard let track = choice(index.tracks) else { return nil }
      self.path = path
      self.track = track
      otherTracks = index.tracks.count - 1
      endsEarly = index.endsEarly
    } catch {
      throw CaptureError(error)
    }
  }

  /// Name inside the capture's folder.
  var name: String { path.shownName }
  var pictureCount: Int { track.pictureCount }

  /// Display times in nanoseconds from the first picture, in display order; at the nominal rate if
  /// the file has no times. `Int64.max` for times beyond 292 years.
  var pictureNanoseconds: [Int64] {
    guard let first = ticks.first else { return [] }
    return ticks.map { timeBase.nanoseconds(ofTicks: $0 &- first) ?? .max }
  }

  /// The resolution of these times, in nanoseconds.
  var tickNanoseconds: Int64 { timeBase.nanoseconds(ofTicks: 1) ?? .max / 4 }

  private var isTimed: Bool { track.presentationTicks.count == track.pictureCount }
  private var ticks: [Int64] {
    isTimed ? track.presentationTicks : (0..<track.pictureCount).map(Int64.init)
  }
  private var timeBase: VideoTimeBase {
    isTimed ? track.timeBase : VideoTimeBase(denominator: Self.nominalRateHz)
  }

  /// The description from header and index; the family adds times.
  func description(declaredFrames: Int? = nil) -> StreamDescription {
    var description = StreamDescription(
      file: name, encoding: track.encoding, width: track.uprightWidth, height: track.uprightHeight,
      frames: track.pictureCount, declaredFrames: declaredFrames)
    description.color = track.color
    return description
  }

  /// - Parameter framesOfPictures: by default picture k is frame k.
  func stream(_ description: StreamDescription, framesOfPictures: [Int]? = nil) -> ColorStream {
    ColorStream(
      source: .video(path, track: track.number), description: description,
      clockwiseQuarterTurns: track.orientation.clockwiseQuarterTurns,
      frameOfPicture: framesOfPictures.flatMap { $0.elementsEqual($0.indices) ? nil : $0 },
      order: track.order, isMirrored: track.orientation.isMirrored)
  }
}
