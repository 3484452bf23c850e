import Core
import Glibc
import Media
import SystemPackage

extension MultiScanCapture {
  /// Builds the depth stream as counted, without copies at the end.
  func makeDepth() -> StreamState<DepthStream> {
    contents.depth.map { stream in
      warnOfDamage(in: stream.survey, subject: "depth")
      let layout = stream.layout
      if layout.hasInvalidClaim {
        warnings.add(
          .sizeMismatch, "depth",
          "the metadata's resolution differs from that of the data; \(layout.size.width)x\(layout.size.height) is "
            + "taken")
      }
      warnings.add(
        .trailingData, "depth", count: frames.pairing.filler,
        "frames at the end are copies made when the recording stopped; left out")
      warnings.add(
        .corruptRecord, "depth", count: stream.survey.framesWithStereoDefect,
        "frames hold nothing of their own beyond byte \(MultiScanInflatedFile.realBytesOfStereo); cleared"
      )
      var description = description(
        contents.files.depth ?? "",
        encoding: encoding(stream.survey, layout.unit == .meters ? "f16" : "u16"),
        width: layout.size.width, height: layout.size.height, frames: frames.pairing.depthFrames,
        declared: contents.metadata?.first(.depth)?.declaredFrames,
        times: frames.frames.map(\.depthTimestamp))
      description.pairing = rankPairing(frames.pairing.depthFrames)
      let mayHaveStereoDefect = contents.generation == .iosStereo
      let source = MultiScanInflatedFrames<UInt16>(
        file: stream.file, pixels: layout.pixels, recordCount: frames.pairing.depthFrames
      ) { pixels, place in
        if mayHaveStereoDefect, MultiScanInflatedFile.hasStereoDefect(pixels) {
          for pixel in MultiScanInflatedFile.realBytesOfStereo / 2..<pixels.count {
            pixels[pixel] = 0
          }
        }
        guard layout.unit == .meters else { return .picture }
        let found = pixels.convertHalfMetersToMillimeters()
        let issue = FrameIssue(
          code: .nonFiniteValue, message: "\(place): NaN or infinite depth")
        return RecordOutcome(
          hasPicture: true, issue: found.hasNonFinite ? issue : nil, tooFar: found.tooFar)
      }
      return DepthStream(
        description: description, width: layout.size.width, height: layout.size.height,
        access: .ordered(source), firstFrame: frames.pairing.firstDepthFrame)
    }
  }

  /// Builds the confidence stream, which has the size of depth and starts at the same frame.
  func makeConfidence() -> StreamState<ConfidenceStream> {
    contents.confidence.map { stream in
      warnOfDamage(in: stream.survey, subject: "confidence")
      let layout = stream.layout
      let first = frames.pairing.firstDepthFrame
      let times = frames.frames.indices.map { index in
        index >= first && index < first + frames.pairing.confidenceFrames
          ? frames.frames[index].timestamp : nil
      }
      var description = description(
        contents.files.confidence ?? "", encoding: encoding(stream.survey, "u8"),
        width: layout.size.width, height: layout.size.height,
        frames: frames.pairing.confidenceFrames,
        declared: contents.metadata?.first(.confidence)?.declaredFrames, times: times)
      description.pairing = rankPairing(frames.pairing.confidenceFrames)
      let isARKit = !contents.generation.isAndroid
      let source = MultiScanInflatedFrames<UInt8>(
        file: stream.file, pixels: layout.pixels, recordCount: frames.pairing.confidenceFrames
      ) { pixels, place in
        let issue = (isARKit ? pixels.issueOfConfidence : nil).map {
          FrameIssue(code: $0.code, message: "\(place): \($0.message)")
        }
        return RecordOutcome(hasPicture: true, issue: issue)
      }
      return ConfidenceStream(
        description: description, width: layout.size.width, height: layout.size.height,
        access: .ordered(source), firstFrame: first)
    }
  }

