#if canImport(Glibc)
  import Glibc
#endif

/// Parses lists of numbers as Swift prints them: `[-0.12042544, 1e-05, nan, -inf]`.
///
/// Apps that write arrays by string interpolation produce non-finite numbers this way, which is not
/// JSON.
enum NumberList {
  /// The numbers of a bracketed, comma-separated list in order, non-finite ones included; `nil` when
  /// the brackets or a number are missing. `[]` is the empty list.
  static func parse(_ text: String) -> [Double]? {
    text.withCString { start in
      var at = start
      guard skip("[", &at) else { return nil }
      var numbers: [Double] = []
      if skip("]", &at) { return isEnd(at) ? numbers : nil }
      numbers.reserveCapacity(16)
      while let number = scan(&at) {
        numbers.append(number)
        if skip("]", &at) { return isEnd(at) ? numbers : nil }
        guard skip(",", &at) else { return nil }
      }
      return nil
    }
  }

  /// Parses one number with optional surrounding blanks.
  static func number(_ text: String) -> Double? {
    text.withCString { start in
      var at = start
      guard let number = scan(&at), isEnd(at) else { return nil }
      return number
    }
  }

  /// Parses the number at `at` and advances past it. The C library's conversion is exact, accepts
  /// `nan` and `inf` and skips blanks; the program never leaves the locale whose decimal point is a
  /// point.
  private static func scan(_ at: inout UnsafePointer<CChar>) -> Double? {
    var end: UnsafeMutablePointer<CChar>?
    let number = strtod(at, &end)
    guard let end, UnsafePointer(end) != at else { return nil }
    at = UnsafePointer(end)
    return number
  }

  /// Skips blanks, and then `character` if it follows.
  private static func skip(_ character: Unicode.Scalar, _ at: inout UnsafePointer<CChar>) -> Bool {
    skipBlanks(&at)
    guard at.pointee == CChar(truncatingIfNeeded: character.value) else { return false }
    at += 1
    return true
  }

  private static func skipBlanks(_ at: inout UnsafePointer<CChar>) {
    while at.pointee == 0x20 || (0x09...0x0D).contains(at.pointee) { at += 1 }
  }

  private static func isEnd(_ at: UnsafePointer<CChar>) -> Bool {
    var at = at
    skipBlanks(&at)
    return at.pointee == 0
  }
}
