import CPlatform
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
    scratch.frame.resize(to: depth.count)
    for i in 0..<depth.count { scratch.frame[i] = depth[i] }
    let frame = scratch.frame
    frame.withUnsafeBufferPointer { measureLines($0, &scratch) }
    let lines = scratch.lines
    let layout = BandLayout(
      vertices: vertexRowLength * Self.vertexRows,
      target: InverseDepthTarget.count(width: width, rows: (height + bands - 1) / bands))
    scratch.bands.resize(to: layout.length * bands)
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
}

/// The buffer into which surfaces are drawn: 1/Z (1/mm) per output pixel, 0 = nothing; the largest
/// value wins. The initial content of the storage does not matter: rows are cleared before they are
/// drawn to.
///
/// The picture is padded by two rows and columns on every side, so that a box of three by three
/// pixels that touches the picture can be written without clipping. Padding is never read.
struct InverseDepthTarget {
  static let padding = 2

  /// First value of row `rows.lowerBound`, column 0.
  let origin: UnsafeMutablePointer<Float>
  let stride: Int
  let width: Int
  /// The rows of the picture that this target holds.
  let rows: Range<Int>

  static func stride(width: Int) -> Int { width + 2 * padding }
  /// Most values that a target may hold: single precision counts offsets exactly up to here.
  private static let largestCount = 1 << 22

  /// How many of `rows` rows one target can hold: all, for pictures up to four million pixels.
  static func largestRows(width: Int, rows: Int) -> Int {
    max(1, min(rows, largestCount / stride(width: width) - 2 * padding - 1))
  }

  /// How many rows of a picture stay in the near cache while they are drawn to and converted.
  static func nearRows(width: Int) -> Int { max(1, nearCount / stride(width: width)) }
  private static let nearCount = 96 << 10

  /// Number of values that `rows` rows need.
  static func count(width: Int, rows: Int) -> Int {
    stride(width: width) * (rows + 2 * padding) + 4
  }

  /// `storage` must hold `count(width:rows:)` values.
  init(storage: UnsafeMutablePointer<Float>, width: Int, rows: Range<Int>) {
    stride = Self.stride(width: width)
    origin = storage + Self.padding * stride + Self.padding
    self.width = width
    self.rows = rows
  }

  /// Whether some of these lines, of which there are none without vertices, are among the rows.
  func isReached(by lines: ClosedRange<Float>?) -> Bool {
    guard let lines else { return false }
    return lines.upperBound >= Float(rows.lowerBound)
      && lines.lowerBound <= Float(rows.upperBound - 1)
  }

  /// First value of a row of the picture.
  @inline(__always)
  func row(_ y: Int) -> UnsafeMutablePointer<Float> { origin + (y &- rows.lowerBound) &* stride }

  /// Clears the rows up to the one that holds `v`, and one more, unless they are cleared already.
  ///
  /// A target is cleared row by row as drawing proceeds, so that the rows are in the nearest cache
  /// when they are drawn to. `cleared` is the number of cleared rows.
  @inline(__always)
  func clear(downTo v: Float, _ cleared: inout Int) {
    let end = v < Float(rows.upperBound) ? Int(v) &+ 2 &- rows.lowerBound : rows.count
    while cleared < min(end, rows.count) {
      (origin + cleared &* stride).update(repeating: 0, count: width)
      cleared &+= 1
    }
  }

  /// Writes the millimeters of a target with the given storage; the storage is not changed.
  static func convert(
    _ storage: UnsafePointer<Float>, width: Int, rows: Int,
    into output: UnsafeMutablePointer<UInt16>
  ) {
    let stride = stride(width: width)
    for y in 0..<rows {
      scanmill_millimeters(
        hasWide, storage + (y &+ padding) &* stride + padding, Int64(width), output + y &* width)
    }
  }

  /// Whether the processor has the instructions for the faster of two equal loops.
  static let hasWide = scanmill_gray_has_wide()
}

/// A buffer of values to write: pairs of neighboring pixels, four pairs per record.
///
/// Computing and writing are two loops with memory between them. If lanes were extracted right
/// after they are computed, the compiler would compute everything lane by lane.
struct PixelRecords {
  /// Offsets of the four left pixels, four left values, four right values: 48 bytes.
  private static let stride = 12
  /// Number of records after which to write: 6 KiB fit the nearest cache.
  static let batch = 128
  /// Most records that one group of quads appends.
  static let largestGroup = 6
  static let capacity = (batch + largestGroup) * stride + 4
  /// Offset to which `touch` writes.
  private static let touched = capacity - 4

