import CPlatform

/// Where the gray pixels of predicted rows were last.
struct GrayFinder {
  /// How far arrays by pixel reach beyond the last row.
  static let slack = Int(SCANMILL_GRAY_SLACK)

  /// Whether this processor has the wide vectors that `isWide` asks for.
  static let hasWide = scanmill_gray_has_wide()

  private var last = [UInt16](repeating: 0, count: Int(SCANMILL_GRAY_TABLE))
  private var swept: UInt32 = 0
  private var scratch: [UInt16] = []
  private var width = 0

  /// Forgets everything; rows of `width` pixels follow.
  mutating func begin(width: Int) {
    self.width = width
    let count = 4 * (width + Self.slack)
    if scratch.count < count { scratch = [UInt16](repeating: 0, count: count) }
    last.withUnsafeMutableBufferPointer { last in
      guard let start = last.baseAddress else { return }
      scanmill_gray_forget(start, &swept)
    }
  }

  /// Looks up the pixels of the row at `line`, which has two more bytes, and whose place in the stream is
  /// `place`; rows come in order. What lies before `floor` is not found.
  ///
  /// For each pixel `distances` becomes how many bytes back it is found again, 0 for nowhere, and `steps`
  /// how many pixels from there on; both reach `slack` beyond the row.
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
