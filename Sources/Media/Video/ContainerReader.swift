import CFFmpeg
import Core
import SystemPackage

/// A source of packets for a decoder.
protocol PacketSource: AnyObject {
  /// Reads the next packet of the track; false at the end of what can be read.
  func next(into packet: UnsafeMutablePointer<AVPacket>) throws(VideoError) -> Bool
}

/// A video container, opened with libavformat.
final class ContainerReader: PacketSource {
  let input: MediaInput
  let layout: MovieLayout
  private var io: UnsafeMutablePointer<AVIOContext>?
  private var format: UnsafeMutablePointer<AVFormatContext>?

  /// Formats that reference no other file: no playlists, no picture sequences.
  private static let kinds =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,h264,hevc,avi,mpegts,mpeg,m4v,ivf,obu"

  /// Whether pictures that an edit list hides are delivered like all others.
  let ignoresEditList: Bool

  /// Reads the header of `input`. `kind` names the format instead of detecting it.
  init(
    _ input: MediaInput, kind: String? = nil, ignoresEditList: Bool = false
  ) throws(VideoError) {
    FFmpegLibraries.silence()
    self.input = input
    self.ignoresEditList = ignoresEditList
    layout = try MovieLayout(input)
    if layout.isMovie { try MovieValidator.check(input) }
    let io = input.makeContext()
    var format = avformat_alloc_context()
    guard let io, let opened = format else {
      avformat_free_context(format)
      FFmpegLibraries.free(io)
      throw VideoError(file: input.file, what: "no memory to open it")
    }
    opened.pointee.pb = io
    // For formats whose index `MovieValidator` does not check.
    opened.pointee.max_streams = Int32(clamping: InputLimits.tracksOfMovie.most)
    opened.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    opened.pointee.format_whitelist = av_strdup(Self.kinds)
    opened.pointee.protocol_whitelist = av_strdup("none")
    var options: OpaquePointer?
    if ignoresEditList, layout.isMovie { _ = av_dict_set(&options, "ignore_editlist", "1", 0) }
    defer { av_dict_free(&options) }
    let status = avformat_open_input(
      &format, nil, kind.flatMap { av_find_input_format($0) }, &options)
    guard status >= 0 else {
      // A failed open frees the format context, but not the I/O context.
      FFmpegLibraries.free(io)
      throw layout.explanation(for: input)
        ?? VideoError(
          file: input.file, what: "no video: \(FFmpegLibraries.text(ofError: status))",
          remedy: "check that it is a complete MP4, QuickTime, Matroska or H.264 file")
    }
    self.io = io
    self.format = format
  }

  deinit {
    avformat_close_input(&format)
    FFmpegLibraries.free(io)
  }

  /// The indices of all video tracks; covers and thumbnails do not count.
  var videoTracks: [Int] {
    (0..<streamCount).filter { number in
      guard let stream = stream(number), let codec = stream.pointee.codecpar else { return false }
      return codec.pointee.codec_type == AVMEDIA_TYPE_VIDEO
        && stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
    }
  }

  func stream(_ number: Int) -> UnsafeMutablePointer<AVStream>? {
    guard number >= 0, number < streamCount else { return nil }
    return format?.pointee.streams[number]
  }

  private var streamCount: Int { Int(format?.pointee.nb_streams ?? 0) }

  private var selected: Int?

