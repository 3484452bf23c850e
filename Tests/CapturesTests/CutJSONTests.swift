import FoundationEssentials
import Testing

@testable import Captures

@Suite("JSON that breaks off")
struct CutJSONTests {
  private func closed(_ text: String, _ depth: Int = 1) -> String? {
    CutJSON.closed(Data(text.utf8), entriesAtDepth: depth).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  @Test(
    "Complete entries stay, brackets are closed",
    arguments: [
      (#"{"a":"1","b":"2"#, 1, #"{"a":"1"}"#),
      (#"{"a":"1","b":"2""#, 1, #"{"a":"1","b":"2"}"#),
      (#"{"a":"1","b":"#, 1, #"{"a":"1"}"#),
      (#"{"a":"1","b""#, 1, #"{"a":"1"}"#),
      (#"{"a":1,"b":2"#, 1, #"{"a":1}"#),
      (#"{"a":{"x":[1,2]},"b":{"x":[1,2],"y":3"#, 1, #"{"a":{"x":[1,2]}}"#),
      (#"{"a":"},{","b":"\"","c":"#, 1, #"{"a":"},{","b":"\""}"#),
      (#"{"points":[{"t":1},{"t":2},{"t":"#, 2, #"{"points":[{"t":1},{"t":2}]}"#),
      (#"{"n":1,"points":[{"t":1},{"t":2}],"m":"#, 2, #"{"n":1,"points":[{"t":1},{"t":2}]}"#),
      ("{\"a\":\"1\",\"b\":\"2\u{0}\u{0}\u{0}", 1, #"{"a":"1"}"#),
      ("[1,2,3", 1, "[1,2]"),
    ] as [(String, Int, String)])
  func cut(text: String, depth: Int, expected: String) {
    #expect(closed(text, depth) == expected)
  }

  @Test(
    "Nothing complete, or nothing cut, is nothing to salvage",
    arguments: [
      "", "{", "[", #"{"a"#, #"{"a":"b"#, "x", #"{"a":"1"}"#, "[]", "}", "{]",
    ])
  func nothing(text: String) {
    #expect(closed(text) == nil)
  }

  @Test("Wherever a table is cut, what comes out is JSON that holds only whole entries")
  func everywhere() throws {
    let entries = (0..<6).map { "\"\($0).5\": \"[1.0, \\u0041, \($0)]\"" }
    let text = Array("{\n  \(entries.joined(separator: ",\n  "))\n}".utf8)
    for length in 0..<text.count {
      guard let closed = CutJSON.closed(Data(text[..<length])) else { continue }
      let table = try JSONDecoder().decode([String: String].self, from: closed)
      #expect(table.allSatisfy { $0.value == "[1.0, A, \($0.key.prefix(1))]" })
    }
  }
}