  private let storage: UnsafeMutablePointer<Float>
  private(set) var count = 0

  /// `storage` must hold `capacity` values.
  init(storage: UnsafeMutablePointer<Float>) { self.storage = storage }

  /// Callers write at the latest when `count` has reached `batch`.
  @inline(__always)
  mutating func append(_ offsets: SIMD4<Int32>, left: FourBits, right: FourBits) {
    let at = UnsafeMutableRawPointer(storage + count &* Self.stride)
    at.storeBytes(of: offsets, as: SIMD4<Int32>.self)
    at.storeBytes(of: left, toByteOffset: 16, as: FourBits.self)
    at.storeBytes(of: right, toByteOffset: 32, as: FourBits.self)
    count &+= 1
  }

  /// Prefetches four values into a near cache.
  ///
  /// The compiler would remove a read without use, so the values are written to an unused location.
  @inline(__always)
  func touch(_ values: UnsafePointer<Float>) {
    storage.storeFour(values.four(0), Self.touched)
  }

  /// Raises two by two pixels for each of four quads: immediately where the quads are neighbors on
  /// the grid, as nearly always; otherwise through the buffer.
  ///
  /// Never inlined, so that the values arrive as whole vectors (see the type's comment).
  @inline(never)
  mutating func append(
    _ offsets: SIMD4<Int32>, rowOffset: SIMD4<Int32>, upper: (left: FourBits, right: FourBits),
    lower: (left: FourBits, right: FourBits), origin: UnsafeMutablePointer<Float>
  ) {
    let first = offsets[0]
    let differs = offsets &- SIMD4(repeating: first) ^ SIMD4(0, 2, 4, 6)
    guard !hasAny(unsafeBitCast(differs, to: FourBits.self)) else {
      append(offsets, left: upper.left, right: upper.right)
      append(offsets &+ rowOffset, left: lower.left, right: lower.right)
      return
    }
    let row = origin + Int(first)
    Self.raise(row, upper.left, upper.right)
    Self.raise(row + Int(rowOffset[0]), lower.left, lower.right)
  }

  /// Raises eight pixels of a row, given as every other one.
  @inline(__always)
  private static func raise(
    _ row: UnsafeMutablePointer<Float>, _ left: FourBits, _ right: FourBits
  ) {
    let low = four(FourBits(left[0], right[0], left[1], right[1]))
    let high = four(FourBits(left[2], right[2], left[3], right[3]))
    row.storeFour(greater(low, row.four(0)), 0)
    row.storeFour(greater(high, row.four(4)), 4)
  }

  /// Raises every pixel to its value, if that is larger, and clears the records. Offsets count from
  /// `origin`.
  ///
  /// Even lanes come first, then odd ones: neighboring lanes are neighboring quads, and reading a
  /// pair while half of it is still being stored stalls the processor.
  @inline(__always)
  mutating func write(to origin: UnsafeMutablePointer<Float>) {
    let end = UnsafeRawPointer(storage) + count &* Self.stride &* 4
    var record = UnsafeRawPointer(storage)
    while record < end {
      let (offsets, left, right) = Self.load(record)
      Self.raise(origin + Int(offsets[0]), to: SIMD2(left[0], right[0]))
      Self.raise(origin + Int(offsets[2]), to: SIMD2(left[2], right[2]))
      record += Self.stride &* 4
    }
    record = UnsafeRawPointer(storage)
    while record < end {
      let (offsets, left, right) = Self.load(record)
      Self.raise(origin + Int(offsets[1]), to: SIMD2(left[1], right[1]))
      Self.raise(origin + Int(offsets[3]), to: SIMD2(left[3], right[3]))
      record += Self.stride &* 4
    }
    count = 0
  }

  @inline(__always)
  private static func load(
    _ record: UnsafeRawPointer
  ) -> (offsets: SIMD4<Int32>, left: Four, right: Four) {
    (
      record.loadUnaligned(as: SIMD4<Int32>.self),
      record.loadUnaligned(fromByteOffset: 16, as: Four.self),
      record.loadUnaligned(fromByteOffset: 32, as: Four.self)
    )
  }

  @inline(__always)
  private static func raise(_ pixels: UnsafeMutablePointer<Float>, to value: SIMD2<Float>) {
    let address = UnsafeMutableRawPointer(pixels)
    let old = address.loadUnaligned(as: SIMD2<Float>.self)
    address.storeBytes(
      of: value.replacing(with: old, where: old .> value), as: SIMD2<Float>.self)
  }
}
