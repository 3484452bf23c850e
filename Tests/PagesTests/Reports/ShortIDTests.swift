@testable import Engine
@testable import Pages
import Testing

@Suite("Short ids, and ids that are given by their beginning")
struct ShortIDTests {
  @Test(
    "An id is cut where no other begins the same, after 12 characters at the least",
    arguments: [
      (["a", "b"], ["a", "b"]), (["abcdefghijklm"], ["abcdefghijklm"]),
      (["abcdefghijklmn"], ["abcdefghijkl…"]),
      (
        ["abcdefghijklmn-1xxx", "abcdefghijklmn-2xxx"], ["abcdefghijklmn-1…", "abcdefghijklmn-2…"]
      ),
      // One begins the other.
      (["abcdefghijklmno", "abcdefghijklmno-and-more"], ["abcdefghijklmno", "abcdefghijklmno-…"]),
      (["客厅的扫描一二三四五六七八九", "客厅的扫描一二三四五六七八十"], ["客厅的扫描一二三四五六七八九", "客厅的扫描一二三四五六七八十"]),
      (["x", "x"], ["x", "x"]),
    ])
  func short(_ ids: [String], _ expected: [String]) {
    let short = ShortIDs(ids)
    #expect(ids.map { short[$0] } == expected)
    // Whatever is shown finds its way back.
    for id in ids { #expect(IDPrefix.match(short[id], among: Set(ids)) == .one(id)) }
  }

  @Test("Ten thousand ids of one app are distinguished")
  func many() {
    let ids = (0..<10_000).map { "2026-11-23_09-55-14__\($0 * 7919)-A8ECBA23-EFA8-4B99" }
    let short = ShortIDs(ids)
    #expect(Set(ids.map { short[$0] }).count == ids.count)
  }

  @Test(
    "The beginning of an id is enough where it is the only one",
    arguments: [
      ("scan-1", .one("scan-1")), ("scan-12", .one("scan-12")), ("scan-13", .one("scan-13-a")),
      ("scan-13…", .one("scan-13-a")), ("scan-13...", .one("scan-13-a")), ("x", .none), ("", .none),
      ("…", .none), ("scan", .several(["scan-1", "scan-12", "scan-13-a"])),
    ] as [(String, IDPrefix.Match)])
  func prefix(_ text: String, _ match: IDPrefix.Match) {
    #expect(IDPrefix.match(text, among: ["scan-13-a", "scan-1", "scan-12"]) == match)
  }
}
