import CZimg

/// The library that converts colors, loaded at its first use.
public enum ZimgLibrary {
  /// Loads it; returns why it cannot be used, with the remedy, or `nil`.
  public static var problem: String? { scanmill_zimg_load().map { String(cString: $0) } }

  /// Version of the library; `missing` if it cannot be loaded.
  public static var version: String {
    guard problem == nil else { return "missing" }
    var numbers: [UInt32] = [0, 0, 0]
    scanmill_zimg_version(&numbers)
    return numbers.map { "\($0)" }.joined(separator: ".")
  }

  /// zimg's text about the last failure in this thread.
  static var lastError: String {
    var text = [CChar](repeating: 0, count: 256)
    scanmill_zimg_error(&text, text.count)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
