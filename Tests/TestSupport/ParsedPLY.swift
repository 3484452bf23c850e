import Testing

/// A binary PLY file read by its header alone, as any reader would.
public struct ParsedPLY {
  public let count: Int
  public let comments: [String]
  private let columns: [String: [Double]]

  /// Fails the test for a file that is no `binary_little_endian` list of vertices, or is longer or
  /// shorter than its header says.
  public init(_ bytes: [UInt8]) throws {
    let end = Array("end_header\n".utf8)
    let endStart = try #require(bytes.firstRange(of: end)?.lowerBound)
    let text = String(decoding: bytes[..<endStart], as: UTF8.self)
    var lines = text.split(separator: "\n").map(String.init)
    try #require(lines.count > 2)
    #expect(Array(lines.prefix(2)) == ["ply", "format binary_little_endian 1.0"])
    lines.removeFirst(2)
    comments = lines.filter { $0.hasPrefix("comment") }
    lines.removeAll { $0.hasPrefix("comment") }
    let element = try #require(lines.first).split(separator: " ")
    try #require(element.count == 3 && element[0] == "element" && element[1] == "vertex")
    count = try #require(Int(element[2]))
    let properties = try lines.dropFirst().map { line in
      let words = line.split(separator: " ").map(String.init)
      try #require(words.count == 3 && words[0] == "property")
      return (type: words[1], name: words[2])
    }
    let sizes = ["float": 4, "double": 8, "uchar": 1, "int": 4]
    let record = try properties.map { try #require(sizes[$0.type]) }.reduce(0, +)
    let start = endStart + end.count
    try #require(bytes.count == start + count * record)
    var columns: [String: [Double]] = [:]
    var offset = start
    for (type, name) in properties {
      let size = sizes[type] ?? 0
      columns[name] = (0..<count).map { point in
        Self.value(type, bytes[(offset + point * record)..<(offset + point * record + size)])
      }
      offset += size
    }
    self.columns = columns
  }

  /// The values of a property, `nil` when the file does not have it.
  public subscript(property: String) -> [Double]? { columns[property] }

  private static func value(_ type: String, _ bytes: ArraySlice<UInt8>) -> Double {
    let bits = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return switch type {
    case "float": Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case "double": Double(bitPattern: bits)
    case "int": Double(Int32(truncatingIfNeeded: bits))
    default: Double(bits)
    }
  }
}
