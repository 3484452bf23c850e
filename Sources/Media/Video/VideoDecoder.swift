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
      try DecoderState(file, threads: threads) { (threads) throws(VideoError) in
        try DecodePass(
          file, container: container, track: track, order: known.order,
          orientation: known.orientation, threads: threads)
      })
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
  public var mayUseThreads: Bool { state.withLock { $0.pass.mayUseThreads } }

  /// Continues with another number of threads. Decodes all pictures up to the current position
  /// again, which takes as long as the first time. No effect after damage, and for codecs that one
  /// thread decodes.
  public func use(threads: Int) throws(VideoError) {
    try state.withLock { (state) throws(VideoError) in
      if state.pass.mayUseThreads, !state.pass.isDamaged { try state.restart(threads: threads) }
    }
  }

  /// CPU time of the decoder's own threads so far, user and system. With one thread 0, because the
  /// caller decodes in `next()`.
  public var threadCPUNanoseconds: Int64 { state.withLock { $0.threadCPUNanoseconds } }

  /// Counts so far; after the last picture those of the whole track.
  public var counts: Counts { state.withLock { $0.pass.counts } }
}

/// Decodes with several threads while the video is intact, and with one from the first damage on.
private struct DecoderState {
  /// Begins a pass with so many threads.
  let open: (_ threads: Int) throws(VideoError) -> DecodePass
  var pass: DecodePass
  private let file: FilePath
  private var delivered = 0
  /// CPU time of earlier passes.
  private var earlierThreadCPUNanoseconds: Int64 = 0

  /// CPU time of the decoder's own threads, without that of the caller.
  var threadCPUNanoseconds: Int64 { earlierThreadCPUNanoseconds + pass.threadCPUNanoseconds }

  init(
    _ file: FilePath, threads: Int,
    open: @escaping (_ threads: Int) throws(VideoError) -> DecodePass
  ) throws(VideoError) {
    self.file = file
    self.open = open
    pass = try open(threads)
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

  /// Restarts and decodes up to the current position.
  mutating func restart(threads: Int) throws(VideoError) {
    earlierThreadCPUNanoseconds += pass.threadCPUNanoseconds
    pass = try open(threads)
    for _ in 0..<delivered {
      if try pass.next() == nil { break }
      // Decodes everything again, with one thread.
      if pass.isThreaded && pass.isDamaged { return try restart(threads: 1) }
    }
  }
}

/// One pass over a track: a decoder and the source of its packets.
struct DecodePass {
  private(set) var counts = VideoDecoder.Counts()

  private let file: FilePath
  private let source: any PacketSource
  private let codec: CodecHandle
  private let orientation: VideoOrientation
  private let order: PictureOrder
  private var numbers: PacketNumbers
  /// Pictures that are not output yet and whose packets the decoder complained about.
  private var patched: Set<Int> = []
  private var isDraining = false
  private var failedDrains = 0

  /// Most failed attempts to drain the decoder: more pictures than any decoder holds, so that a
  /// permanent failure ends.
  private static let mostFailedDrains = 256

  init(
    _ file: FilePath, container: VideoContainer, track: Int?, order: PictureOrder,
    orientation: VideoOrientation, threads: Int
  ) throws(VideoError) {
    self.file = file
    self.order = order
    self.orientation = orientation
    let opened = try OpenedTrack(file, container: container, track: track, order: order)
    source = opened.source
    codec = try opened.decoder(threads)
    numbers = PacketNumbers(order, isBare: opened.isBare)
  }

  var isThreaded: Bool { codec.isThreaded }
  var mayUseThreads: Bool { codec.mayUseThreads }

  /// CPU time of the decoder's own threads.
  var threadCPUNanoseconds: Int64 { codec.threads.cpuNanoseconds }

  /// Whether damage was found in what has been decoded so far. No picture that depends on damage is
  /// output before this is set.
  var isDamaged: Bool { codec.damageMessages > 0 || counts.refusedPackets > 0 }

  /// Decodes the next picture; `nil` after the last one.
  mutating func next() throws(VideoError) -> DecodedPicture? {
    let frame = codec.frame
    while true {
      let status = avcodec_receive_frame(codec.context, frame)
      if status >= 0 { return try picture(frame) }
      if status == scanmill_averror_eof() { return nil }
      if isDraining {
        // A picture that could not be finished; later ones still follow.
        counts.refusedPackets += 1
        failedDrains += 1
        if failedDrains > Self.mostFailedDrains { return nil }
        continue
      }
      try sendPacket()
    }
  }

