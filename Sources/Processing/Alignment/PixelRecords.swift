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
