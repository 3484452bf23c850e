import CFFmpeg
import SystemPackage

/// One pass over a track: a decoder and the source of its packets.
struct DecodePass {
  private(set) var counts = VideoDecoder.Counts()
  let timeBase: VideoTimeBase

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
    let input = try MediaInput(file)
    if try AnnexBScanner.isAnnexB(input, container) {
      guard track == nil || track == 0 else {
        throw VideoError(file: file, what: "a bare stream has no track \(track ?? 0)")
      }
      let packets = try AnnexBPackets(input)
      codec = try CodecHandle(
        parameterSets: packets.parameterSets, reorderingDelay: order.delay, file: file,
        threads: threads)
      source = packets
      timeBase = VideoTimeBase(denominator: 1)
      numbers = PacketNumbers(order, isBare: true)
    } else {
      let reader = try ContainerReader(input, ignoresEditList: order.ignoresEditList)
      let tracks = reader.videoTracks
      guard let number = track ?? tracks.first, tracks.contains(number),
        let stream = reader.stream(number)
      else {
        throw VideoError(
          file: file,
          what: track.map { "track \($0) is not a video track" } ?? "it has no video track")
      }
      source = ContainerPackets(reader, track: number)
      reader.analyze()
      codec = try CodecHandle(
        stream: stream, reorderingDelay: order.delay, file: file, threads: threads)
      timeBase = VideoTimeBase(
        numerator: Int64(stream.pointee.time_base.num),
        denominator: Int64(stream.pointee.time_base.den))
      numbers = PacketNumbers(order, isBare: false)
    }
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
