import Core
import FoundationEssentials
@testable import Engine
import Testing

@Suite("JSON values")
struct JSONValueTests {
  @Test(
    "What is written and read again is equal, whole numbers too",
    arguments: [
      .null, .bool(true), .integer(0), .integer(.max), .integer(.min), .number(1), .number(-3),
      .number(0.1), .number(1e300), .number(1e16), .number(-0.0), .number(.leastNonzeroMagnitude),
      .string(""), .string("a/b\"\n"),
      .array([.integer(1), .number(2), .null]), .object(["b": .number(1), "a": .array([])]),
    ] as [JSONValue])
  func roundTrip(value: JSONValue) throws {
    let bytes = try JSONText.canonical([value])
    let back = try JSONDecoder().decode([JSONValue].self, from: Data(bytes))
    #expect(back == [value])
    #expect(back[0].hashValue == value.hashValue)
  }

  @Test("Different values differ")
  func different() {
    let all: [JSONValue] = [
      .null, .bool(false), .bool(true), .integer(0), .integer(1), .number(0.5), .string("1"),
      .string("null"), .array([]), .array([.null]), .object([:]),
    ]
    for (i, a) in all.enumerated() {
      for (j, b) in all.enumerated() { #expect((a == b) == (i == j)) }
    }
    #expect(JSONValue.integer(.max) != .number(9_223_372_036_854_775_808))
  }

  @Test("Plain text is what a person would write")
  func plainText() {
    let value = JSONValue.object([
      "list": .array([.string("a"), .number(0.5), .null]), "flag": .bool(true), "n": .integer(-3),
    ])
    #expect(value.plainText == "{flag: true, list: [a, 0.5, none], n: -3}")
  }

  @Test(
    "Canonical text has sorted keys, no blanks and plain slashes; pretty text ends with a line end")
  func forms() throws {
    let value: [String: JSONValue] = ["b": .string("x/y"), "a": .integer(1)]
    #expect(String(decoding: try JSONText.canonical(value), as: UTF8.self) == #"{"a":1,"b":"x/y"}"#)
    #expect(
      String(decoding: try JSONText.pretty(value), as: UTF8.self) == """
        {
          "a" : 1,
          "b" : "x/y"
        }

        """)
  }
}
