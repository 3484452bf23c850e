import Core
import Media
import SystemPackage

/// The mapped depth file and its layout.
struct ARKitScannerDepthFile: Sendable {
  let name: String
  let mapped: MappedFile
  let layout: ARKitScannerDepthLayout

  init(_ path: FilePath, name: String, stated: ARKitScannerStatedSize) throws(CaptureError) {
    do {
      mapped = try MappedFile(path)
    } catch {
      throw CaptureError(error, of: path)
    }
    self.name = name
    if case .valid(let size) = stated {
      layout = try ARKitScannerDepthLayout(of: mapped, stated: size)
    } else {
      layout = try ARKitScannerDepthLayout(of: mapped, stated: nil)
    }
  }

  /// Number of records, including holes.
  var recordCount: Int { access.recordCount }

  var access: FrameAccess<UInt16> {
    switch layout.kind {
    case .framed(let chain, _):
      .indexed(
        ARKitScannerFramedDepth(
          file: mapped, chain: chain, decoder: ARKitScannerRecordDecoder(size: layout.size)))
    case .deflateStream(let frames, _, _):
      .ordered(ARKitScannerDeflateStreamDepth(file: mapped, size: layout.size, recordCount: frames))
    case .raw(let frames, _):
      .indexed(ARKitScannerRawDepth(file: mapped, size: layout.size, recordCount: frames))
    }
  }

  /// Whether `record` is known to be a hole without decoding it.
  func isEmpty(record: Int) -> Bool {
    guard case .framed(let chain, _) = layout.kind, record < chain.recordCount else {
      return false
    }
    return chain.payload(of: record).isEmpty
  }

  /// Whether the file ends within its content.
  var isCut: Bool {
    switch layout.kind {
    case .framed(let chain, _):
      switch chain.end {
      case .broken, .tooManyRecords: true
      case .complete, .stray: false
      }
    case .deflateStream(_, let isWhole, _): !isWhole
    case .raw: false
    }
  }

  /// Warns of damage in the layout. Damage inside records is found when they are decoded.
  func report(to warnings: WarningCollector) {
    let file = mapped.path
    switch layout.kind {
    case .framed(let chain, _):
      let place = "\(file), record \(chain.recordCount), byte \(chain.endOffset)"
      switch chain.end {
      case .complete: break
      case .stray(let bytes):
        warnings.add(.trailingData, "depth", "\(place): \(bytes) bytes after the last record")
      case .broken(let length) where length < 0:
        warnings.add(.truncatedStream, "depth", "\(place): negative length \(length)")
      case .broken(let length):
        let left = mapped.count - chain.endOffset - 4
        warnings.add(
          .truncatedStream, "depth",
          "\(place): the record is cut, \(left) of \(length) bytes are there")
      case .tooManyRecords:
        warnings.add(.truncatedStream, "depth", "\(place): records of length 0 without end")
      }
    case .deflateStream(let frames, let isWhole, let hasRest):
      if !isWhole {
        warnings.add(
          .truncatedStream, "depth",
          "\(file): the DEFLATE stream has no end, \(frames) whole frames are in it")
      } else if hasRest {
        warnings.add(.trailingData, "depth", "\(file): data after the last of \(frames) frames")
      }
    case .raw(let frames, let hasRest):
      if hasRest {
        warnings.add(.trailingData, "depth", "\(file): data after the last of \(frames) frames")
      }
    }
  }
}

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
