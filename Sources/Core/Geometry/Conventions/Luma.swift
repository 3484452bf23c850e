/// Brightness of a color, as computer vision tools compute it.
public enum Luma {
  /// Y = ⌊0.299 R + 0.587 G + 0.114 B + ½⌋ in integers, 0…255.
  @inlinable
  public static func y(red: UInt8, green: UInt8, blue: UInt8) -> UInt8 {
    let thousandths = 299 &* UInt32(red) &+ 587 &* UInt32(green) &+ 114 &* UInt32(blue) &+ 500
    // Division by 1000: first by 8, then by 125 as a product with 33,555 / 2²². Exact up to 59,073 eighths;
    // the largest sum has 31,937.
    return UInt8(truncatingIfNeeded: ((thousandths &>> 3) &* 33_555) &>> 22)
  }
}