  /// Selects the packets of one track; those of all others are not read.
  func select(_ track: Int) {
    selected = track
    for number in 0..<streamCount {
      stream(number)?.pointee.discard = number == track ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Reads and decodes the first packets, as the ffmpeg program does, to find what the header does
  /// not state: the reordering delay, parameter sets.
  func analyze() {
    _ = avformat_find_stream_info(format, nil)
  }

  /// Reads packets without their payload; see `MediaInput.isHollow`.
  func skipPayload() {
    if layout.isMovie { format?.pointee.flags |= AVFMT_FLAG_NOPARSE }
    input.isHollow = layout.isMovie && layout.hasIndex && !layout.isFragmented
  }

  /// Up to `count` bytes of a packet from `offset` on; read from the file if payload is skipped.
  func bytes(of packet: UnsafePointer<AVPacket>, at offset: Int, count: Int) -> [UInt8] {
    let size = Int(packet.pointee.size)
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let count = min(count, size - offset)
    guard input.isHollow else {
      guard let data = packet.pointee.data else { return [] }
      return [UInt8](UnsafeBufferPointer(start: data + offset, count: count))
    }
    guard packet.pointee.pos >= 0 else { return [] }
    return (try? input.bytes(at: packet.pointee.pos + Int64(offset), count: count)) ?? []
  }

  /// Reads the next packet of the selected track; false at the end and at a read error, which the
  /// ffmpeg program treats as the end, too.
  func next(into packet: UnsafeMutablePointer<AVPacket>) -> Bool {
    while true {
      let status = av_read_frame(format, packet)
      if status == scanmill_averror_eagain() { continue }
      guard status >= 0 else { return false }
      if Int(packet.pointee.stream_index) == selected { return true }
      av_packet_unref(packet)
    }
  }
}

/// The top-level atoms of an MP4 or QuickTime file: enough to explain why a file cannot be opened,
/// and whether its index is complete.
struct MovieLayout {
  /// Whether the first atom is one with which such files begin.
  var isMovie = false
  var hasIndex = false
  var isFragmented = false
  /// The first atom whose size extends beyond the end of the file.
  var cutAtom: (type: String, offset: Int64)?
  /// Offset at which the walk ended.
  var end: Int64 = 0

  /// Atoms with which a movie may begin.
  private static let firstTypes: Set<String> = [
    "ftyp", "moov", "mdat", "wide", "free", "skip", "pnot", "styp", "sidx",
  ]

  /// Walks from atom to atom by their sizes; reads 16 bytes of each. Fragmented files have two
  /// atoms per fragment: the walk ends after the first fragment.
  init(_ input: MediaInput) throws(VideoError) {
    if input.byteCount >= 8 {
      let type = String(decoding: try input.bytes(at: 4, count: 4), as: UTF8.self)
      isMovie = Self.firstTypes.contains(type)
    }
    guard isMovie else { return }
    while !isFragmented, let box = try MovieBox(input, at: end, before: input.byteCount),
      box.statedBytes < .max
    {
      switch box.type {
      case "moov": hasIndex = true
      case "moof": isFragmented = true
      default: break
      }
      if box.statedBytes > input.byteCount - end { cutAtom = (box.type, end) }
      end = box.end
    }
  }

  /// Why FFmpeg cannot open the movie; `nil` if unknown.
  func explanation(for input: MediaInput) -> VideoError? {
    guard isMovie, !isFragmented else { return nil }
    if let cutAtom, cutAtom.type == "moov" {
      return VideoError(
        file: input.file, what: "the moov atom (the index of the movie) is cut",
        byteOffset: cutAtom.offset, remedy: "copy the file again")
    }
    guard !hasIndex else { return nil }
    return VideoError(
      file: input.file,
      what: "no moov atom: the index is missing, as if the app was killed before closing the file",
      byteOffset: cutAtom?.offset ?? end,
      remedy:
        "if the original is longer, copy it again; otherwise a repair tool may rebuild the index")
  }
}

/// A file that FFmpeg reads through this module's functions. Its name is never taken for a protocol
/// or a playlist, no other file is opened, and payload can be skipped.
final class MediaInput {
  let file: FilePath
  let byteCount: Int64
  /// If true, bytes are counted but not read: FFmpeg gets packets of the right size and time with
  /// undefined content. For containers whose index states everything else.
  var isHollow = false

  private let descriptor: FileDescriptor
  private var position: Int64 = 0

  init(_ file: FilePath) throws(VideoError) {
    self.file = file
    do {
      let descriptor = try EnclosedPaths.openForReading(file)
      do {
        byteCount = try descriptor.seek(offset: 0, from: .end)
      } catch {
        try? descriptor.close()
        throw error
      }
      self.descriptor = descriptor
    } catch {
      throw VideoError(
        file: file, what: "cannot be read: \(error)",
        remedy: "check that it exists and is readable",
        errorNumber: DeviceErrors.number(of: error, at: file))
    }
  }

  deinit {
    try? descriptor.close()
  }

  /// Fills `buffer` from `offset` on as far as the file has bytes; 0 at its end.
  func read(
    at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(VideoError) -> Int {
    var filled = 0
    do {
      while filled < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let step = try descriptor.read(fromAbsoluteOffset: offset + Int64(filled), into: rest)
        if step == 0 { break }
        filled += step
      }
    } catch {
      throw VideoError(
        file: file, what: "cannot be read: \(error)", byteOffset: offset + Int64(filled),
        errorNumber: DeviceErrors.number(of: error, at: file))
    }
    return filled
  }

  /// Up to `count` bytes at `offset`, fewer at the end of the file.
  func bytes(at offset: Int64, count: Int) throws(VideoError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let filled = try bytes.withUnsafeMutableBufferPointer { (bytes) throws(VideoError) in
      try read(at: offset, into: UnsafeMutableRawBufferPointer(bytes))
    }
    bytes.removeLast(count - filled)
    return bytes
  }

  /// A context for `AVFormatContext.pb`, valid as long as this input; `nil` when out of memory.
  func makeContext() -> UnsafeMutablePointer<AVIOContext>? {
    let bufferBytes = 1 << 16
    guard let buffer = av_malloc(bufferBytes) else { return nil }
    let context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(bufferBytes), 0,
      Unmanaged.passUnretained(self).toOpaque(),
      { opaque, buffer, count in
        guard let opaque, let buffer else { return scanmill_averror_eof() }
        return Unmanaged<MediaInput>.fromOpaque(opaque).takeUnretainedValue()
          .next(into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)))
      }, nil,
      { opaque, offset, whence in
        guard let opaque else { return -1 }
        return Unmanaged<MediaInput>.fromOpaque(opaque).takeUnretainedValue()
          .seek(to: offset, whence: whence)
      })
    if context == nil { av_free(buffer) }
    return context
  }

  private func next(into buffer: UnsafeMutableRawBufferPointer) -> Int32 {
    let available = max(0, byteCount - position)
    var count = Int(min(Int64(buffer.count), available))
    if !isHollow {
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      guard let filled = try? read(at: position, into: target) else {
        return scanmill_averror_errno(EIO)
      }
      count = filled
    }
    guard count > 0 else { return scanmill_averror_eof() }
    position += Int64(count)
    return Int32(count)
  }

  private func seek(to offset: Int64, whence: Int32) -> Int64 {
    let target: Int64
    switch whence & ~AVSEEK_FORCE {
    case AVSEEK_SIZE: return byteCount
    case SEEK_SET: target = offset
    case SEEK_CUR: target = position &+ offset
    case SEEK_END: target = byteCount &+ offset
    default: return Int64(scanmill_averror_errno(EINVAL))
    }
    guard target >= 0 else { return Int64(scanmill_averror_errno(EINVAL)) }
    position = target
    return target
  }
}
