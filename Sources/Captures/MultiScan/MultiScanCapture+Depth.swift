import Core
import Media
import SystemPackage

extension MultiScanCapture {
  /// Builds the depth stream as counted, without copies at the end.
  func makeDepth() -> StreamState<DepthStream> {
    switch contents.depth {
    case .absent(let why): return .absent(why)
    case .unreadable(let error): return .unreadable(error)
    case .present(let stream):
      warnOfDamage(in: stream.survey, subject: "depth")
      let layout = stream.layout
      if layout.hasInvalidClaim {
        warnings.add(
          .sizeMismatch, "depth",
          "the metadata's resolution differs from that of the data; \(layout.width)x\(layout.height) is "
            + "taken")
      }
      warnings.add(
        .trailingData, "depth", count: frames.pairing.filler,
        "frames at the end are copies made when the recording stopped; left out")
      warnings.add(
        .corruptRecord, "depth", count: stream.survey.framesWithStereoDefect,
        "frames hold nothing of their own beyond byte \(MultiScanStereoDefect.realBytes); cleared")
      var description = description(
        contents.files.depth ?? "", encoding: encoding(stream.survey, layout.element.suffix),
        width: layout.width, height: layout.height, frames: frames.pairing.depthFrames,
        declared: contents.metadata?.first(.depth)?.declaredFrames,
        times: frames.frames.map(\.depthTimestamp))
      description.pairing = rankPairing(frames.pairing.depthFrames)
      let source = MultiScanDepthFrames(
        file: stream.file, layout: layout, recordCount: frames.pairing.depthFrames,
        mayHaveStereoDefect: contents.generation == .iosStereo)
      return .present(
        DepthStream(
          description: description, width: layout.width, height: layout.height,
          access: .ordered(source), firstFrame: frames.pairing.firstDepthFrame))
    }
  }

