import Testing

@testable import Core

@Suite("Numbers and lengths of time as text")
struct NumberTextTests {
  @Test(
    "A number has one decimal below 100 and none above",
    arguments: [
      (0, "0.0"), (0.04, "0.0"), (0.05, "0.1"), (1, "1.0"), (9.96, "10.0"), (52.14, "52.1"),
      (99.94, "99.9"), (99.96, "100"), (100, "100"), (1234.5, "1235"), (-3, "0.0"),
      (1e300, "1000000000000000"), (.infinity, "?"), (.nan, "?"),
    ] as [(Double, String)])
  func short(value: Double, text: String) {
    #expect(NumberText.short(value) == text)
  }

  @Test(
    "A duration is rounded up to whole seconds, then to minutes",
    arguments: [
      (0, "0 s"), (0.1, "1 s"), (31, "31 s"), (59.5, "1 min 00 s"), (125, "2 min 05 s"),
      (3599.2, "1 h 00 min"), (4320, "1 h 12 min"), (90_000, "25 h 00 min"), (-5, "0 s"),
      (1e300, "833 h 20 min"),
    ] as [(Double, String)])
  func duration(seconds: Double, text: String) {
    #expect(DurationText.text(seconds) == text)
  }

  @Test(
    "A measured duration has a decimal below ten seconds; an estimated one has no seconds beside minutes",
    arguments: [
      (0, "0.0 s", "0 s"), (9.94, "9.9 s", "10 s"), (9.96, "10 s", "10 s"),
      (125, "2 min 05 s", "2 min"), (4320, "1 h 12 min", "1 h 12 min"), (-5, "0.0 s", "0 s"),
    ] as [(Double, String, String)])
  func durations(seconds: Double, measured: String, estimated: String) {
    #expect(DurationText.measured(seconds) == measured)
    #expect(DurationText.estimated(seconds) == estimated)
  }

  @Test(
    "Thousands are told apart",
    arguments: [(0, "0"), (999, "999"), (1204, "1,204"), (-1_234_567, "-1,234,567")])
  func grouped(number: Int, text: String) {
    #expect(NumberText.grouped(number) == text)
  }
}
