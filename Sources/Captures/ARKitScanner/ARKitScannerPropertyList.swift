import FoundationEssentials
import SystemPackage

/// Reads XML property lists of the first two generations: an array of `real`.
enum ARKitScannerPropertyList {
  /// Size limit in bytes; a list of 16 numbers takes about 600.
  private static let largestFile = 65_536
  /// Limit on nesting: the decoder is recursive, and many opening tags would exhaust its stack.
  private static let deepestNesting = 8

  static func numbers(from file: FilePath) throws(CaptureError) -> [Double] {
    let data = try ARKitScannerSideFile.bytes(of: file)
    guard data.count <= largestFile, isShallowXML(data) else {
      throw CaptureError(file: file, problem: "not an XML property list of numbers")
    }
    do {
      return try PropertyListDecoder().decode([Double].self, from: data)
    } catch {
      throw CaptureError(file: file, problem: "not a property list of numbers: \(error)")
    }
  }

  /// Whether the data are XML (the decoder accepts other forms too) in UTF-8 (it traps on other bytes in a
  /// number, seen with Swift 6.3) with few nested containers.
  private static func isShallowXML(_ data: Data) -> Bool {
    guard let text = String(validating: data, as: UTF8.self) else { return false }
    let start = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    guard start.hasPrefix("<?xml") || start.hasPrefix("<plist") || start.hasPrefix("<!DOCTYPE")
    else { return false }
    let containers = text.split(separator: "<", omittingEmptySubsequences: true)
      .count { $0.hasPrefix("array") || $0.hasPrefix("dict") }
    return containers <= deepestNesting
  }
}
