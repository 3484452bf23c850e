/// Four numbers of four pixels side by side. Each lane is computed as a single number is, to the last
/// bit.
typealias Lanes = SIMD4<Float>

extension SIMD4<Float> {
  /// 2²³: what is added to a number from 0 to 2²³ − 1 rounds it to nearest and leaves the integer in
  /// the lowest 23 bits.
  static let integerBias: Float = 0x1p23
  /// The same for numbers from −2²² to 2²² − 1, whose lowest 22 bits are left.
  private static let signedBias: Float = 0x1.8p23

  /// The numbers without their signs.
  @inline(__always)
  var absolute: Self {
    unsafeBitCast(
      unsafeBitCast(self, to: SIMD4<UInt32>.self) & SIMD4<UInt32>(repeating: 0x7fff_ffff),
      to: Self.self)
  }

  /// The largest integers not above the numbers, which are below 2²² in size.
  @inline(__always)
  var floor: Self {
    let near = (self + Self.signedBias) - Self.signedBias
    let one = SIMD4<UInt32>(repeating: Float(1).bitPattern)
    return near
      - unsafeBitCast(unsafeBitCast(near .> self, to: SIMD4<UInt32>.self) & one, to: Self.self)
  }

  /// Integers from −2²² to 2²² − 1 as they are stored in 22 bits; what is above these bits is not
  /// defined.
  @inline(__always)
  var lowBits: SIMD4<UInt32> { unsafeBitCast(self + Self.signedBias, to: SIMD4<UInt32>.self) }

  /// Integers from 0 to 2²³ − 1.
  @inline(__always)
  init(small integers: SIMD4<UInt32>) {
    self =
      unsafeBitCast(integers | SIMD4<UInt32>(repeating: Self.integerBias.bitPattern), to: Self.self)
      - Self.integerBias
  }

  /// The integers that numbers from 0 to 2²³ − 1 are nearest to.
  @inline(__always)
  var smallIntegers: SIMD4<UInt32> {
    unsafeBitCast(self + Self.integerBias, to: SIMD4<UInt32>.self)
      & SIMD4<UInt32>(repeating: 0x7f_ffff)
  }
}

/// Whether any lane is true.
@inline(__always)
func anyLane(_ mask: SIMDMask<SIMD4<Int32>>) -> Bool {
  anyBit(unsafeBitCast(mask, to: SIMD4<UInt32>.self))
}

/// Whether any bit of any lane is set.
@inline(__always)
func anyBit(_ lanes: SIMD4<UInt32>) -> Bool {
  let halves = unsafeBitCast(lanes, to: SIMD2<UInt64>.self)
  return halves.x | halves.y != 0
}
