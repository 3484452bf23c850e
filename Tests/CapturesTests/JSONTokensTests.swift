import Testing

@testable import Captures

@Suite("Tokens of JSON")
struct JSONTokensTests {
  private func tokens(_ text: String) -> [String] {
    Array(text.utf8).withUnsafeBytes { bytes in
      JSONTokens(bytes).map { token in
        "\(token.kind) \(String(decoding: bytes[token.range], as: UTF8.self))"
      }
    }
  }

  @Test(
    "Strings with escapes, brackets, numbers and words are told apart",
    arguments: [
      ("", []),
      (" \r\n\t", []),
      (#"{"a": -1.5e3}"#, ["open {", #"string "a""#, "colon :", "word -1.5e3", "close }"]),
      ("[true,NaN]", ["open [", "word true", "comma ,", "word NaN", "close ]"]),
      (#""\"{" 1"#, [#"string "\"{""#, "word 1"]),
      (#""\\"x"#, [#"string "\\""#, "word x"]),
      (#""ä"ö"#, [#"string "ä""#, "word ö"]),
      (#"["a"#, ["open [", #"cutString "a"#]),
      (#"["\"#, ["open [", #"cutString "\"#]),
      (#"["\""#, ["open [", #"cutString "\""#]),
      ("}]", ["close }", "close ]"]),
    ] as [(String, [String])])
  func kinds(text: String, expected: [String]) {
    #expect(tokens(text) == expected)
  }

  @Test("They cover every byte that is no space, once and in order, whatever the text")
  func complete() {
    let text = Array(#"{"a":[1,"\"",{"b":NaN}],x "c":"\\"} ]"#.utf8)
    for length in 0...text.count {
      text[..<length].withUnsafeBytes { bytes in
        var behind = 0
        for token in JSONTokens(bytes) {
          #expect(bytes[behind..<token.range.lowerBound].allSatisfy { $0 == UInt8(ascii: " ") })
          #expect(!token.range.isEmpty)
          behind = token.range.upperBound
        }
        #expect(bytes[behind...].allSatisfy { $0 == UInt8(ascii: " ") })
      }
    }
  }
}
