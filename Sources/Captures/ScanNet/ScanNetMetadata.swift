/// The `key = value` lines of a capture's `.txt`.
///
/// One pair per line, split at the first `=`; surrounding blanks, tabs and CR are removed. There
/// are no comments and no quotes.
struct ScanNetMetadata: Sendable {
  /// Values by the usual spelling of the key; of repeated keys the last one.
  private(set) var values: [String: String] = [:]

  /// Without any key: for a capture without `.txt`.
  init() {}

  /// From UTF-8, or from UTF-16 as some editors write it; damaged sequences become replacement
  /// characters.
  init(_ bytes: [UInt8]) {
    for line in TextBytes.utf8(bytes).split(separator: UInt8(ascii: "\n")) {
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let key = Self.trimmed(line[..<equals])
      guard !key.isEmpty else { continue }
      values[ScanNetKeys.usualSpelling[key] ?? key] = Self.trimmed(line[(equals + 1)...])
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    let start = bytes.drop(while: isBlank)
    let end = start.lastIndex { !isBlank($0) }
    return String(decoding: end.map { start[...$0] } ?? [], as: UTF8.self)
  }

  func text(_ key: String) -> String? { values[key] }

  /// A finite number.
  func number(_ key: String) -> Double? {
    guard let value = values[key].flatMap(Double.init), value.isFinite else { return nil }
    return value
  }

  /// An integer of 0 or more, which may be written with zero decimals.
  func count(_ key: String) -> Int? {
    guard let text = values[key] else { return nil }
    guard let count = Int(text) ?? Double(text).flatMap(Int.init(exactly:)) else { return nil }
    return count >= 0 ? count : nil
  }

  /// A picture size in pixels. `nil` above 8192, which no camera of this app has, so that memory is
  /// not allocated for damaged values.
  func pixels(_ key: String) -> Int? {
    guard let size = count(key), (1...8192).contains(size) else { return nil }
    return size
  }

  /// A focal length; must be above 0.
  func focalLength(_ key: String) -> Double? {
    guard let length = number(key), length > 0 else { return nil }
    return length
  }

  /// Sixteen finite numbers.
  func matrix(_ key: String) -> [Double]? {
    guard let text = values[key] else { return nil }
    let numbers = text.split { $0 == " " || $0 == "\t" }.map { Double($0) ?? .nan }
    guard numbers.count == 16, numbers.allSatisfy(\.isFinite) else { return nil }
    return numbers
  }
}
