import Core
import Media
import SystemPackage

/// The mapped depth file, its layout and its pictures.
struct ARKitScannerDepthFile: IndexedFrameSource, OrderedFrameSource {
  let name: String
  let mapped: MappedFile
  let layout: ARKitScannerDepthLayout
  private let decoder: ARKitScannerRecordDecoder

  init(_ path: FilePath, name: String, stated: ARKitScannerStatedSize) throws(CaptureError) {
    mapped = try CaptureError.naming(path, try MappedFile(path))
    self.name = name
    layout = try ARKitScannerDepthLayout(of: mapped, stated: stated.size)
    decoder = ARKitScannerRecordDecoder(size: layout.size)
  }

  /// Number of records, including holes.
  var recordCount: Int {
    switch layout.kind {
    case .framed(let chain, _): chain.recordCount
    case .deflateStream(let frames, _, _), .raw(let frames, _): frames
    }
  }

  var access: FrameAccess<UInt16> {
    if case .deflateStream = layout.kind { .ordered(self) } else { .indexed(self) }
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

/// Frames in any order: length-prefixed records, or uncompressed ones.
extension ARKitScannerDepthFile {
  func decode(record: Int, into pixels: inout [UInt16]) throws -> RecordOutcome {
    guard case .framed(let chain, _) = layout.kind else {
      guard (0..<recordCount).contains(record) else {
        throw CaptureError(file: mapped.path, record: record, problem: "no such frame")
      }
      let byteCount = layout.size.floatBytes
      let start = record * byteCount
      defer { mapped.didRead(bytes: byteCount) }
      let found = mapped.withBytes(in: start..<start + byteCount) {
        ARKitScannerFloatDepth.convert($0, into: &pixels)
      }
      return found.outcome("\(mapped.path), frame \(record), byte \(start)")
    }
    guard (0..<recordCount).contains(record) else {
      throw CaptureError(file: mapped.path, record: record, problem: "no such record")
    }
    let payload = chain.payload(of: record)
    let place = "\(mapped.path), record \(record), byte \(chain.offset(of: record))"
    guard !payload.isEmpty else {
      return .hole(.emptyRecord, "\(place): length 0, the app could not encode this frame")
    }
    defer { mapped.didRead(bytes: payload.count) }
    switch mapped.withBytes(in: payload, { decoder.decode($0, into: &pixels) }) {
    case .picture(let kind, let found): return found.outcome(place, encoding: kind.rawValue)
    case .corrupt(let reason):
      return .hole(.corruptRecord, "\(place): \(payload.count) bytes, \(reason)")
    }
  }
}

/// The frames of one DEFLATE stream over the whole file, which only decode in order.
extension ARKitScannerDepthFile {
  func makeReader() throws -> any OrderedFrameReader<UInt16> { Reader(self) }

  private final class Reader: OrderedFrameReader {
    private let source: ARKitScannerDepthFile
    private let stream: InflateStream
    private var meters: [UInt8] = []
    private var record = 0

    init(_ source: ARKitScannerDepthFile) {
      self.source = source
      stream = InflateStream(source.mapped, range: 0..<source.mapped.count, format: .raw)
    }

    func next(into pixels: inout [UInt16]) throws -> RecordOutcome? {
      guard record < source.recordCount else { return nil }
      let (file, byteCount) = (source.mapped.path, source.layout.size.floatBytes)
      guard stream.read(into: &meters, count: byteCount) == byteCount else {
        throw CaptureError(
          file: file, record: record, byteOffset: stream.inputOffset,
          problem: "the stream ends earlier than when it was counted",
          remedy: "do not change a capture while it is read")
      }
      defer { record += 1 }
      return ARKitScannerFloatDepth.convert(meters.span.bytes, into: &pixels)
        .outcome("\(file), frame \(record)")
    }
  }
}
