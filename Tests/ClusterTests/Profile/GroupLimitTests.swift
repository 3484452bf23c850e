import Testing

@testable import Cluster

@Suite("Captures of an array task")
struct GroupLimitTests {
  @Test(
    "A group is a number of captures or a duration",
    arguments: [
      ("1", GroupLimit.captures(1)), ("20", .captures(20)), ("10m", .seconds(600)),
      ("1.5h", .seconds(5400)), ("1s", .seconds(1)), ("0", nil), ("-1", nil), ("", nil),
      ("0s", nil), ("10 parsecs", nil), ("1000001", nil), ("9e9", nil),
    ] as [(String, GroupLimit?)])
  func groups(text: String, limit: GroupLimit?) { #expect(GroupLimit(text) == limit) }
}
