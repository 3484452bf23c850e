import Core

/// Who may upload: names and secrets, from a file of lines `name token`.
public struct TokenList: Sendable {
  private var tokens: [(name: String, secret: [UInt8])] = []
  static let leastCharacters = 20

  public struct ParseError: Error, CustomStringConvertible {
    public var line: Int
    var problem: String
    public var description: String { "line \(line): \(problem)" }
  }

  /// Reads lines `name token`; `#` begins a comment, empty lines count for nothing. Secrets are in no
  /// error.
  public init(text: String) throws(ParseError) {
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "\r" }
      if words.isEmpty { continue }
      guard words.count == 2 else {
        throw ParseError(line: number + 1, problem: "a line is a name, a blank and a token")
      }
      guard words[1].count >= Self.leastCharacters else {
        throw ParseError(
          line: number + 1,
          problem: "a token needs at least \(Self.leastCharacters) characters; make one with"
            + " `openssl rand -hex 16`")
      }
      guard words[1].utf8.allSatisfy({ $0.isLetterOrDigit || "-._~".utf8.contains($0) }) else {
        throw ParseError(
          line: number + 1,
          problem: "a token stands in addresses: letters, digits and `-._~` only")
      }
      tokens.append((String(words[0]), Array(words[1].utf8)))
    }
    if tokens.isEmpty { throw ParseError(line: 1, problem: "there is no token in it") }
  }

  /// The name of a token; `nil` for an unknown one. Cost: the same for every wrong token of one
  /// length, wherever it differs.
  public func name(of secret: some Sequence<UInt8>) -> String? {
    let secret = Array(secret)
    var found: String?
    for token in tokens where Self.isEqual(token.secret, secret) { found = token.name }
    return found
  }

  private static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    var difference: UInt8 = a.count == b.count ? 0 : 1
    for index in a.indices {
      difference |= a[index] ^ (b.isEmpty ? 1 : b[index % b.count])
    }
    return difference == 0
  }
}
