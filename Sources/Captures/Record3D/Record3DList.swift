import Media
import Core

/// A JSON list of the metadata, by its text. The text must be well-formed.
struct Record3DList {
  private let text: [UInt8]
  /// More numbers than any row of the metadata has: longer rows are not usable and not kept.
  private static let mostNumbers = 16

  /// `nil` for other values.
  init?(_ text: ArraySlice<UInt8>) {
    guard text.first == UInt8(ascii: "[") else { return nil }
    self.text = Array(text)
  }

  /// The numbers of each inner list; `nil` for an entry that is no flat list, NaN for what is no
  /// number. `nil` if there are more than `most` entries.
  func rows(upTo most: Int) -> [[Double]?]? {
    var rows: [[Double]?] = []
    var row: [Double]? = nil
    var depth = 0
    let isWhole = text.withUnsafeBytes { bytes in
      for token in JSONTokens(bytes) {
        switch token.kind {
        case .open:
          depth += 1
          if depth == 2 { row = bytes[token.range.lowerBound] == UInt8(ascii: "[") ? [] : nil }
          if depth > 2 { row = nil }
        case .close:
          depth -= 1
          if depth == 1 { rows.append(row) }
        case .word, .string, .cutString:
          if depth == 1 { rows.append(nil) }
          guard depth == 2, let count = row?.count else { break }
          if count < Self.mostNumbers {
            row?.append(Self.number(bytes, token))
          } else {
            row = nil
          }
        case .comma, .colon: break
        }
        if rows.count > most { return false }
      }
      return true
    }
    return isWhole ? rows : nil
  }

  /// The entries as times, by exact decimal arithmetic from seconds; `nil` for an entry that is no
  /// finite number. `nil` if there are more than `most` entries.
  func times(upTo most: Int) -> [Timestamp?]? {
    var times: [Timestamp?] = []
    var depth = 0
    let isWhole = text.withUnsafeBytes { bytes in
      for token in JSONTokens(bytes) {
        switch token.kind {
        case .open: depth += 1
        case .close:
          depth -= 1
          if depth == 1 { times.append(nil) }
        case .string, .cutString: if depth == 1 { times.append(nil) }
        case .word:
          guard depth == 1 else { break }
          times.append(
            Timestamp(decimalSeconds: String(decoding: bytes[token.range], as: UTF8.self)))
        case .comma, .colon: break
        }
        if times.count > most { return false }
      }
      return true
    }
    return isWhole ? times : nil
  }

  private static func number(_ bytes: UnsafeRawBufferPointer, _ token: JSONTokens.Token) -> Double {
    guard token.kind == .word else { return .nan }
    return NumberList.number(String(decoding: bytes[token.range], as: UTF8.self)) ?? .nan
  }
}
