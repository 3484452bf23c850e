import Media
import Core

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
