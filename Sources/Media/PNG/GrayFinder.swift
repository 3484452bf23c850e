import CPlatform

/// Remembers the last position of each gray value in predicted rows.
struct GrayFinder {
  /// How many entries the per-pixel arrays have beyond the last row.
  static let slack = Int(SCANMILL_GRAY_SLACK)

  /// Whether this processor has the wide vectors of `isWide`.
  static let hasWide = scanmill_gray_has_wide()

  private var last = [UInt16](repeating: 0, count: Int(SCANMILL_GRAY_TABLE))
  private var swept: UInt32 = 0
  private var scratch: [UInt16] = []
  private var width = 0

  /// Clears all positions; rows of `width` pixels follow.
  mutating func begin(width: Int) {
    self.width = width
    let count = 4 * (width + Self.slack)
    if scratch.count < count { scratch = [UInt16](repeating: 0, count: count) }
    last.withUnsafeMutableBufferPointer { last in
      guard let start = last.baseAddress else { return }
      scanmill_gray_forget(start, &swept)
    }
  }

  /// Looks up the pixels of the row at `line`, which must be readable for two more bytes. `place`
  /// is its offset in the stream; rows come in order. Pixels before `floor` are not found.
  ///
  /// For each pixel, `distances` gets the distance in bytes to the last equal pixel (0 for none)
  /// and `steps` the number of pixels that match from there on. Both extend `slack` beyond the row.
  mutating func find(
    _ line: UnsafePointer<UInt8>, at place: Int, floor: Int, isWide: Bool,
    distances: UnsafeMutablePointer<UInt16>, steps: UnsafeMutablePointer<UInt8>
  ) {
    last.withUnsafeMutableBufferPointer { last in
      scratch.withUnsafeMutableBytes { scratch in
        guard let last = last.baseAddress, let scratch = scratch.baseAddress else { return }
        scanmill_gray_find(
          isWide, line, Int64(width), UInt32(truncatingIfNeeded: place),
          UInt32(truncatingIfNeeded: place - floor), last, &swept,
          scratch.assumingMemoryBound(to: UInt8.self), distances, steps)
      }
    }
  }
}
