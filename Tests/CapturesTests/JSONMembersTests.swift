@testable import Core
import Testing

@testable import Captures

@Suite("Members of small JSON objects")
struct JSONMembersTests {
  @Test("Values are read by name, exactly")
  func values() throws {
    let text = """
      {"time": 942355.64631345856, "list": [1, -2.5e3, NaN, -inf, Infinity], "on": true, "off": false,
       "name": "K\\u00fcche", "none": null, "in": {"time": 3, "a": [[], {}]}, "time2": 7, "twice": 1, "twice": 2}
      """
    let members = try #require(JSONMembers(Array(text.utf8)))
    #expect(members.number("time") == "942355.64631345856")
    #expect(
      members.number("time").flatMap { Timestamp(decimalSeconds: $0) }?.nanoseconds
        == 942_355_646_313_459)
    let list = try #require(members.numbers("list"))
    #expect(list[..<2] == [1, -2500] && list[2].isNaN && list[3...] == [-.infinity, .infinity])
    #expect(
      members.flag("on") == true && members.flag("off") == false && members.flag("none") == nil)
    #expect(members.text("name") == "Küche")
    #expect(members.contains("none") && members.number("none") == nil)
    #expect(members.integer("time2") == 7 && members.integer("time") == nil)
    #expect(members.finite("twice") == 2)
    #expect(members.numbers("in") == nil && members.numbers("time") == nil)
  }

  @Test(
    "Only one whole object is read",
    arguments: [
      "", " ", "[]", "1", "\"a\"", "{", "{}}", "{]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}",
      "{\"a\":1 \"b\":2}", "{\"a\":1:2}", "{1:2}", "{\"a\":word}", "{\"a\":nanny}", "{\"a\":[1 2]}",
      "{\"a\":[1,]}", "{\"a\":-}", "{\"a\":\"b}", "{} {}",
      "{\"a\":" + String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}",
    ])
  func refused(text: String) {
    #expect(JSONMembers(Array(text.utf8)) == nil)
  }

  @Test("Dates are read from names of one form only")
  func dates() {
    #expect(FolderDate.recordedAt("2026_01_13_14_47_59") == "2026-01-13T14:47:59")
    for name in [
      "2026_13_13_14_47_59", "2026_01_13_24_47_59", "2026_01_13_14_47", "2026-01-13_14_47_59",
      "2026_1_13_14_47_59", "x2026_01_13_14_47_59", "2026_01_13_14_47_59_", "",
    ] { #expect(FolderDate.recordedAt(name) == nil) }
  }
}
