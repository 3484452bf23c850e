/// A picture of 16-bit depth: millimeters along the optical axis, row-major, row 0 on top,
/// 0 = no measurement.
public struct DepthImage: Hashable, Sendable {
  public var width: Int
  public var height: Int
  public var millimeters: [UInt16]

  public init(width: Int, height: Int) {
    self.init(width: width, height: height, millimeters: Array(repeating: 0, count: width * height))
  }

  /// `millimeters` holds exactly `width` × `height` values.
  public init(width: Int, height: Int, millimeters: [UInt16]) {
    precondition(millimeters.count == width * height)
    self.width = width
    self.height = height
    self.millimeters = millimeters
  }
}

/// A picture of 8-bit values, row-major, row 0 on top.
public struct GrayImage: Hashable, Sendable {
  public var width: Int
  public var height: Int
  public var values: [UInt8]

  /// `values` holds exactly `width` × `height` values.
  public init(width: Int, height: Int, values: [UInt8]) {
    precondition(values.count == width * height)
    self.width = width
    self.height = height
    self.values = values
  }
}

/// An 8-bit RGB picture, three bytes a pixel, row-major, row 0 on top, no padding.
public struct ColorImage: Hashable, Sendable {
  public var width: Int
  public var height: Int
  public var rgb: [UInt8]

  public init(width: Int, height: Int) {
    self.init(width: width, height: height, rgb: Array(repeating: 0, count: width * height * 3))
  }

  /// `rgb` holds exactly `width` × `height` × 3 values.
  public init(width: Int, height: Int, rgb: [UInt8]) {
    precondition(rgb.count == width * height * 3)
    self.width = width
    self.height = height
    self.rgb = rgb
  }
}

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
