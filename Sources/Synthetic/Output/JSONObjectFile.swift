import FoundationEssentials
import Core
import SystemPackage

/// Writes one large JSON object member by member, so that memory does not grow with it.
struct JSONObjectFile {
  private let file: GrowingFile
  private let separator: String
  private let encoder = JSONEncoder()
  private var isEmpty = true

  /// - Parameters:
  ///   - opening: `{`, optionally with a line end.
  ///   - separator: the text between members: `,`, optionally with a line end.
  init(_ path: FilePath, opening: String = "{", separator: String = ",") throws(FileError) {
    file = try GrowingFile(path)
    self.separator = separator
    encoder.outputFormatting = [.sortedKeys]
    try file.append(opening)
  }

  /// Appends a member as `JSONEncoder` writes it, with `/` as `\/`.
  mutating func append(_ name: String, _ value: some Encodable) throws {
    if !isEmpty { try file.append(separator) }
    isEmpty = false
    try file.append(try member(name, value))
  }

  /// Appends only the first half of a member.
  mutating func appendCut(_ name: String, _ value: some Encodable) throws {
    if !isEmpty { try file.append(separator) }
    let bytes = try member(name, value)
    try file.append(bytes.prefix(bytes.count / 2))
    try file.close()
  }

  mutating func finish(closing: String = "}") throws(FileError) {
    try file.append(closing)
    try file.close()
  }

  /// An object of one member without its braces.
  private func member(_ name: String, _ value: some Encodable) throws -> [UInt8] {
    Array(try encoder.encode([name: value]).dropFirst().dropLast())
  }
}

/// The order of members in an unordered dictionary: every index once, and not ascending for more
/// than a few members.
enum ScatteredOrder {
  static func indices(count: Int) -> [Int] {
    guard count > 0 else { return [] }
    // A step without common divisor reaches every index.
    var step = max(1, count * 5 / 8)
    while divisor(step, count) != 1 { step += 1 }
    return (0..<count).map { ($0 * step + count / 3) % count }
  }

  private static func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
}
