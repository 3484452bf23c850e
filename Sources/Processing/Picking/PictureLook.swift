/// What frames are picked by where pictures must be compared: how sharp a picture is, and a coarse
/// copy of its brightness.
public struct PictureLook: Sendable {
  /// Sharpness of the brightness, made smaller as for `PictureMeasure`, so that it means the same for every size of
  /// video.
  public let sharpness: Sharpness
  public let outline: PictureOutline

  /// `gray` is brightness row by row, upright or not. `nil` if the values are not those of the size. A
  /// picture with a side below 3 pixels has sharpness 0. Cost: one pass over the values.
  public init?(gray: [UInt8], width: Int, height: Int) {
    guard
      let fine = BlockReduction.reduce(
        gray, width: width, height: height,
        by: BlockReduction.factor(
          width: width, height: height, longestSide: PictureMeasure.longestSide)),
      let coarse = BlockReduction.reduce(
        fine.values, width: fine.width, height: fine.height,
        by: BlockReduction.factor(
          width: fine.width, height: fine.height, longestSide: PictureOutline.longestSide))
    else { return nil }
    sharpness = Sharpness(gray: fine.values, width: fine.width, height: fine.height)
    outline = PictureOutline(values: coarse.values, width: coarse.width, height: coarse.height)
  }

  /// Looks at 8-bit RGB, row by row.
  public init?(rgb: [UInt8], width: Int, height: Int) {
    guard rgb.count % 3 == 0 else { return nil }
    var gray: [UInt8] = []
    GrayConversion.gray(fromRGB: rgb, into: &gray)
    self.init(gray: gray, width: width, height: height)
  }
}

/// The brightness of a picture on a coarse grid, of at most 64 × 64 values: noise and fine detail are
/// gone, so that what differs between two of them is what the camera sees.
public struct PictureOutline: Hashable, Sendable {
  static let longestSide = 64

  let values: [UInt8]
  let width: Int
  let height: Int

  /// The mean absolute difference of brightness to another picture, in levels (0…255), after the means of
  /// both were made equal: a change of exposure counts less than one of the view. `nil` for pictures of
  /// different sizes. Integers until the last division, so that it is the same on every machine.
  public func change(to other: PictureOutline) -> Double? {
    guard width == other.width, height == other.height, !values.isEmpty,
      values.count == other.values.count
    else { return nil }
    let count = values.count
    var sum = 0
    for at in 0..<count { sum += Int(values[at]) - Int(other.values[at]) }
    var deviations = 0
    for at in 0..<count {
      deviations += abs((Int(values[at]) - Int(other.values[at])) * count - sum)
    }
    return Double(deviations) / (Double(count) * Double(count))
  }
}