  /// Depth and confidence frames have the order of the lines, or of the pictures.
  private func rankPairing(_ count: Int) -> StreamPairing? {
    let isOfLines = contents.linesInUse != nil
    let partners =
      isOfLines ? frames.pairing.lines - frames.pairing.firstDepthFrame : frames.pictures.length
    guard isOfLines || contents.color.value != nil else { return nil }
    return .byRank(
      count, with: isOfLines ? "lines" : "pictures", max(0, partners),
      isDoubtful: count != partners || contents.generation.isAndroid)
  }

  private func encoding(_ survey: MultiScanStreamSurvey, _ element: String) -> String {
    let wrapper =
      switch survey.format {
      case .raw: "deflate"
      case .zlib: "zlib"
      case .gzip: "gzip"
      }
    return "\(wrapper)-stream-\(element)"
  }

  private func warnOfDamage(in survey: MultiScanStreamSurvey, subject: String) {
    if survey.isCut {
      warnings.add(
        .truncatedStream, subject, "the stream has no end mark; its whole frames are kept")
    }
    warnings.add(
      .corruptRecord, subject, count: survey.wrongChecksums,
      "the checksum at the end does not match the frames before it; they are kept")
    if survey.hasTrailingData {
      warnings.add(.trailingData, subject, "what follows the last whole frame is ignored")
    }
    warnings.add(
      .multipleStreams, subject, count: survey.streams - 1,
      "streams follow the first one in the same file; all are read")
  }
}

/// Frames of one inflated file, in order.
struct MultiScanInflatedFrames<Pixel: FixedWidthInteger & BitwiseCopyable & Sendable>:
  OrderedFrameSource
{
  let file: MappedFile
  let pixels: Int
  /// Number of frames to deliver: those counted, without copies at the end.
  let recordCount: Int
  /// Makes values of what is stored; is told the place of the frame.
  var finish: @Sendable (inout [Pixel], _ place: String) -> RecordOutcome = { _, _ in .picture }

  var frameBytes: Int { pixels * MemoryLayout<Pixel>.size }

  func makeReader() -> any OrderedFrameReader<Pixel> { MultiScanInflatedReader(self) }
}

private final class MultiScanInflatedReader<
  Pixel: FixedWidthInteger & BitwiseCopyable & Sendable
>: OrderedFrameReader {
  private let source: MultiScanInflatedFrames<Pixel>
  private let inflated: MultiScanInflatedFile
  private var record = 0

  init(_ source: MultiScanInflatedFrames<Pixel>) {
    self.source = source
    inflated = MultiScanInflatedFile(source.file, frameBytes: source.frameBytes)
  }

  func next(into pixels: inout [Pixel]) -> RecordOutcome? {
    guard record < source.recordCount else { return nil }
    defer { record += 1 }
    let place = "record \(record), byte \(record * source.frameBytes) of the inflated stream"
    if pixels.count != source.pixels { pixels = [Pixel](repeating: 0, count: source.pixels) }
    guard inflated.read(into: &pixels) == source.frameBytes else {
      return .hole(.corruptRecord, "\(place): the stream ends before it")
    }
    return source.finish(&pixels, place)
  }
}

extension [UInt16] {
  /// Replaces half-precision meters by millimeters. Returns whether a pattern was NaN or infinite,
  /// and how many were above 100 m.
  fileprivate mutating func convertHalfMetersToMillimeters() -> (hasNonFinite: Bool, tooFar: Int) {
    // Patterns of positive numbers are in the order of the numbers; infinity is 0x7c00.
    let limit = Float16(PlausibleValues.depthMillimeters.upperBound / 1000).bitPattern
    let table = HalfFloat.millimeters
    return table.withUnsafeBufferPointer { table in
      withUnsafeMutableBufferPointer { pixels in
        var anyNonFinite = false
        var tooFar = 0
        for index in pixels.indices {
          let pattern = pixels[index]
          // All exponent bits are set. The table has an entry for each of the 65,536 patterns.
          anyNonFinite = anyNonFinite || pattern & 0x7c00 == 0x7c00
          if pattern > limit && pattern < 0x7c00 { tooFar &+= 1 }
          pixels[index] = table[Int(pattern)]
        }
        return (anyNonFinite, tooFar)
      }
    }
  }
}

