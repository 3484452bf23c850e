import CFFmpeg
import Synchronization
import SystemPackage

/// Decodes one track of a video: every picture exactly once, in presentation order, with its
/// display index.
///
/// The pictures are those of `ffmpeg -i FILE -fps_mode passthrough` with the same FFmpeg version.
/// Pictures that cannot be decoded are skipped and counted; concealed ones are output and marked.
/// In damaged videos several decoding threads conceal differently from run to run, as ffmpeg does
/// without `-threads 1`; the pictures here are always those of one thread. May be used from several
/// threads, one at a time. Memory does not grow with the length of the video.
public final class VideoDecoder: Sendable {
  /// Counts for what has been output so far.
  public struct Counts: Hashable, Sendable {
    public var pictures = 0
    /// Number of pictures with missing or concealed parts, or about which the decoder complained.
    public var damagedPictures = 0
    /// Number of packets that the decoder rejected.
    public var refusedPackets = 0
    /// Number of the decoder's complaints. Above 0 if something was wrong, even if the pictures
    /// concerned are unknown.
    public var damageMessages = 0
  }

  private let state: Mutex<DecoderState>

  /// Opens `file` and finds the track.
  ///
  /// - Parameters:
  ///   - container: what kind of file it may be.
  ///   - track: a track's `number` in `VideoIndex`; by default the first video track.
  ///   - order: that of the same track in `VideoIndex`; if `nil`, the file is indexed first.
  ///   - orientation: how the pictures must be turned: that of the same track in `VideoIndex`, which is what
  ///     `nil` means, too.
  ///   - threads: how many threads the decoder may use; 1 decodes in `next()`, 0 leaves the
  ///     number to FFmpeg. More threads give the same pictures with more delay. Only H.264 is
  ///     decoded by several: for other codecs FFmpeg does not always report damage, and its output
  ///     then depends on the threads.
  /// - Throws: `VideoError` for a file without index, without that track, or with a codec that this
  ///   FFmpeg cannot decode.
  ///
  /// Cost: the first pictures of containers are decoded twice (as in the ffmpeg program, to find
  /// the reordering delay), those of bare streams are not. With several threads, a damaged video is
  /// decoded again up to the damage and then continued by one thread.
  public init(
    _ file: FilePath, container: VideoContainer = .any, track: Int? = nil,
    order: PictureOrder? = nil, orientation: VideoOrientation? = nil, threads: Int = 1
  ) throws(VideoError) {
    let known: (order: PictureOrder, orientation: VideoOrientation)
    if let order, let orientation {
      known = (order, orientation)
    } else {
      let track = try Self.indexed(file, container, track)
      known = (order ?? track.order, orientation ?? track.orientation)
    }
    state = Mutex(
      try DecoderState(
        file, container: container, track: track, order: known.order,
        orientation: known.orientation, threads: threads))
  }

  private static func indexed(
    _ file: FilePath, _ container: VideoContainer, _ number: Int?
  ) throws(VideoError) -> VideoTrack {
    let tracks = try VideoIndex.read(file, container: container).tracks
    let track = number.map { number in tracks.first { $0.number == number } } ?? tracks.first
    guard let track else {
      throw VideoError(
        file: file,
        what: number.map { "track \($0) is not a video track" } ?? "it has no video track")
    }
    return track
  }

  /// The next picture; `nil` after the last one.
  /// - Throws: `VideoError` at the end of a track without any picture.
  public func next() throws(VideoError) -> DecodedPicture? {
    try state.withLock { (state) throws(VideoError) in try state.next() }
  }

  /// Whether several threads may decode this track; otherwise one does, whatever is requested.
  public var mayUseThreads: Bool { state.withLock { $0.mayUseThreads } }

  /// Continues with another number of threads. Decodes all pictures up to the current position
  /// again, which takes as long as the first time. No effect after damage, and for codecs that one
  /// thread decodes.
  public func use(threads: Int) throws(VideoError) {
    try state.withLock { (state) throws(VideoError) in try state.use(threads: threads) }
  }

  /// CPU time of the decoder's own threads so far, user and system. With one thread 0, because the
  /// caller decodes in `next()`.
  public var threadCPUNanoseconds: Int64 { state.withLock { $0.threadCPUNanoseconds } }

  /// Counts so far; after the last picture those of the whole track.
  public var counts: Counts { state.withLock { $0.counts } }
}

/// Decodes with several threads while the video is intact, and with one from the first damage on.
struct DecoderState {
  let timeBase: VideoTimeBase
  var counts: VideoDecoder.Counts { pass.counts }

  private let file: FilePath
  private let container: VideoContainer
  private let track: Int?
  private let order: PictureOrder
  private let orientation: VideoOrientation
  private var pass: DecodePass
  private var delivered = 0
  /// CPU time of earlier passes.
  private var earlierThreadCPUNanoseconds: Int64 = 0

  /// CPU time of the decoder's own threads, without that of the caller.
  var threadCPUNanoseconds: Int64 { earlierThreadCPUNanoseconds + pass.threadCPUNanoseconds }

  init(
    _ file: FilePath, container: VideoContainer, track: Int?, order: PictureOrder,
    orientation: VideoOrientation, threads: Int
  ) throws(VideoError) {
    self.file = file
    self.container = container
    self.track = track
    self.order = order
    self.orientation = orientation
    pass = try DecodePass(
      file, container: container, track: track, order: order, orientation: orientation,
      threads: threads)
    timeBase = pass.timeBase
  }

  mutating func next() throws(VideoError) -> DecodedPicture? {
    var picture = try pass.next()
    if pass.isThreaded && pass.isDamaged {
      try restart(threads: 1)
      picture = try pass.next()
    }
    if picture != nil { delivered += 1 }
    guard delivered > 0 else {
      throw VideoError(
        file: file, what: "no picture could be decoded", byteOffset: 0,
        remedy: "check with a video player whether the file is complete")
    }
    return picture
  }

  var mayUseThreads: Bool { pass.mayUseThreads }

  /// Continues with another number of threads. No effect once damage was found.
  mutating func use(threads: Int) throws(VideoError) {
    if mayUseThreads, !pass.isDamaged { try restart(threads: threads) }
  }

  /// Restarts and decodes up to the current position.
  private mutating func restart(threads: Int) throws(VideoError) {
    earlierThreadCPUNanoseconds += pass.threadCPUNanoseconds
    pass = try DecodePass(
      file, container: container, track: track, order: order, orientation: orientation,
      threads: threads)
    for _ in 0..<delivered {
      if try pass.next() == nil { break }
      // Decodes everything again, with one thread.
      if pass.isThreaded && pass.isDamaged { return try restart(threads: 1) }
    }
  }
}
