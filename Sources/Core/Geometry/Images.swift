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

  public var size: PictureSize { PictureSize(width: width, height: height) }
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

  public var size: PictureSize { PictureSize(width: width, height: height) }
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

  public var size: PictureSize { PictureSize(width: width, height: height) }
}
