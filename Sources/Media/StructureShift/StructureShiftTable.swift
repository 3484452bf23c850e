/// Shifts to millimeters along the optical axis: one fixed table for all devices.
public enum StructureShiftTable {
  /// The last shift that is a distance (9,424 mm); larger ones mean no measurement.
  public static let lastMeasuredShift = 1103

  /// Millimeters of the shifts 0…2047; 0 = no measurement.
  ///
  /// Integer arithmetic. With a numerator of 1,800,000, as the formula might suggest, the entry of
  /// shift 614 would be 576 instead of 575.
  public static let millimeters: [UInt16] = (0..<2048).map { shift in
    (1...lastMeasuredShift).contains(shift) ? UInt16(1_799_999 / (6809 - 6 * shift)) : 0
  }

  /// Millimeters of any stored value; 0 for values above 2047, which do not occur in valid streams.
  public static func millimeters(ofShift shift: UInt16) -> UInt16 {
    millimeters[min(Int(shift), 2047)]
  }

  /// Replaces every shift by its millimeters. Cost: one lookup in 4 KiB per pixel.
  public static func convertToMillimeters(_ pixels: inout MutableSpan<UInt16>) {
    let entries = millimeters
    let table = entries.span
    var index = 0
    while index < pixels.count {
      // In range: the table ends at 2047, whose entry is valid for all larger values.
      pixels[unchecked: index] = table[unchecked: min(Int(pixels[unchecked: index]), 2047)]
      index &+= 1
    }
  }
}
