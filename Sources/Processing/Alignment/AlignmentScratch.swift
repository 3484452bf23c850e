/// Memory that a worker uses again from frame to frame: one per thread, never shared at a time.
///
/// Grows on the first frame to about 4 bytes for each output pixel (8 with row bands or a turned
/// picture) and stays; after that, aligning allocates nothing.
public struct AlignmentScratch: Sendable {
  /// The vertex rows that are worked on.
  var vertices: [Float] = []
  /// 1/Z per output pixel.
  var inverseDepth: [Float] = []
  /// All of these for each row band.
  var bands: [Float] = []
  /// The depth frame, where several threads read it.
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
