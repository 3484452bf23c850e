import Core
import Media

/// The layout of a depth file, determined by its bytes alone.
struct ARKitScannerDepthLayout: Sendable {
  enum Kind: Sendable {
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
    let sizes =
      stated.map { $0 == .lidarDepth ? [$0] : [$0, .lidarDepth] } ?? [.lidarDepth]
    let chain = try ARKitScannerDepthChain(walking: file.path, byteCount: file.count)
    let first = Self.firstPicture(of: chain, in: file, sizes: sizes)
    if first != nil || chain.end == .complete {
      self.init(.framed(chain, first: first?.kind), size: first?.size ?? sizes[0], of: sizes)
    } else if let stream = Self.deflateStream(file, sizes: sizes) {
      self = stream
    } else if let size = Self.fitting(sizes, byteCount: file.count, isWhole: true) {
      let frameBytes = size.floatBytes
      self.init(
        .raw(frames: file.count / frameBytes, hasRest: file.count % frameBytes != 0), size: size,
        of: sizes)
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

  private init(_ kind: Kind, size: PictureSize, of sizes: [PictureSize]) {
    self.kind = kind
    self.size = size
    sizeDiffers = size != sizes[0]
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
        let result = file.withBytes(in: payload) { decoder.decode($0, into: &pixels) }
        if case .picture(let kind, _) = result { return (kind, decoder.size) }
      }
      file.didRead(bytes: payload.count)
    }
    return nil
  }

  private static func deflateStream(_ file: MappedFile, sizes: [PictureSize])
    -> ARKitScannerDepthLayout?
  {
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
      size: size, of: sizes)
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

/// Converts pictures of float32 meters.
enum ARKitScannerFloatDepth {
  private static let bytesPerPixel = 4

  /// What is unusual in a frame: numbers that are not finite, and how many are farther than any sensor measures.
  struct Finding {
    var hasNonFinite = false
    var tooFar = 0

    /// The outcome of a record at `place`.
    func outcome(_ place: String, encoding: String? = nil) -> RecordOutcome {
      RecordOutcome(
        hasPicture: true,
        issue: hasNonFinite
          ? FrameIssue(
            code: .nonFiniteValue, message: "\(place): NaN or infinite depth, written as 0") : nil,
        encoding: encoding, tooFar: tooFar)
    }
  }

  /// Converts little-endian float32 meters to millimeters: rounded to nearest, half away from zero;
  /// 0 for values that are not finite, negative or above 65,535 after rounding. `pixels` is
  /// resized.
  ///
  /// Returns whether any value was NaN or infinite, and how many were above 100 m. A float times
  /// 1000 is exact in double precision, and so is adding one half. Truncation then rounds half up,
  /// which for positive values is away from zero.
  static func convert(
    _ meters: RawSpan, into pixels: inout [UInt16]
  ) -> Finding {
    let count = meters.byteCount / bytesPerPixel
    if pixels.count != count { pixels = [UInt16](repeating: 0, count: count) }
    let limit = Double(PlausibleValues.depthMillimeters.upperBound)
    var allFinite = true
    var tooFar = 0
    var output = pixels.mutableSpan
    for i in 0..<count {
      let bits = meters.unsafeLoadUnaligned(fromUncheckedByteOffset: i &* 4, as: UInt32.self)
      let value = Float(bitPattern: UInt32(littleEndian: bits))
      let millimeters = Double(value) * 1000
      // False for NaN.
      let fits = millimeters >= 0 && millimeters < 65_535.5
      output[unchecked: i] = fits ? UInt16(truncatingIfNeeded: Int32(millimeters + 0.5)) : 0
      allFinite = allFinite && value.isFinite
      if millimeters > limit && value.isFinite { tooFar &+= 1 }
    }
    return Finding(hasNonFinite: !allFinite, tooFar: tooFar)
  }
}
