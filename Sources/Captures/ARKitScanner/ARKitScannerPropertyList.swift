import FoundationEssentials
import SystemPackage

/// XML property lists of the first two generations: an array of `real`.
enum ARKitScannerPropertyList {
  /// A list of 16 numbers takes about 600 bytes.
  private static let largestFile = 65_536
  /// The decoder descends by recursion: a file of nothing but opening tags would exhaust the stack.
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

  /// Whether it is XML (the decoder reads other forms too) with few containers, in UTF-8: of other bytes
  /// in a number the decoder traps (seen with Swift 6.3).
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
