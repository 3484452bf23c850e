/// Classes of bytes of text.
extension UInt8 {
  /// `0` to `9`.
  public var isDigit: Bool { (0x30...0x39).contains(self) }

  /// Digits, and `a` to `f` in either case.
  public var isHexDigit: Bool { isDigit || (0x61...0x66).contains(self | 0x20) }

  /// Digits, and `a` to `z` in either case.
  public var isLetterOrDigit: Bool { isDigit || (0x61...0x7A).contains(self | 0x20) }
}
