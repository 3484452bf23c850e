import Core

/// JSON documents whose `captures` are thousands: encoded on all cores, with the bytes that one core would
/// give.
enum ListJSON {
  private static let share = 128
  private static let mark = Array(#""captures" : ["#.utf8)

  /// - Parameter document: the same without any captures.
  static func pretty(
    _ document: some Encodable, captures: [some Encodable & Sendable]
  ) throws -> [UInt8] {
    let frame = try JSONText.pretty(document)
    guard !captures.isEmpty, let start = frame.firstRange(of: mark),
      let end = frame[start.upperBound...].firstIndex(of: UInt8(ascii: "]"))
    else { return frame }
    let shares = (captures.count + share - 1) / share
    let pieces = try concurrentMap(count: shares) { number in
      let part = Array(captures[number * share..<min(captures.count, (number + 1) * share)])
      return inner(try JSONText.pretty(part))
    }
    var bytes = Array(frame[..<start.upperBound])
    bytes.reserveCapacity(frame.count + pieces.reduce(0) { $0 + $1.count + 1 })
    for (number, piece) in pieces.enumerated() {
      if number > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes += piece
    }
    bytes += Array("\n  ".utf8)
    bytes += frame[end...]
    return bytes
  }

  /// What stands between the brackets of a list, two blanks further right.
  private static func inner(_ list: [UInt8]) -> [UInt8] {
    guard let first = list.firstIndex(of: UInt8(ascii: "\n")),
      let last = list.dropLast().lastIndex(of: UInt8(ascii: "\n"))
    else { return [] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(list.count * 5 / 4)
    var start = first
    while start < last {
      let end = list[(start + 1)..<last].firstIndex(of: UInt8(ascii: "\n")) ?? last
      bytes.append(UInt8(ascii: "\n"))
      // Texts in JSON hold no line ends; empty lists hold an empty line.
      if end > start + 1 {
        bytes.append(UInt8(ascii: " "))
        bytes.append(UInt8(ascii: " "))
      }
      bytes += list[(start + 1)..<end]
      start = end
    }
    return bytes
  }
}
