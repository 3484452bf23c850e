import Codecs
import Geometry
import Storage
import SystemPackage

/// The video of a capture: its pictures counted and timed, none of them decoded.
struct CaptureVideo: Sendable {
  let path: FilePath
  let track: VideoTrack
  /// Further video tracks, which are not read.
  let otherTracks: Int
  /// The file ends before its own index says. Bare streams have no index and never do.
  let endsEarly: Bool

  /// The rate of a bare stream, which has no times.
  private static let nominalRateHz: Int64 = 30

  /// Indexes the file; cost: its index, of a bare stream one scan for start codes.
  ///
  /// - Parameters:
  ///   - container: what the file must be; by default what its content tells.
  ///   - statedCounts: how many pictures side files speak of.
  ///   - choice: the track that is read, of all video tracks; the first by default.
  /// - Throws: for a file that cannot be indexed. `nil`: no track was chosen.
  init?(
    _ path: FilePath, container: VideoContainer = .any, statedCounts: Set<Int> = [],
    choosing choice: ([VideoTrack]) -> VideoTrack? = \.first
  ) throws(CaptureError) {
    do throws(VideoError) {
      let index = try VideoIndex.read(path, container: container, statedCounts: statedCounts)
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

  /// When pictures are shown, nanoseconds from the first one, in display order; at the nominal rate where the
  /// file has no times. `Int64.max` for what lies beyond 292 years.
  var pictureNanoseconds: [Int64] {
    guard let first = ticks.first else { return [] }
    return ticks.map { timeBase.nanoseconds(ofTicks: $0 &- first) ?? .max }
  }

  /// The resolution of these times.
  var tickNanoseconds: Int64 { timeBase.nanoseconds(ofTicks: 1) ?? .max / 4 }

  private var isTimed: Bool { track.presentationTicks.count == track.pictureCount }
  private var ticks: [Int64] {
    isTimed ? track.presentationTicks : (0..<track.pictureCount).map(Int64.init)
  }
  private var timeBase: VideoTimeBase {
    isTimed ? track.timeBase : VideoTimeBase(denominator: Self.nominalRateHz)
  }

  /// What its head and index say; times are the family's to add.
  func description(declaredFrames: Int? = nil) -> StreamDescription {
    var description = StreamDescription(
      file: name, encoding: track.encoding, width: track.uprightWidth, height: track.uprightHeight,
      frames: track.pictureCount, declaredFrames: declaredFrames)
    description.color = track.color
    return description
  }

  /// - Parameter frameOfPicture: `nil` where picture k is frame k.
  func stream(_ description: StreamDescription, frameOfPicture: [Int]? = nil) -> ColorStream {
    ColorStream(
      source: .video(path, track: track.number), description: description,
      clockwiseQuarterTurns: track.orientation.clockwiseQuarterTurns,
      frameOfPicture: frameOfPicture, order: track.order, isMirrored: track.orientation.isMirrored)
  }
}