/// A defect of the stereo mode's compressor: of a frame above 256 KiB only the first 262,144 bytes
/// are valid, after which the bytes 131,072…262,143 repeat to its end.
extension MultiScanInflatedFile {
  /// Number of valid bytes of a frame.
  static let realBytesOfStereo = 262_144
  private static let period = 131_072

  /// Whether the frame is longer than the valid part and repeats that way.
  static func hasStereoDefect<Element: BitwiseCopyable>(_ frame: [Element]) -> Bool {
    frame.withUnsafeBytes { bytes in
      guard bytes.count > realBytesOfStereo, let start = bytes.baseAddress else { return false }
      // Each byte equals the one a period before it. The two ranges overlap, which memcmp allows.
      return memcmp(
        start + realBytesOfStereo, start + realBytesOfStereo - period,
        bytes.count - realBytesOfStereo) == 0
    }
  }
}

/// Size and unit of the frames in a depth file; confidence has the same size.
struct MultiScanDepthLayout: Equatable {
  var size: PictureSize
  /// Meters are IEEE half, millimeters `uint16`, stored unchanged.
  var unit: MultiScanMetadata.DepthUnit
  /// Whether the size in the metadata is invalid or not that of the data, so that the default size
  /// is used.
  var hasInvalidClaim = false

  var pixels: Int { size.pixels }

  /// The element type follows from the depth unit alone. The size is the metadata's; without one it
  /// is 256×192 in LiDAR mode, and `nil` in other modes.
  init?(generation: MultiScanGeneration, metadata: MultiScanMetadata?) {
    unit = metadata?.depthUnit ?? (generation == .androidARCore ? .millimeters : .meters)
    switch metadata?.first(.depth)?.resolution ?? .absent {
    case .size(let claimed): size = claimed
    case let claim where generation.isLidar:
      size = .lidarDepth
      hasInvalidClaim = claim == .invalid
    default: return nil
    }
  }

  /// The LiDAR's own size if the size in the metadata does not fit the depth file: `survey` counted
  /// frames of that size, and `expected` is the number there should be. `nil` if the size in the
  /// metadata may be right.
  func replacingWrongClaim(_ survey: MultiScanStreamSurvey, expected: Int?) -> MultiScanDepthLayout?
  {
    var usual = self
    usual.size = .lidarDepth
    usual.hasInvalidClaim = true
    let usualBytes = usual.pixels * 2
    guard size != .lidarDepth, survey.bytes > 0, survey.bytes % usualBytes == 0
    else { return nil }
    // If both sizes fit, the one that gives the expected number of frames.
    if survey.bytes % (pixels * 2) == 0, pixels != usual.pixels, let expected {
      let usualFrames = survey.bytes / usualBytes
      guard abs(usualFrames - expected) < abs(survey.frames - expected) else { return nil }
    }
    return usual
  }

  /// The error for a file whose frame size is unknown.
  static func unknown(_ file: FilePath) -> CaptureError {
    CaptureError(
      file: file, problem: "the size of its frames is not known",
      correction: "state the resolution of the depth stream as [height, width] in the metadata")
  }
}

/// The inflated content of the DEFLATE streams in one file, one after the other.
///
/// The apps write one raw stream for the whole recording. Copies were re-encoded with a zlib or
/// gzip wrapper, and streams were appended to each other: each wrapper is detected where a stream
/// starts. After an end mark only bytes that inflate count as a stream; others set `hasStrayBytes`.
///
/// Constant memory. Must not be used by two threads at once.
final class MultiScanInflatedFile {
  /// The wrapper of the first stream; `raw` also for a file without any.
  private(set) var format: DeflateFormat
  /// Number of streams begun so far.
  private(set) var streams = 1
  /// Whether bytes after the last end mark are not a stream.
  private(set) var hasStrayBytes = false

  private let file: MappedFile
  private let frameBytes: Int
  private var stream: InflateStream
  private var currentFormat: DeflateFormat
  /// Whether the wrong checksum of the current stream has been counted.
  private var isCounted = false

