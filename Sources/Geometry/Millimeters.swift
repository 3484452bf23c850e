/// Millimeters from meters as every family's page asks: product in double precision, half away from
/// zero, and 0 for what is not finite, negative or above 65,535 after rounding.
@inlinable
public func millimeters(fromMeters meters: Double) -> UInt16 {
  let rounded = (meters * 1000).rounded(.toNearestOrAwayFromZero)
  return rounded >= 0 && rounded <= 65_535 ? UInt16(rounded) : 0
}
