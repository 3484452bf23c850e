import CFFmpeg
import CPlatform
import Core
import Synchronization
import SystemPackage

/// A codec's context, with a packet and a frame for its input and output.
class CodecContext {
  let context: UnsafeMutablePointer<AVCodecContext>
  let packet: UnsafeMutablePointer<AVPacket>
  let frame: UnsafeMutablePointer<AVFrame>
  /// Counts of the codec's messages: all complaints, and those about the pictures themselves.
  private let messages = UnsafeMutablePointer<Int32>.allocate(capacity: 2)

  /// Number of complaints about damage, from any of the codec's threads.
  var damageMessages: Int { Int(scanmill_message_count(messages)) }

  /// Number of complaints other than those about missing reference pictures.
  var contentMessages: Int { Int(scanmill_message_count(messages + 1)) }

  init(_ codec: UnsafePointer<AVCodec>, _ file: FilePath) throws(VideoError) {
    var context = avcodec_alloc_context3(codec)
    var packet = av_packet_alloc()
    var frame = av_frame_alloc()
    guard let ownContext = context, let ownPacket = packet, let ownFrame = frame else {
      avcodec_free_context(&context)
      av_packet_free(&packet)
      av_frame_free(&frame)
      messages.deallocate()
      throw VideoError(file: file, what: "no memory for a codec")
    }
    messages.initialize(repeating: 0, count: 2)
    ownContext.pointee.opaque = UnsafeMutableRawPointer(messages)
    (self.context, self.packet, self.frame) = (ownContext, ownPacket, ownFrame)
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&context)
    var packet: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&packet)
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&frame)
    messages.deallocate()
  }
}

/// An opened decoder.
final class CodecHandle: CodecContext {
  /// The decoder's own threads, if it has any.
  private(set) var threads = DecoderThreads()
  /// Whether threads other than the caller's decode.
  let isThreaded: Bool
  /// Whether this codec may be decoded by several threads.
  let mayUseThreads: Bool

  private init(
    codec: AVCodecID, file: FilePath, threads: Int,
    configure: (UnsafeMutablePointer<AVCodecContext>) -> Int32
  ) throws(VideoError) {
    FFmpegLibraries.silence()
    // One thread for HEVC and others: for a phone's movie with 40 wrong bytes FFmpeg 5.1 reports
    // nothing, with any number of threads, and gives other pictures with three threads than with
    // one.
    mayUseThreads = codec == AV_CODEC_ID_H264
    let threadCount = mayUseThreads ? Int32(clamping: max(0, threads)) : 1
    isThreaded = threadCount != 1
    guard let decoder = avcodec_find_decoder(codec) else {
      throw VideoError(
        file: file, what: "this FFmpeg cannot decode \(String(cString: avcodec_get_name(codec)))")
    }
    try super.init(decoder, file)
    var status = configure(context)
    if status >= 0 {
      context.pointee.thread_count = threadCount
      // Each picture is decoded by one thread, which complains as a single-threaded decoder does.
      context.pointee.thread_type = FF_THREAD_FRAME
      context.pointee.max_pixels = Int64(InputLimits.pixelsOfPicture.most)
      if threadCount == 1 {
        status = avcodec_open2(context, decoder, nil)
      } else {
        self.threads = DecoderThreads(
          opening: { avcodec_open2(context, decoder, nil) }, result: &status)
      }
    }
    guard status >= 0 else {
      throw VideoError(
        file: file, what: "the decoder cannot be opened: \(FFmpegLibraries.text(ofError: status))")
    }
  }

  /// A decoder for a track of a container, which delays at least `reorderingDelay` pictures.
  convenience init(
    stream: UnsafeMutablePointer<AVStream>, reorderingDelay: Int, file: FilePath, threads: Int
  ) throws(VideoError) {
    guard let parameters = stream.pointee.codecpar else {
      throw VideoError(file: file, what: "the track does not say how it is encoded")
    }
    try self.init(codec: parameters.pointee.codec_id, file: file, threads: threads) { context in
      context.pointee.pkt_timebase = stream.pointee.time_base
      context.pointee.framerate = stream.pointee.avg_frame_rate
      let status = avcodec_parameters_to_context(context, parameters)
      context.pointee.has_b_frames = max(context.pointee.has_b_frames, Int32(reorderingDelay))
      return status
    }
  }

  /// A decoder for a bare H.264 stream, which knows the parameter sets and delays `reorderingDelay`
  /// pictures from the start.
  convenience init(
    parameterSets: [UInt8], reorderingDelay: Int, file: FilePath, threads: Int
  ) throws(VideoError) {
    try self.init(codec: AV_CODEC_ID_H264, file: file, threads: threads) { context in
      context.pointee.has_b_frames = Int32(reorderingDelay)
      guard !parameterSets.isEmpty else { return 0 }
      let count = parameterSets.count
      guard let memory = av_mallocz(count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
        return scanmill_averror_errno(ENOMEM)
      }
      UnsafeMutableRawBufferPointer(start: memory, count: count).copyBytes(from: parameterSets)
      context.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
      context.pointee.extradata_size = Int32(count)
      return 0
    }
  }
}

/// The threads that a decoder has created, and their CPU time.
struct DecoderThreads {
  private let numbers: [Int32]

  /// No threads.
  init() { numbers = [] }

  /// Finds the threads that `open` creates by their name, which threads inherit from their creator.
  init<Result>(opening open: () -> Result, result: inout Result) {
    let name = "decode-\(Self.count.add(1, ordering: .relaxed).newValue % 1_000_000)"
    var previous = [CChar](repeating: 0, count: 16)
    previous.withUnsafeMutableBufferPointer { scanmill_name_thread(name, $0.baseAddress) }
    result = open()
    previous.withUnsafeBufferPointer { scanmill_name_thread($0.baseAddress, nil) }
    var numbers = [Int32](repeating: 0, count: Self.most)
    let found = numbers.withUnsafeMutableBufferPointer {
      scanmill_threads_named(name, $0.baseAddress, Int32($0.count))
    }
    self.numbers = Array(numbers.prefix(Int(found)))
  }

  var count: Int { numbers.count }

  /// User and system time of the threads that still exist.
  var cpuNanoseconds: Int64 {
    numbers.reduce(0) { $0 + max(0, scanmill_thread_cpu_nanoseconds($1)) }
  }

  private static let count = Atomic<Int>(0)
  /// More threads than FFmpeg ever creates for one decoder (16 by default, 64 on request).
  private static let most = 256
}