  /// Sends one packet to the decoder, or the end of the stream. A rejected packet is skipped, as in
  /// the ffmpeg program.
  private mutating func sendPacket() throws(VideoError) {
    let packet = codec.packet
    repeat {
      av_packet_unref(packet)
      guard try source.next(into: packet) else {
        isDraining = true
        _ = avcodec_send_packet(codec.context, nil)
        return
      }
    } while packet.pointee.size == 0
    // The decoder copies a packet's time to its picture; here it is the picture's decoding index.
    let number = numbers.picture(of: packet)
    packet.pointee.pts = number.map(Int64.init) ?? scanmill_nopts()
    packet.pointee.dts = scanmill_nopts()
    let messages = codec.damageMessages
    if avcodec_send_packet(codec.context, packet) < 0 { counts.refusedPackets += 1 }
    if let number, codec.damageMessages > messages, !numbers.holdsSeveral {
      patched.insert(number)
    }
    av_packet_unref(packet)
  }

  private mutating func picture(
    _ frame: UnsafeMutablePointer<AVFrame>
  ) throws(VideoError) -> DecodedPicture {
    let number = frame.pointee.pts
    let decoded = number == scanmill_nopts() ? nil : Int(exactly: number)
    guard
      let picture = DecodedPicture(
        moving: frame, outputIndex: counts.pictures, displayIndex: decoded.map(order.displayIndex),
        orientation: orientation,
        isPatched: decoded.map { patched.remove($0) != nil } ?? false)
    else { throw VideoError(file: file, what: "no memory for a picture") }
    counts.pictures += 1
    counts.damageMessages = codec.damageMessages
    if picture.isDamaged { counts.damagedPictures += 1 }
    return picture
  }
}

/// A track whose packets can be read, and decoders for it.
struct OpenedTrack {
  let source: any PacketSource
  let isBare: Bool
  /// Opens a decoder that may use so many threads.
  let decoder: (_ threads: Int) throws(VideoError) -> CodecHandle

  init(
    _ file: FilePath, container: VideoContainer, track: Int?, order: PictureOrder
  ) throws(VideoError) {
    let input = try MediaInput(file)
    isBare = try AnnexBReader.isAnnexB(input, container)
    if isBare {
      guard track == nil || track == 0 else {
        throw VideoError(file: file, what: "a bare stream has no track \(track ?? 0)")
      }
      let packets = try AnnexBReader(input)
      let sets = packets.parameterSets
      source = packets
      decoder = { (threads) throws(VideoError) in
        try CodecHandle(
          parameterSets: sets, reorderingDelay: order.delay, file: file, threads: threads)
      }
      return
    }
    let reader = try ContainerReader(input, ignoresEditList: order.ignoresEditList)
    let tracks = reader.videoTracks
    guard let number = track ?? tracks.first, tracks.contains(number),
      let stream = reader.stream(number)
    else {
      throw VideoError(
        file: file,
        what: track.map { "track \($0) is not a video track" } ?? "it has no video track")
    }
    reader.select(number)
    reader.analyze()
    source = reader
    decoder = { (threads) throws(VideoError) in
      // The stream lives as long as its reader.
      try withExtendedLifetime(reader) { () throws(VideoError) in
        try CodecHandle(
          stream: stream, reorderingDelay: order.delay, file: file, threads: threads)
      }
    }
  }
}

/// Duration of a tick of a video's clock: `numerator` / `denominator` seconds.
public struct VideoTimeBase: Hashable, Sendable {
  public var numerator: Int64
  public var denominator: Int64

  /// Values that are not positive become 1.
  public init(numerator: Int64 = 1, denominator: Int64) {
    self.numerator = max(1, numerator)
    self.denominator = max(1, denominator)
  }

  /// The nearest nanosecond, ties away from zero, computed exactly; `nil` if it does not fit.
  public func nanoseconds(ofTicks ticks: Int64) -> Int64? {
    let (scale, overflow) = numerator.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return nil }
    let product = ticks.magnitude.multipliedFullWidth(by: scale.magnitude)
    let (sum, carry) = product.low.addingReportingOverflow(denominator.magnitude / 2)
    let high = product.high + (carry ? 1 : 0)
    guard high < denominator.magnitude else { return nil }
    let quotient = denominator.magnitude.dividingFullWidth((high, sum)).quotient
    guard let value = Int64(exactly: quotient) else { return nil }
    return ticks < 0 ? -value : value
  }
}
