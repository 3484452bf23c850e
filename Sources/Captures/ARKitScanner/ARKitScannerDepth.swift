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
      return mapped.withBytes(in: start..<start + byteCount) {
        pixels.takeMeters($0, of: "\(mapped.path), frame \(record), byte \(start)")
      }
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
    return mapped.withBytes(in: payload) { decoder.decode($0, of: place, into: &pixels) }
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
      return pixels.takeMeters(meters.span.bytes, of: "\(file), frame \(record)")
    }
  }
}

/// The layout of a depth file, determined by its bytes alone.
struct ARKitScannerDepthLayout {
  enum Kind {
    /// Length-prefixed records; `first` is the kind of the first record that decodes.
    case framed(ARKitScannerDepthChain, first: ARKitScannerRecordKind?)
    /// One DEFLATE stream; `isWhole` means that it has its end mark.
    case deflateStream(frames: Int, isWhole: Bool, hasRest: Bool)
    case raw(frames: Int, hasRest: Bool)
  }

  var kind: Kind
  var size: PictureSize
  /// Whether `size` differs from the size in the metadata.
  var sizeDiffers: Bool

  /// The name of the encoding in the capture's description.
  var encoding: String {
    switch kind {
    case .framed(_, let first): (first ?? .lz4).rawValue
    case .deflateStream: "deflate-stream-f32"
    case .raw: "raw-f32"
    }
  }

  /// Determines the layout by testing in this order: a chain of records that ends with the file or
  /// has at least one that decodes; one DEFLATE stream with at least one whole frame; at least one
  /// uncompressed frame. Successful inflation proves nothing: one framed file in 1,024 begins like
  /// a complete, empty DEFLATE stream.
  ///
  /// `stated` is the size to try first. Cost: for a framed file the walk and one record, for one
  /// stream a complete inflation in constant memory.
  init(of file: MappedFile, stated: PictureSize?) throws(CaptureError) {
    guard file.count > 0 else {
      throw CaptureError(
        file: file.path, byteOffset: 0, problem: "it is empty",
        remedy: "copy the file from the device again")
    }
    // Of sizes with as many pixels the bytes do not tell which it is: all versions wrote the usual one.
    let usual = PictureSize.lidarDepth
    let sizes = [stated].compactMap(\.self).filter { $0.floatBytes != usual.floatBytes } + [usual]
    let chain = try ARKitScannerDepthChain(walking: file.path, byteCount: file.count)
    let first = Self.firstPicture(of: chain, in: file, sizes: sizes)
    if first != nil || chain.end == .complete {
      self.init(.framed(chain, first: first?.kind), size: first?.size ?? sizes[0], stated)
    } else if let stream = Self.deflateStream(file, sizes: sizes, stated) {
      self = stream
    } else if let size = Self.fitting(sizes, byteCount: file.count, isWhole: true) {
      let frameBytes = size.floatBytes
      self.init(
        .raw(frames: file.count / frameBytes, hasRest: file.count % frameBytes != 0), size: size,
        stated)
    } else {
      throw Self.unreadable(file, chain)
    }
  }

  /// Whether the input contains a depth file of the usual size. As `init(of:stated:)`, but of one
  /// DEFLATE stream only the first frame is inflated.
  static func holdsDepth(_ input: InputFile) -> Bool {
    let size = PictureSize.lidarDepth
    let frameBytes = size.floatBytes
    // A copy, because a mapped file could be truncated by another process while it is read.
    guard input.count < frameBytes, let file = try? MappedFile(copyOf: input) else {
      return input.count >= frameBytes
    }
    if let chain = try? ARKitScannerDepthChain(walking: file.path, byteCount: file.count),
      chain.recordCount > 0,
      chain.end == .complete || firstPicture(of: chain, in: file, sizes: [size]) != nil
    {
      return true
    }
    var frame: [UInt8] = []
    return InflateStream(file, range: 0..<file.count, format: .raw)
      .read(into: &frame, count: frameBytes) == frameBytes
  }

  private init(_ kind: Kind, size: PictureSize, _ stated: PictureSize?) {
    self.kind = kind
    self.size = size
    sizeDiffers = size != stated ?? size
  }

