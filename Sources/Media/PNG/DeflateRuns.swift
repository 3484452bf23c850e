/// How deflate encodes match lengths (RFC 1951, section 3.2.5).
enum DeflateRuns {
  /// Shortest and longest match.
  static let lengths = 3...258

  /// Number of symbols: literals, end of block and match lengths.
  static let symbolCount = 286
  static let endOfBlock = 256

  struct Length: Sendable {
    var symbol: Int
    var extraBits: Int
    var extraValue: Int
  }

  /// The symbol for each match length; the index is the length.
  static let byLength: [Length] = {
    var table = [Length](repeating: Length(symbol: 0, extraBits: 0, extraValue: 0), count: 259)
    var length = 3
    for symbol in 257...284 {
      let extraBits = symbol < 265 ? 0 : (symbol - 261) / 4
      for value in 0..<(1 << extraBits) where length < 258 {
        table[length] = Length(symbol: symbol, extraBits: extraBits, extraValue: value)
        length += 1
      }
    }
    table[258] = Length(symbol: 285, extraBits: 0, extraValue: 0)
    return table
  }()
}
