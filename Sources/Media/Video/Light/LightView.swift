import Glibc

/// How 16-bit pictures are shown and measured, where 8 bits are needed: for looking only. White becomes
/// 255, brighter light too, and the curve of BT.1886 is applied; primaries stay.
public struct LightView: Sendable {
  private let codes: [UInt8]

  /// - Parameter white: the light of white, above 0 and up to 1; `nil` for signals, which are only
  ///   rounded to 8 bits.
  public init(white: Double?) {
    codes = (0...65_535).map { value in
      guard let white, white > 0 else { return UInt8((value * 255 + 32_767) / 65_535) }
      let light = min(Double(value) / 65_535 / white, 1)
      return UInt8(min(pow(light, 1 / 2.4) * 255 + 0.5, 255))
    }
  }

  /// Writes the 8-bit picture to `view`, which is resized if necessary.
  public func show(_ wide: [UInt16], into view: inout [UInt8]) {
    if view.count != wide.count { view = [UInt8](repeating: 0, count: wide.count) }
    codes.withUnsafeBufferPointer { codes in
      for index in 0..<wide.count { view[index] = codes[Int(wide[index])] }
    }
  }
}