  /// Builds the confidence stream, which has the size of depth and starts at the same frame.
  func makeConfidence() -> StreamState<ConfidenceStream> {
    switch contents.confidence {
    case .absent(let why): return .absent(why)
    case .unreadable(let error): return .unreadable(error)
    case .present(let stream):
      warnOfDamage(in: stream.survey, subject: "confidence")
      let layout = stream.layout
      let first = frames.pairing.firstDepthFrame
      let times = frames.frames.indices.map { index in
        index >= first && index < first + frames.pairing.confidenceFrames
          ? frames.frames[index].timestamp : nil
      }
      var description = description(
        contents.files.confidence ?? "", encoding: encoding(stream.survey, "u8"),
        width: layout.width, height: layout.height, frames: frames.pairing.confidenceFrames,
        declared: contents.metadata?.first(.confidence)?.declaredFrames, times: times)
      description.pairing = rankPairing(frames.pairing.confidenceFrames)
      let source = MultiScanConfidenceFrames(
        file: stream.file, pixels: layout.pixels, recordCount: frames.pairing.confidenceFrames)
      return .present(
        ConfidenceStream(
          description: description, width: layout.width, height: layout.height,
          access: .ordered(source), firstFrame: first))
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

/// Depth frames of one inflated file, in order, in millimeters.
struct MultiScanDepthFrames: OrderedFrameSource {
  let file: MappedFile
  let layout: MultiScanDepthLayout
  /// Number of frames to deliver: those counted, without copies at the end.
  let recordCount: Int
  /// Whether frames may have the stereo mode's defect, whose invalid part is cleared.
  let mayHaveStereoDefect: Bool

  func makeReader() -> any OrderedFrameReader<UInt16> { DepthFrameReader(self) }
}

/// Confidence frames of one inflated file, in order, as stored.
struct MultiScanConfidenceFrames: OrderedFrameSource {
  let file: MappedFile
  let pixels: Int
  let recordCount: Int

  func makeReader() -> any OrderedFrameReader<UInt8> { ConfidenceFrameReader(self) }
}

private final class DepthFrameReader: OrderedFrameReader {
  private let source: MultiScanDepthFrames
  private let inflated: MultiScanInflatedFile
  private var record = 0

  init(_ source: MultiScanDepthFrames) {
    self.source = source
    inflated = MultiScanInflatedFile(source.file, frameBytes: source.layout.pixels * 2)
  }

  func next(into pixels: inout [UInt16]) -> RecordOutcome? {
    guard record < source.recordCount else { return nil }
    defer { record += 1 }
    let start = record * source.layout.pixels * 2
    guard inflated.fill(&pixels, count: source.layout.pixels) else {
      return .shorterThanCounted(record: record, byte: start)
    }
    if source.mayHaveStereoDefect, MultiScanStereoDefect.isIn(pixels) {
      for pixel in MultiScanStereoDefect.realBytes / 2..<pixels.count { pixels[pixel] = 0 }
    }
    guard source.layout.element == .halfMeters else { return .picture }
    let found = pixels.convertHalfMetersToMillimeters()
    let issue = FrameIssue(
      code: .nonFiniteValue,
      message: "record \(record), byte \(start) of the inflated stream: NaN or infinite depth")
    return RecordOutcome(
      hasPicture: true, issue: found.hasNonFinite ? issue : nil, tooFar: found.tooFar)
  }
}

private final class ConfidenceFrameReader: OrderedFrameReader {
  private let source: MultiScanConfidenceFrames
  private let inflated: MultiScanInflatedFile
  private var record = 0

  init(_ source: MultiScanConfidenceFrames) {
    self.source = source
    inflated = MultiScanInflatedFile(source.file, frameBytes: source.pixels)
  }

  func next(into pixels: inout [UInt8]) -> RecordOutcome? {
    guard record < source.recordCount else { return nil }
    defer { record += 1 }
    guard inflated.fill(&pixels, count: source.pixels) else {
      return .shorterThanCounted(record: record, byte: record * source.pixels)
    }
    return .picture
  }
}

extension MultiScanInflatedFile {
  /// Reads the next `count` little-endian elements; `false` when fewer are left.
  fileprivate func fill<Pixel: FixedWidthInteger & BitwiseCopyable>(
    _ pixels: inout [Pixel], count: Int
  ) -> Bool {
    if pixels.count != count { pixels = [Pixel](repeating: 0, count: count) }
    var span = pixels.mutableSpan
    var bytes = span.mutableBytes
    return read(into: &bytes) == count * MemoryLayout<Pixel>.size
  }
}

extension RecordOutcome {
  fileprivate static func shorterThanCounted(record: Int, byte: Int) -> RecordOutcome {
    .hole(
      .corruptRecord,
      "record \(record), byte \(byte) of the inflated stream: the stream ends before it")
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

#if canImport(Glibc)
  import Glibc
#endif

/// A defect of the stereo mode's compressor: of a frame above 256 KiB only the first 262,144 bytes
/// are valid, after which the bytes 131,072…262,143 repeat to its end.
enum MultiScanStereoDefect {
  /// Number of valid bytes of a frame.
  static let realBytes = 262_144
  private static let period = 131_072

  /// Whether the frame is longer than the valid part and repeats that way.
  static func isIn<Element: BitwiseCopyable>(_ frame: [Element]) -> Bool {
    frame.withUnsafeBytes { bytes in
      guard bytes.count > realBytes, let start = bytes.baseAddress else { return false }
      // Each byte equals the one a period before it. The two ranges overlap, which memcmp allows.
      return memcmp(start + realBytes, start + realBytes - period, bytes.count - realBytes) == 0
    }
  }
}

/// Size and element type of the frames in a depth file; confidence has the same size.
struct MultiScanDepthLayout: Equatable, Sendable {
  enum Element: Sendable {
    /// IEEE half, meters.
    case halfMeters
    /// Stored unchanged.
    case uint16Millimeters

    var suffix: String {
      switch self {
      case .halfMeters: "f16"
      case .uint16Millimeters: "u16"
      }
    }
  }

  var width: Int
  var height: Int
  var element: Element
  /// Whether the size in the metadata is invalid or not that of the data, so that the default size
  /// is used.
  var hasInvalidClaim = false

  var pixels: Int { width * height }

  /// The element type follows from the depth unit alone. The size is the metadata's; without one it
  /// is 256×192 in LiDAR mode, and `nil` in other modes.
  init?(generation: MultiScanGeneration, metadata: MultiScanMetadata?) {
    let unit = metadata?.depthUnit ?? (generation == .androidARCore ? .millimeters : .meters)
    element = unit == .millimeters ? .uint16Millimeters : .halfMeters
    switch metadata?.first(.depth)?.resolution ?? .absent {
    case .size(let claimedWidth, let claimedHeight):
      (width, height) = (claimedWidth, claimedHeight)
    case let claim where generation.isLidar:
      (width, height) = Self.lidarSize
      hasInvalidClaim = claim == .invalid
    default: return nil
    }
  }

  private static let lidarSize = (width: 256, height: 192)

  /// The LiDAR's own size if the size in the metadata does not fit the depth file: `survey` counted
  /// frames of that size, and `expected` is the number there should be. `nil` if the size in the
  /// metadata may be right.
  func replacingWrongClaim(_ survey: MultiScanStreamSurvey, expected: Int?) -> MultiScanDepthLayout?
  {
    var usual = self
    (usual.width, usual.height) = Self.lidarSize
    usual.hasInvalidClaim = true
    let usualBytes = usual.pixels * 2
    guard (width, height) != Self.lidarSize, survey.bytes > 0, survey.bytes % usualBytes == 0
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