  /// The first record that decodes, and its size.
  private static func firstPicture(
    of chain: ARKitScannerDepthChain, in file: MappedFile, sizes: [PictureSize]
  ) -> (kind: ARKitScannerRecordKind, size: PictureSize)? {
    let decoders = sizes.map { ARKitScannerRecordDecoder(size: $0) }
    var pixels: [UInt16] = []
    for record in 0..<chain.recordCount {
      let payload = chain.payload(of: record)
      if payload.isEmpty { continue }
      for decoder in decoders {
        let outcome = file.withBytes(in: payload) { decoder.decode($0, of: "", into: &pixels) }
        if let kind = outcome.encoding.flatMap(ARKitScannerRecordKind.init) {
          return (kind, decoder.size)
        }
      }
      file.didRead(bytes: payload.count)
    }
    return nil
  }

  private static func deflateStream(
    _ file: MappedFile, sizes: [PictureSize], _ stated: PictureSize?
  ) -> ARKitScannerDepthLayout? {
    let stream = InflateStream(file, range: 0..<file.count, format: .raw)
    var piece = [UInt8](repeating: 0, count: 1 << 18)
    while stream.read(into: &piece, count: piece.count) == piece.count {}
    let isWhole = stream.state == .ended
    guard let size = fitting(sizes, byteCount: stream.producedBytes, isWhole: isWhole) else {
      return nil
    }
    let frameBytes = size.floatBytes
    let hasRest =
      stream.producedBytes % frameBytes != 0 || (isWhole && stream.inputOffset < file.count)
    return ARKitScannerDepthLayout(
      .deflateStream(
        frames: stream.producedBytes / frameBytes, isWhole: isWhole, hasRest: hasRest),
      size: size, stated)
  }

  /// The first size for which `byteCount` is a whole number of frames; without one, or for a cut
  /// file, the first size with at least one frame.
  private static func fitting(
    _ sizes: [PictureSize], byteCount: Int, isWhole: Bool
  ) -> PictureSize? {
    let possible = sizes.filter { $0.floatBytes <= byteCount }
    let exact = possible.first {
      byteCount % $0.floatBytes == 0
    }
    return (isWhole ? exact : nil) ?? possible.first
  }

  private static func unreadable(_ file: MappedFile, _ chain: ARKitScannerDepthChain)
    -> CaptureError
  {
    let left = file.count - chain.endOffset
    let found =
      switch chain.end {
      case .broken(let length): "a record of \(length) bytes where \(left - 4) are left"
      case .stray, .tooManyRecords, .complete: "\(left) bytes left"
      }
    return CaptureError(
      file: file.path, record: chain.recordCount, byteOffset: chain.endOffset,
      problem:
        "not a known depth layout: no record decodes (\(found)), it is not a DEFLATE stream, and "
        + "it is shorter than one uncompressed frame",
      remedy: "copy the file from the device again")
  }
}

extension [UInt16] {
  /// Takes a picture of little-endian float32 meters as millimeters: rounded to nearest, half away from zero; 0 for values
  /// that are not finite, negative or above 65,535 after rounding.
  ///
  /// A float times 1000 is exact in double precision, and so is adding one half. Truncation then rounds half up, which
  /// for positive values is away from zero.
  ///
  /// - Parameter place: that of the record, for messages.
  mutating func takeMeters(
    _ meters: RawSpan, of place: String, encoding: ARKitScannerRecordKind? = nil
  ) -> RecordOutcome {
    let pixelCount = meters.byteCount / 4
    if count != pixelCount { self = [UInt16](repeating: 0, count: pixelCount) }
    let limit = Double(PlausibleValues.depthMillimeters.upperBound)
    var allFinite = true
    var outcome = RecordOutcome(hasPicture: true, encoding: encoding?.rawValue)
    var output = mutableSpan
    for i in 0..<pixelCount {
      let bits = meters.unsafeLoadUnaligned(fromUncheckedByteOffset: i &* 4, as: UInt32.self)
      let value = Float(bitPattern: UInt32(littleEndian: bits))
      let millimeters = Double(value) * 1000
      // False for NaN.
      let fits = millimeters >= 0 && millimeters < 65_535.5
      output[unchecked: i] = fits ? UInt16(truncatingIfNeeded: Int32(millimeters + 0.5)) : 0
      allFinite = allFinite && value.isFinite
      if millimeters > limit && value.isFinite { outcome.tooFar &+= 1 }
    }
    if !allFinite {
      outcome.issue = FrameIssue(
        code: .nonFiniteValue, message: "\(place): NaN or infinite depth, written as 0")
    }
    return outcome
  }
}

