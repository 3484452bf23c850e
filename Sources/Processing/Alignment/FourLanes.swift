/// Four 32-bit values that the processor handles with one instruction, where it has vector
/// registers.
typealias Four = SIMD4<Float>
/// Per lane, all bits set or none.
typealias FourBits = SIMD4<UInt32>

/// The result of a comparison as bits. The standard library's `SIMDMask` loses the information that
/// lanes are all ones or all zeros and restores it with shifts before every use.
@inline(__always)
func bits(_ mask: SIMDMask<SIMD4<Int32>>) -> FourBits { unsafeBitCast(mask, to: FourBits.self) }

@inline(__always)
func bits(_ value: Four) -> FourBits { unsafeBitCast(value, to: FourBits.self) }

@inline(__always)
func four(_ value: FourBits) -> Four { unsafeBitCast(value, to: Four.self) }

/// All bits where the value is negative (or −0).
@inline(__always)
func signs(_ value: FourBits) -> FourBits {
  unsafeBitCast(unsafeBitCast(value, to: SIMD4<Int32>.self) &>> 31, to: FourBits.self)
}

/// Per lane `b` where `mask` holds, else `a`.
@inline(__always)
func select(_ mask: FourBits, _ b: Four, else a: Four) -> Four {
  four((bits(b) & mask) | (bits(a) & ~mask))
}

/// Per lane the value where `mask` holds, else 0.
@inline(__always)
func keep(_ value: Four, where mask: FourBits) -> Four {
  four(bits(value) & mask)
}

/// Whether any lane has a bit.
@inline(__always)
func hasAny(_ mask: FourBits) -> Bool {
  let halves = unsafeBitCast(mask, to: SIMD2<UInt64>.self)
  return halves[0] | halves[1] != 0
}

/// Whether any lane is negative (or −0).
@inline(__always)
func hasAnySign(_ value: FourBits) -> Bool { hasAny(signs(value)) }

/// Whether all lanes are negative (or −0).
@inline(__always)
func hasAllSigns(_ value: FourBits) -> Bool { !hasAny(signs(~value)) }

/// Per lane the smaller value. Written as a comparison so that it becomes one `minps`.
@inline(__always)
func lesser(_ a: Four, _ b: Four) -> Four { b.replacing(with: a, where: a .< b) }

/// Per lane the larger value.
@inline(__always)
func greater(_ a: Four, _ b: Four) -> Four { b.replacing(with: a, where: a .> b) }

/// Per lane the absolute value, by clearing the sign bit.
@inline(__always)
func magnitude(_ a: Four) -> Four { four(bits(a) & 0x7FFF_FFFF) }

/// Adding and subtracting 1.5 · 2²³ rounds |a| < 2²² to the nearest integer without a call per
/// lane.
let integerShift: Float = 12_582_912

/// Per lane, the smallest integer not below the value. The value must be a multiple of 1/512 and
/// below 2¹³ in magnitude: adding half minus half a step then leaves no tie to round.
@inline(__always)
func rasterCeiling(_ a: Four) -> Four {
  ((a + (0.5 - 1 / 1024)) + integerShift) - integerShift
}

/// Per lane, the integer equal to the value, which must be whole with |a| < 2²².
@inline(__always)
func integers(_ a: Four) -> SIMD4<Int32> {
  unsafeBitCast(a + integerShift, to: SIMD4<Int32>.self)
    &- Int32(bitPattern: integerShift.bitPattern)
}

extension UnsafePointer<Float> {
  /// Loads four values from element `index` on.
  @inline(__always)
  func four(_ index: Int) -> Four {
    UnsafeRawPointer(self + index).loadUnaligned(as: Four.self)
  }
}

extension UnsafeMutablePointer<Float> {
  /// Stores four values from element `index` on.
  @inline(__always)
  func four(_ index: Int) -> Four {
    UnsafeRawPointer(self + index).loadUnaligned(as: Four.self)
  }

  @inline(__always)
  func storeFour(_ value: Four, _ index: Int) {
    UnsafeMutableRawPointer(self + index).storeBytes(of: value, as: Four.self)
  }
}
