/// Buffers that a worker reuses from frame to frame: one per thread, never shared.
///
/// They grow with the first frame to about 4 bytes per output pixel (8 with row bands or a turned
/// picture); later frames allocate nothing.
public struct AlignmentScratch: Sendable {
  /// The vertex rows in use.
  var vertices: [Float] = []
  /// 1/Z per output pixel.
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
