import CFFmpeg
import SystemPackage

/// One pass over a track: a decoder and where its packets come from.
struct DecodePass {
  private(set) var counts = VideoDecoder.Counts()
  let timeBase: VideoTimeBase

  private let file: FilePath
  private let source: any PacketSource
  private let codec: CodecBox
  private let orientation: VideoOrientation
  private let hasTimes: Bool
  private var isDraining = false
  private var failedDrains = 0

  /// More than any decoder holds back; so that one that fails forever does not keep us.
  private static let mostFailedDrains = 256

  init(
    _ file: FilePath, container: VideoContainer, track: Int?, threads: Int
  ) throws(VideoError) {
    self.file = file
    let input = try MediaInput(file)
    if try AnnexBScanner.isAnnexB(input, container) {
      guard track == nil || track == 0 else {
        throw VideoError(file: file, what: "a bare stream has no track \(track ?? 0)")
      }
      let packets = try AnnexBPackets(input)
      codec = try Self.openCodec(for: packets, file: file, threads: threads)
      source = packets
      orientation = .upright
      timeBase = VideoTimeBase(denominator: 1)
      hasTimes = false
    } else {
      let reader = try ContainerReader(input)
      let tracks = reader.videoTracks
      guard let number = track ?? tracks.first, tracks.contains(number),
        let stream = reader.stream(number)
      else {
        throw VideoError(
          file: file, what: track.map { "track \($0) is no video" } ?? "it has no video track")
      }
      source = ContainerPackets(reader, track: number)
      reader.analyze()
      codec = try CodecBox(stream: stream, file: file, threads: threads)
      orientation = VideoOrientation(of: stream)
      timeBase = VideoTimeBase(
        numerator: Int64(stream.pointee.time_base.num),
        denominator: Int64(stream.pointee.time_base.den))
      hasTimes = true
    }
  }

  /// When pictures are reordered and the parameter sets do not say how far, the ffmpeg program knows from
  /// its trial decoding; then, and only then, that is done here, too.
  private static func openCodec(
    for packets: AnnexBPackets, file: FilePath, threads: Int
  ) throws(VideoError) -> CodecBox {
    let sets = packets.parameterSets
    let codec = try CodecBox(
      parameterSets: sets, reorderingDelay: 0, file: file, threads: threads)
    guard packets.hasBidirectionalHead, codec.context.pointee.has_b_frames == 0 else {
      return codec
    }
    let reader = try ContainerReader(MediaInput(file), kind: "h264")
    reader.analyze()
    let delay = reader.stream(0)?.pointee.codecpar?.pointee.video_delay ?? 0
    return try CodecBox(parameterSets: sets, reorderingDelay: delay, file: file, threads: threads)
  }

  var isThreaded: Bool { codec.isThreaded }

  /// Whether anything was damaged in what has been decoded so far. A picture that was made with a damaged
  /// one does not come out before that is noticed.
  var isDamaged: Bool { codec.damageMessages > 0 || counts.refusedPackets > 0 }

  /// The next picture, `nil` after the last one.
  mutating func next() throws(VideoError) -> DecodedPicture? {
    let frame = codec.frame
    while true {
      let status = avcodec_receive_frame(codec.context, frame)
      if status >= 0 { return try picture(frame) }
      if status == scanmill_averror_eof() { return nil }
      if isDraining {
        // A picture that could not be finished; the ones after it still come.
        counts.refusedPackets += 1
        failedDrains += 1
        if failedDrains > Self.mostFailedDrains { return nil }
        continue
      }
      try sendPacket()
    }
  }

  /// Gives the decoder one packet, or the end. A packet that it refuses is skipped, as in the ffmpeg
  /// program; decoding goes on with the next.
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
    if avcodec_send_packet(codec.context, packet) < 0 { counts.refusedPackets += 1 }
    av_packet_unref(packet)
  }

  private mutating func picture(
    _ frame: UnsafeMutablePointer<AVFrame>
  ) throws(VideoError) -> DecodedPicture {
    let time = frame.pointee.best_effort_timestamp
    guard
      let picture = DecodedPicture(
        moving: frame, ordinal: counts.pictures,
        presentationTicks: hasTimes && time != scanmill_nopts() ? time : nil,
        orientation: orientation)
    else { throw VideoError(file: file, what: "no memory for a picture") }
    counts.pictures += 1
    counts.damageMessages = codec.damageMessages
    if picture.isDamaged { counts.damagedPictures += 1 }
    return picture
  }
}
