import Codecs
import Storage

/// How a depth file is laid out, decided by its bytes alone.
struct ARKitScannerDepthLayout: Sendable {
  enum Kind: Sendable {
    /// Length-prefixed records; `first` is what the first one that decodes holds.
    case framed(ARKitScannerDepthChain, first: ARKitScannerRecordKind?)
    /// One DEFLATE stream; `isWhole`: its end mark was read.
    case deflateStream(frames: Int, isWhole: Bool, hasRest: Bool)
    case raw(frames: Int, hasRest: Bool)
  }

  var kind: Kind
  var size: ARKitScannerPictureSize
  /// Whether `size` is not the one that was stated.
  var sizeDiffers: Bool

  /// The name of the encoding in the capture's description.
  var encoding: String {
    switch kind {
    case .framed(_, let first): (first ?? .lz4).rawValue
    case .deflateStream: "deflate-stream-f32"
    case .raw: "raw-f32"
    }
  }

  /// Whether the pixels are float32 meters; `nil` when nothing decodes.
  var isFloat: Bool? {
    switch kind {
    case .framed(_, let first): first.map { $0 == .deflate }
    case .deflateStream, .raw: true
    }
  }

  /// Looks at `file` in this order: a chain of records that ends with the file or holds at least one
  /// that decodes; one DEFLATE stream with at least one whole frame; at least one frame that is not
  /// compressed. That inflation does not fail says nothing: one framed file in 1,024 begins like a
  /// complete, empty DEFLATE stream.
  ///
  /// `stated` is the size to try first. Cost: the walk and one record where the file is framed, a
  /// whole inflation in constant memory where it is one stream.
  init(of file: MappedFile, stated: ARKitScannerPictureSize?) throws(CaptureError) {
    let sizes =
      stated.map { $0 == .depthDefault ? [$0] : [$0, .depthDefault] } ?? [.depthDefault]
    let chain = try ARKitScannerDepthChain(walking: file.path, byteCount: file.count)
    let first = Self.firstPicture(of: chain, in: file, sizes: sizes)
    if first != nil || chain.end == .complete {
      self.init(.framed(chain, first: first?.kind), size: first?.size ?? sizes[0], of: sizes)
    } else if let stream = Self.deflateStream(file, sizes: sizes) {
      self = stream
    } else if let size = Self.fitting(sizes, byteCount: file.count, isWhole: true) {
      let frameBytes = size.pixels * ARKitScannerFloatDepth.bytesPerPixel
      self.init(
        .raw(frames: file.count / frameBytes, hasRest: file.count % frameBytes != 0), size: size,
        of: sizes)
    } else {
      throw Self.unreadable(file, chain)
    }
  }

  /// Whether a file of the usual size is there, without counting frames: as `init(of:stated:)`, but of
  /// one DEFLATE stream only the first frame is inflated.
  static func holdsDepth(_ input: InputFile) -> Bool {
    let size = ARKitScannerPictureSize.depthDefault
    let frameBytes = size.pixels * ARKitScannerFloatDepth.bytesPerPixel
    // A copy: who recognizes captures must not be at the mercy of who writes them.
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

  private init(_ kind: Kind, size: ARKitScannerPictureSize, of sizes: [ARKitScannerPictureSize]) {
    self.kind = kind
    self.size = size
    sizeDiffers = size != sizes[0]
  }

  /// The first record that decodes, with the size at which it does.
  private static func firstPicture(
    of chain: ARKitScannerDepthChain, in file: MappedFile, sizes: [ARKitScannerPictureSize]
  ) -> (kind: ARKitScannerRecordKind, size: ARKitScannerPictureSize)? {
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

  private static func deflateStream(_ file: MappedFile, sizes: [ARKitScannerPictureSize])
    -> ARKitScannerDepthLayout?
  {
    let stream = InflateStream(file, range: 0..<file.count, format: .raw)
    var piece = [UInt8](repeating: 0, count: 1 << 18)
    while stream.read(into: &piece, count: piece.count) == piece.count {}
    let isWhole = stream.state == .ended
    guard let size = fitting(sizes, byteCount: stream.producedBytes, isWhole: isWhole) else {
      return nil
    }
    let frameBytes = size.pixels * ARKitScannerFloatDepth.bytesPerPixel
    let hasRest =
      stream.producedBytes % frameBytes != 0 || (isWhole && stream.inputOffset < file.count)
    return ARKitScannerDepthLayout(
      .deflateStream(
        frames: stream.producedBytes / frameBytes, isWhole: isWhole, hasRest: hasRest),
      size: size, of: sizes)
  }

  /// The first size of which `byteCount` bytes are a whole number of frames; if there is none, or the
  /// bytes are known to be cut, the first of which there is at least one frame.
  private static func fitting(
    _ sizes: [ARKitScannerPictureSize], byteCount: Int, isWhole: Bool
  ) -> ARKitScannerPictureSize? {
    let possible = sizes.filter { $0.pixels * ARKitScannerFloatDepth.bytesPerPixel <= byteCount }
    let exact = possible.first {
      byteCount % ($0.pixels * ARKitScannerFloatDepth.bytesPerPixel) == 0
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
