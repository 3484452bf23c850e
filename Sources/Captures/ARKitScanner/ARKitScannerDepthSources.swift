import Media
import Core

/// Framed records, which can be decoded independently.
struct ARKitScannerFramedDepth: IndexedFrameSource {
  let file: MappedFile
  let chain: ARKitScannerDepthChain
  let decoder: ARKitScannerRecordDecoder

  var recordCount: Int { chain.recordCount }

  func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
    guard (0..<recordCount).contains(record) else {
      throw CaptureError(file: file.path, record: record, problem: "no such record")
    }
    let payload = chain.payload(of: record)
    guard !payload.isEmpty else {
      return .hole(
        .emptyRecord, "\(place(of: record)): length 0, the app could not encode this frame")
    }
    defer { file.didRead(bytes: payload.count) }
    switch file.withBytes(in: payload, { decoder.decode($0, into: &pixels) }) {
    case .picture(let kind, let hasNonFinite, let tooFar):
      return RecordOutcome(
        hasPicture: true, issue: hasNonFinite ? .nonFiniteDepth(place(of: record)) : nil,
        encoding: kind.rawValue, tooFar: tooFar)
    case .corrupt(let reason):
      return .hole(
        .corruptRecord, "\(place(of: record)): \(payload.count) bytes, \(reason)")
    }
  }

  private func place(of record: Int) -> String {
    "\(file.path), record \(record), byte \(chain.offset(of: record))"
  }
}

/// Frames of float32, one after the other.
struct ARKitScannerRawDepth: IndexedFrameSource {
  let file: MappedFile
  let size: ARKitScannerPictureSize
  let recordCount: Int

  func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
    guard (0..<recordCount).contains(record) else {
      throw CaptureError(file: file.path, record: record, problem: "no such frame")
    }
    let byteCount = size.pixels * ARKitScannerFloatDepth.bytesPerPixel
    let range = record * byteCount..<(record + 1) * byteCount
    defer { file.didRead(bytes: byteCount) }
    let found = file.withBytes(in: range) {
      ARKitScannerFloatDepth.convert($0, into: &pixels)
    }
    return RecordOutcome(
      hasPicture: true,
      issue: found.hasNonFinite
        ? .nonFiniteDepth("\(file.path), frame \(record), byte \(range.lowerBound)") : nil,
      tooFar: found.tooFar)
  }
}

/// Frames of float32 in one DEFLATE stream.
struct ARKitScannerDeflateStreamDepth: OrderedFrameSource {
  let file: MappedFile
  let size: ARKitScannerPictureSize
  let recordCount: Int

  func makeReader() throws -> any OrderedFrameReader<UInt16> { Reader(self) }

  final class Reader: OrderedFrameReader {
    private let source: ARKitScannerDeflateStreamDepth
    private let stream: InflateStream
    private var meters: [UInt8] = []
    private var record = 0

    init(_ source: ARKitScannerDeflateStreamDepth) {
      self.source = source
      stream = InflateStream(source.file, range: 0..<source.file.count, format: .raw)
    }

    func next(into pixels: inout [UInt16]) throws -> RecordOutcome? {
      guard record < source.recordCount else { return nil }
      let byteCount = source.size.pixels * ARKitScannerFloatDepth.bytesPerPixel
      guard stream.read(into: &meters, count: byteCount) == byteCount else {
        throw CaptureError(
          file: source.file.path, record: record, byteOffset: stream.inputOffset,
          problem: "the stream ends earlier than when it was counted",
          remedy: "do not change a capture while it is read")
      }
      defer { record += 1 }
      let found = ARKitScannerFloatDepth.convert(meters.span.bytes, into: &pixels)
      return RecordOutcome(
        hasPicture: true,
        issue: found.hasNonFinite
          ? .nonFiniteDepth("\(source.file.path), frame \(record)") : nil,
        tooFar: found.tooFar)
    }
  }
}

extension FrameIssue {
  /// The issue of values that are not finite and were replaced by 0.
  fileprivate static func nonFiniteDepth(_ place: String) -> FrameIssue {
    FrameIssue(code: .nonFiniteValue, message: "\(place): NaN or infinite depth, written as 0")
  }
}
