import CFFmpeg
import Synchronization
import SystemPackage

/// Decodes one track of a video: every picture exactly once, in presentation order, with its place among
/// all pictures of the track.
///
/// The pictures are those that `ffmpeg -i FILE -fps_mode passthrough` of the same FFmpeg version gives; what
/// cannot be decoded is skipped and counted, what can be concealed is given and marked. In damaged videos
/// several decoding threads would conceal differently from run to run, as ffmpeg does unless it is given
/// `-threads 1`; here the pictures are always those of one thread. May be used from several threads, one
/// at a time; memory does not grow with the length of the video.
public final class VideoDecoder: Sendable {
  /// What has come out so far.
  public struct Counts: Hashable, Sendable {
    public var pictures = 0
    /// Pictures with missing or made up parts, or that the decoder complained about.
    public var damagedPictures = 0
    /// Packets that the decoder refused.
    public var refusedPackets = 0
    /// Complaints of the decoder; above 0 where something was wrong, also when it could not say with
    /// which pictures.
    public var damageMessages = 0
  }

  private let state: Mutex<DecoderState>

  /// Opens `file` and finds the track.
  ///
  /// - Parameters:
  ///   - container: what the file may be.
  ///   - track: a track's `number` of `VideoIndex`; by default the first video track.
  ///   - order: of the same track of `VideoIndex`; if it is not given, the file is indexed first.
  ///   - threads: how many threads the decoder may use; 1 decodes in `next()`, 0 leaves it to FFmpeg.
  ///     More threads give the same pictures, later. Only H.264 is decoded by several: of damage in
  ///     others FFmpeg does not always tell, and what it then gives depends on the threads.
  /// - Throws: `VideoError` for a file without index, without that track, or with a codec that this
  ///   FFmpeg cannot decode.
  ///
  /// Cost: containers have their first pictures decoded twice (as in the ffmpeg program, to learn how
  /// far pictures are reordered); bare streams do not. With several threads, a damaged video is decoded
  /// a second time up to where damage was met, and then on by one thread.
  public init(
    _ file: FilePath, container: VideoContainer = .any, track: Int? = nil,
    order: PictureOrder? = nil, threads: Int = 1
  ) throws(VideoError) {
    let known: PictureOrder
    if let order { known = order } else { known = try Self.order(of: file, container, track) }
    state = Mutex(
      try DecoderState(file, container: container, track: track, order: known, threads: threads))
  }

  private static func order(
    of file: FilePath, _ container: VideoContainer, _ number: Int?
  ) throws(VideoError) -> PictureOrder {
    let tracks = try VideoIndex.read(file, container: container).tracks
    let track = number.map { number in tracks.first { $0.number == number } } ?? tracks.first
    guard let track else {
      throw VideoError(
        file: file,
        what: number.map { "track \($0) is not a video track" } ?? "it has no video track")
    }
    return track.order
  }

  /// The next picture, `nil` after the last one.
  /// - Throws: `VideoError` at the end of a track that gave no picture at all.
  public func next() throws(VideoError) -> DecodedPicture? {
    try state.withLock { (state) throws(VideoError) in try state.next() }
  }

  /// Whether several threads may decode this track; otherwise one does, whatever is asked for.
  public var mayUseThreads: Bool { state.withLock { $0.mayUseThreads } }

  /// Goes on with another number of threads: decodes all pictures up to here once more, which costs as much
  /// as they did. Without effect where something was damaged, and for codecs that one thread decodes.
  public func use(threads: Int) throws(VideoError) {
    try state.withLock { (state) throws(VideoError) in try state.use(threads: threads) }
  }

  /// CPU time of the decoder's own threads so far, user and system. Of decoding in `next()`, which the
  /// caller's thread does where there is one thread, nothing.
  public var threadCPUNanoseconds: Int64 { state.withLock { $0.threadCPUNanoseconds } }

  /// After the last picture: of the whole track.
  public var counts: Counts { state.withLock { $0.counts } }

  public var timeBase: VideoTimeBase { state.withLock { $0.timeBase } }
}
