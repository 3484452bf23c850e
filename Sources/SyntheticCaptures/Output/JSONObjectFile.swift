import FoundationEssentials
import Storage
import SystemPackage

/// One large JSON object written member by member, so that memory does not grow with it.
struct JSONObjectFile {
  private let file: GrowingFile
  private let separator: String
  private let encoder = JSONEncoder()
  private var isEmpty = true

  /// - Parameters:
  ///   - opening: `{`, perhaps with a line end.
  ///   - separator: what stands between members: `,`, perhaps with a line end.
  init(_ path: FilePath, opening: String = "{", separator: String = ",") throws(FileError) {
    file = try GrowingFile(path)
    self.separator = separator
    encoder.outputFormatting = [.sortedKeys]
    try file.append(opening)
  }

  /// Appends a member as `JSONEncoder` writes it, `/` as `\/`.
  mutating func append(_ name: String, _ value: some Encodable) throws {
    if !isEmpty { try file.append(separator) }
    isEmpty = false
    try file.append(try member(name, value))
  }

  /// Appends the first half of a member and nothing more.
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

/// The order in which an unordered dictionary hands out its members: every index once, never 0, 1, 2 …
/// for more than a few members.
enum ScatteredOrder {
  static func indices(count: Int) -> [Int] {
    guard count > 0 else { return [] }
    // A step without common divisor visits every index.
    var step = max(1, count * 5 / 8)
    while divisor(step, count) != 1 { step += 1 }
    return (0..<count).map { ($0 * step + count / 3) % count }
  }

  private static func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
}
