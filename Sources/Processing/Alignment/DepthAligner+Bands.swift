import Core

extension DepthAligner {
  /// Aligns one frame on several cores, the output split into `bands` bands of rows. The bytes are
  /// those of `align(_:scratch:into:)`.
  ///
  /// Meant for captures with fewer frames than cores. Otherwise one frame per core is faster: a quad
  /// that touches two bands is drawn twice. With one band or fewer the call is a plain call.
  public func align(
    _ depth: Span<UInt16>, bands: Int, scratch: inout AlignmentScratch,
    into output: inout [UInt16]
  ) throws(AlignmentError) {
    let (width, height) = (unturnedSize.width, unturnedSize.height)
    // A band may not hold more pixels than a target can address.
    let mostRows = InverseDepthTarget.largestRows(width: width, rows: height)
    let bands = max(min(bands, height), (height + mostRows - 1) / mostRows)
    guard bands > 1, !method.copies else {
      return try align(depth, scratch: &scratch, into: &output)
    }
    try check(depth)
    AlignmentScratch.fit(&scratch.frame, depth.count)
    for i in 0..<depth.count { scratch.frame[i] = depth[i] }
    let frame = scratch.frame
    frame.withUnsafeBufferPointer { measureLines($0, &scratch) }
    let lines = scratch.lines
    let layout = BandLayout(
      vertices: vertexRowLength * Self.vertexRows,
      target: InverseDepthTarget.count(width: width, rows: (height + bands - 1) / bands))
    AlignmentScratch.fit(&scratch.bands, layout.length * bands)
    withUnturnedOutput(&scratch, &output) { scratch, output in
      withConcurrentRowBands(
        of: &scratch.bands, rows: bands, rowLength: layout.length, bands: bands
      ) { range, memory in
        draw(
          frame, rows: height * range.lowerBound / bands..<height * range.upperBound / bands,
          lines, layout, &memory)
      }
      let drawn = scratch.bands
      withConcurrentRowBands(of: &output, rows: height, rowLength: width, bands: bands) {
        rows, pixels in
        resolve(rows, of: drawn, bands: bands, layout, &pixels)
      }
    }
  }

  /// Draws one band into its part of the memory.
  private func draw(
    _ frame: [UInt16], rows: Range<Int>, _ lines: [ClosedRange<Float>?], _ layout: BandLayout,
    _ memory: inout MutableSpan<Float>
  ) {
    memory.withUnsafeMutableBufferPointer { memory in
      frame.withUnsafeBufferPointer { frame in
        guard let memory = memory.baseAddress, let frame = frame.baseAddress else { return }
        let storage = memory + layout.targetOffset
        drawRows(
          frame, memory, memory + layout.recordsOffset, lines: lines,
          into: InverseDepthTarget(storage: storage, width: unturnedSize.width, rows: rows))
      }
    }
  }

  /// Writes millimeters of one band.
  private func resolve(
    _ rows: Range<Int>, of drawn: [Float], bands: Int, _ layout: BandLayout,
    _ pixels: inout MutableSpan<UInt16>
  ) {
    let (width, height) = (unturnedSize.width, unturnedSize.height)
    guard let band = (0..<bands).first(where: { height * $0 / bands == rows.lowerBound }) else {
      return
    }
    drawn.withUnsafeBufferPointer { drawn in
      pixels.withUnsafeMutableBufferPointer { pixels in
        guard let drawn = drawn.baseAddress, let pixels = pixels.baseAddress else { return }
        let storage = drawn + band * layout.length + layout.targetOffset
        InverseDepthTarget.convert(storage, width: width, rows: rows.count, into: pixels)
      }
    }
  }
}

/// Offsets of a band's buffers in its memory: vertex rows, waiting pixels, 1/Z.
private struct BandLayout {
  let vertices: Int
  let target: Int
  var recordsOffset: Int { vertices }
  var targetOffset: Int { vertices + PixelRecords.capacity }
  var length: Int { targetOffset + target }
}

/// Buffers that a worker reuses from frame to frame: one per thread, never shared.
///
/// They grow with the first frame, at most to about 4 bytes per output pixel (8 with row bands or a
/// turned picture); later frames allocate little.
public struct AlignmentScratch: Sendable {
  /// The vertex rows in use.
  var vertices: [Float] = []
  /// The lines that the quads above each row of vertices reach.
  var lines: [ClosedRange<Float>?] = []
  /// 1/Z of the pixels that are drawn at a time.
  var inverseDepth: [Float] = []
  /// All of the above, for each row band.
  var bands: [Float] = []
  /// A copy of the depth frame, for several threads to read.
  var frame: [UInt16] = []
  /// Pixels waiting to be written.
  var records: [Float] = []
  /// The picture before it is turned.
  var unturned: [UInt16] = []

  public init() {}

  /// Makes `array` hold `count` values; new ones, and all after a change of size, are 0.
  static func fit<Element: ExpressibleByIntegerLiteral>(_ array: inout [Element], _ count: Int) {
    if array.count != count { array = Array(repeating: 0, count: count) }
  }
}
