/// Meters as whole millimeters: multiplied in double precision, rounded half away from zero; 0 for
/// values that are not finite, negative or above 65,535 after rounding.
@inlinable
public func millimeters(fromMeters meters: Double) -> UInt16 {
  let rounded = (meters * 1000).rounded(.toNearestOrAwayFromZero)
  return rounded >= 0 && rounded <= 65_535 ? UInt16(rounded) : 0
}