  /// A stream after an end mark counts only if it yields `frameBytes` bytes or ends before.
  init(_ file: MappedFile, frameBytes: Int) {
    self.file = file
    self.frameBytes = frameBytes
    format = Self.firstFormat(of: file)
    currentFormat = format
    stream = InflateStream(file, range: 0..<file.count, format: format)
    file.willReadInOrder()
  }

  /// Whether the current stream has no end mark: cut, or damaged inside. Known once `read` has
  /// returned less than requested.
  var isCut: Bool {
    switch stream.state {
    case .open, .ended, .wrongChecksum: false
    case .truncated, .damaged: true
    }
  }
  /// Number of streams whose checksum does not match their content.
  private(set) var wrongChecksums = 0

  /// Fills `output` with the next bytes, across the ends of streams. Returns how many; fewer than
  /// requested only at the end of all streams.
  func read(into output: inout MutableRawSpan) -> Int {
    output.withUnsafeMutableBytes { output in
      var filled = 0
      while filled < output.count {
        var rest = UnsafeMutableRawBufferPointer(rebasing: output[filled...]).mutableBytes
        filled += stream.read(into: &rest)
        if filled < output.count, !goToNextStream() { break }
      }
      return filled
    }
  }

  /// Fills an array; gives the number of bytes.
  func read<Element: BitwiseCopyable>(into output: inout [Element]) -> Int {
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    return read(into: &bytes)
  }

  private func goToNextStream() -> Bool {
    var offset = stream.inputOffset
    if stream.state == .wrongChecksum {
      if !isCounted { wrongChecksums += 1 }
      isCounted = true
      // zlib stops at the checksum, after which gzip has a length of four bytes.
      if currentFormat == .gzip, stream.stopsBeforeLength { offset += 4 }
    } else if stream.state != .ended {
      return false
    }
    guard offset < file.count else { return false }
    guard let next = Self.format(of: file, at: offset, frameBytes: frameBytes) else {
      hasStrayBytes = true
      return false
    }
    stream = InflateStream(file, range: offset..<file.count, format: next)
    (currentFormat, isCounted) = (next, false)
    streams += 1
    return true
  }
}

extension MultiScanInflatedFile {
  /// The first stream's wrapper: gzip by its magic number, zlib only if the bytes do not inflate as
  /// a raw stream, which may begin like a zlib header.
  private static func firstFormat(of file: MappedFile) -> DeflateFormat {
    if isGzip(file, at: 0) { return .gzip }
    let asRaw = probe(file, at: 0, format: .raw, limit: 1)
    if asRaw.produced > 0 { return .raw }
    let asZlib = probe(file, at: 0, format: .zlib, limit: 1)
    return asZlib.produced > 0 || (asRaw.state != .ended && asZlib.state == .ended) ? .zlib : .raw
  }

  /// The wrapper of the stream at `offset`; `nil` without one: nothing inflates, or damage comes
  /// before the first whole frame.
  private static func format(
    of file: MappedFile, at offset: Int, frameBytes: Int
  ) -> DeflateFormat? {
    let candidates: [DeflateFormat] = isGzip(file, at: offset) ? [.gzip] : [.raw, .zlib]
    return candidates.first { format in
      let (produced, state) = probe(file, at: offset, format: format, limit: frameBytes)
      return switch state {
      case .open, .ended: true
      case .wrongChecksum: produced >= frameBytes
      case .truncated: produced > 0
      case .damaged: produced >= frameBytes
      }
    }
  }

  /// Inflates up to `limit` bytes and discards them.
  private static func probe(
    _ file: MappedFile, at offset: Int, format: DeflateFormat, limit: Int
  ) -> (produced: Int, state: InflateStream.State) {
    let stream = InflateStream(file, range: offset..<file.count, format: format)
    var scratch: [UInt8] = []
    while stream.state == .open, stream.producedBytes < limit {
      _ = stream.read(into: &scratch, count: min(limit - stream.producedBytes, 65_536))
    }
    return (stream.producedBytes, stream.state)
  }

  private static func isGzip(_ file: MappedFile, at offset: Int) -> Bool {
    file.withBytes { $0.bigEndian(UInt16.self, at: offset) } == 0x1f8b
  }
}