/// The encoding of a record in a framed file.
enum ARKitScannerRecordKind: String {
  /// A bare LZ4 block of uint16 millimeters.
  case lz4 = "lz4-u16"
  /// A raw DEFLATE stream of float32 meters.
  case deflate = "deflate-f32"
}

/// Decodes single records. Memory is limited by the picture's size, never by a length in the file.
struct ARKitScannerRecordDecoder {
  let size: PictureSize
  private let scratch = ScratchBuffers()

  /// The most bytes that one byte of a record can expand to: a match length of LZ4 continues with
  /// bytes of up to 255; DEFLATE repeats up to 258 bytes for two bits.
  private static let lz4Expansion = 255
  private static let deflateExpansion = 1032

  /// Tries LZ4, then DEFLATE; a record that is neither is a hole, whose message says how both failed.
  ///
  /// - Parameter place: that of the record, for messages.
  func decode(
    _ payload: RawSpan, of place: String, into pixels: inout [UInt16]
  ) -> RecordOutcome {
    guard let lz4Failure = decodeLZ4(payload, into: &pixels) else {
      return RecordOutcome(hasPicture: true, encoding: ARKitScannerRecordKind.lz4.rawValue)
    }
    let (deflated, deflateFailure) = decodeDeflate(payload, of: place, into: &pixels)
    if let deflated { return deflated }
    let reason =
      otherFraming(payload).map {
        "starts with \"\($0)\": Apple's other LZ4 framing, not a bare block"
      } ?? "neither LZ4 (\(lz4Failure)) nor DEFLATE (\(deflateFailure))"
    return .hole(.corruptRecord, "\(place): \(payload.byteCount) bytes, \(reason)")
  }

  /// What is wrong; `nil` if the payload was decoded.
  private func decodeLZ4(_ payload: RawSpan, into pixels: inout [UInt16]) -> String? {
    guard size.pixels * 2 <= payload.byteCount * Self.lz4Expansion else { return "too short" }
    if pixels.count != size.pixels { pixels = [UInt16](repeating: 0, count: size.pixels) }
    var span = pixels.mutableSpan
    var bytes = span.mutableBytes
    do throws(LZ4Block.Failure) {
      try LZ4Block.decode(payload, into: &bytes)
      return nil
    } catch {
      switch error {
      case .invalid(let offset): return "damaged at its byte \(offset)"
      case .tooLong: return "more than a picture"
      case .short(let produced): return "only \(produced) of \(size.pixels * 2) bytes"
      }
    }
  }

  private func decodeDeflate(
    _ payload: RawSpan, of place: String, into pixels: inout [UInt16]
  ) -> (outcome: RecordOutcome?, failure: String) {
    let byteCount = size.floatBytes
    guard byteCount <= payload.byteCount * Self.deflateExpansion else { return (nil, "too short") }
    return scratch.withBuffer(byteCount: byteCount) { buffer in
      var span = buffer.mutableSpan
      var output = span.mutableBytes
      do throws(WholeInflate.Failure) {
        let result = try WholeInflate.inflate(payload, format: .raw, into: &output)
        guard result.produced == byteCount else {
          return (nil, "only \(result.produced) of \(byteCount) bytes")
        }
        guard result.consumed == payload.byteCount else {
          return (nil, "its stream ends before the record")
        }
      } catch {
        return (nil, error == .outputTooSmall ? "more than a picture" : "damaged")
      }
      return (pixels.takeMeters(buffer.span.bytes, of: place, encoding: .deflate), "")
    }
  }

  private func otherFraming(_ payload: RawSpan) -> String? {
    guard let start = payload.littleEndian(UInt32.self, at: 0) else { return nil }
    let magic = withUnsafeBytes(of: start.littleEndian) { String(decoding: $0, as: UTF8.self) }
    return ["bv41", "bv4-"].contains(magic) ? magic : nil
  }
}
