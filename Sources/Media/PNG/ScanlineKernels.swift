/// The loops over the bytes of one line. All counts are bytes. Callers must check all bounds.
enum ScanlineKernels {
  /// `residual[i] = current[i] - above[i]`, modulo 256.
  static func up(
    current: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>, count: Int,
    residual: UnsafeMutablePointer<UInt8>
  ) {
    var i = 0
    while i < count {
      residual[i] = current[i] &- above[i]
      i &+= 1
    }
  }

  /// Computes `current` minus its Paeth prediction, 16 bytes at a time after vectorization.
  ///
  /// Reads `pixelBytes` bytes before `current` and `above`. With a left, b above, c above left, the
  /// distances of the prediction a + b - c are |b - c|, |a - c| and |a + b - 2c|. The third is at
  /// least as large as the others when a and b are on the same side of c, and otherwise it is their
  /// difference, so that bytes suffice. `min`, `max` and select have one form per line, without
  /// branches: otherwise the loop is not vectorized for plain x86-64.
  static func paeth(
    current: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>, pixelBytes: Int, count: Int,
    residual: UnsafeMutablePointer<UInt8>
  ) {
    let left = current - pixelBytes
    let aboveLeft = above - pixelBytes
    var i = 0
    while i < count {
      let a = left[i]
      let b = above[i]
      let c = aboveLeft[i]
      let maxBC = b > c ? b : c
      let maxAC = a > c ? a : c
      let distanceA = maxBC &- (b < c ? b : c)
      let distanceB = maxAC &- (a < c ? a : c)
      let larger = distanceA > distanceB ? distanceA : distanceB
      let smaller = distanceA < distanceB ? distanceA : distanceB
      let sameSide: UInt8 = (b == maxBC) == (a == maxAC) ? 255 : 0
      let distanceC = (larger &- smaller) | sameSide
      let nearestOfBC = distanceB < distanceC ? distanceB : distanceC
      let bOrC = distanceB <= distanceC ? b : c
      residual[i] = current[i] &- (distanceA <= nearestOfBC ? a : bOrC)
      i &+= 1
    }
  }

  /// Converts 16-bit values of the host to big-endian bytes.
  static func bigEndian(
    _ values: UnsafePointer<UInt16>, count: Int, into bytes: UnsafeMutablePointer<UInt8>
  ) {
    bytes.withMemoryRebound(to: UInt16.self, capacity: count) { target in
      var i = 0
      while i < count {
        target[i] = values[i].bigEndian
        i &+= 1
      }
    }
  }
}
