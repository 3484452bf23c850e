@testable import Engine
import Testing

@Suite("Durations, sizes, lengths and ranges")
struct UnitTextTests {
  @Test(
    "A duration is a number with its unit, to the nanosecond",
    arguments: [
      ("50ms", 50_000_000), ("1.5s", 1_500_000_000), ("30m", 1_800_000_000_000),
      ("30min", 1_800_000_000_000), ("2h", 7_200_000_000_000), ("250us", 250_000),
      ("250µs", 250_000), ("10ns", 10), ("0s", 0), ("0.1ms", 100_000), ("50 ms", 50_000_000),
      ("1.5m", 90_000_000_000), ("0.25h", 900_000_000_000), ("0.000000001s", 1),
      (".5s", 500_000_000),
      ("0.6ns", 1), ("0.4ns", 0), ("2562047h", 9_223_369_200_000_000_000),
    ] as [(String, Int64)])
  func duration(text: String, nanoseconds: Int64) {
    #expect(DurationSyntax.nanoseconds(text) == nanoseconds)
  }

  @Test(
    "What is no duration is refused, also what is too long",
    arguments: [
      "", "50", "ms", "-1s", "1.2.3s", "1e3s", "1d", "50MS", "½s", "1,5s", "2562047.9h",
      "9223372037s", "99999999999999999999s", "inf", "s1", "50 ms ", "0x10s",
    ])
  func noDuration(text: String) {
    #expect(DurationSyntax.nanoseconds(text) == nil)
  }

  @Test(
    "Offsets go both ways",
    arguments: [("-3ms", -3_000_000), ("3ms", 3_000_000), ("-1.5s", -1_500_000_000), ("-0s", 0)]
      as [(String, Int64)])
  func signed(text: String, nanoseconds: Int64) {
    #expect(DurationSyntax.signedNanoseconds(text) == nanoseconds)
    #expect(DurationSyntax.signedNanoseconds("-" + "-3ms") == nil)
  }

  @Test(
    "A duration prints in the largest unit that gives a whole number",
    arguments: [
      (0, "0ns"), (1, "1ns"), (1_000, "1us"), (1_500, "1500ns"), (50_000_000, "50ms"),
      (1_500_000_000, "1500ms"), (60_000_000_000, "1m"), (90_000_000_000, "90s"),
      (7_200_000_000_000, "2h"), (Int64.max, "9223372036854775807ns"),
    ] as [(Int64, String)])
  func durationText(nanoseconds: Int64, text: String) {
    #expect(DurationSyntax.text(nanoseconds: nanoseconds) == text)
    #expect(DurationSyntax.nanoseconds(text) == nanoseconds || nanoseconds == .max)
  }

  @Test(
    "A size counts in thousands or in 1024s",
    arguments: [
      ("2GB", 2_000_000_000), ("512MiB", 536_870_912), ("1k", 1000),
      ("1.5 kB", 1500),
      ("3g", 3_000_000_000), ("1TiB", 1_099_511_627_776), ("7b", 7), ("0.5KiB", 512),
    ] as [(String, Int64)])
  func size(text: String, bytes: Int64) {
    #expect(SizeText.bytes(text) == bytes)
  }

  @Test(
    "What is no size is refused",
    arguments: [
      "", "GB", "0", "1000", "0.4", "-1GB", "2 gigs", "1e3", "9999999999GB", "٣GB", "2GB3",
    ])
  func noSize(text: String) {
    #expect(SizeText.bytes(text) == nil)
  }

  @Test(
    "A length is a number with its unit",
    arguments: [
      ("10mm", 0.01), ("1.5cm", 0.015), ("0.3m", 0.3), ("2m", 2), ("1e-3m", 0.001), ("-4m", -4),
      ("30 cm", 0.3), ("0m", 0), ("0mm", 0),
    ])
  func length(text: String, meters: Double) {
    #expect(LengthText.meters(text) == meters)
  }

  @Test(
    "What is no length is refused, also a number alone",
    arguments: [
      "2", "0", "-4", "0.01", "1e-3", "", "m", "inf", "nan", "3km", "1..2", "1e999", "3 m x",
    ])
  func noLength(text: String) {
    #expect(LengthText.meters(text) == nil)
  }

  @Test(
    "A range has two ends; a unit at the end only counts for both",
    arguments: [
      ("0.3m..4m", 0.3...4), ("300..4000mm", 0.3...4), ("0..4m", 0...4), ("30cm..4m", 0.3...4),
      ("1..1m", 1...1), ("30 cm .. 4 m", 0.3...4), ("1e-1..1e1m", 0.1...10),
    ] as [(String, ClosedRange<Double>)])
  func range(text: String, meters: ClosedRange<Double>) {
    #expect(LengthText.range(text) == meters)
  }

  @Test(
    "What is no range is refused",
    arguments: [
      "", "..", "1..", "..1", "4m..0.3m", "1", "1-2", "300..4000", "0.3..4", "0..0",
      "0.3m..4", "0mm..0", "0.3...4m", "1..2..3", "a..b", "1..inf",
    ])
  func noRange(text: String) {
    #expect(LengthText.range(text) == nil)
  }

  @Test(
    "What a length without its unit could mean",
    arguments: [
      ("10", ["10mm", "10m"]), ("0.01", ["0.01mm", "0.01m"]),
      ("300..4000", ["300mm..4000mm", "300m..4000m"]), ("0.3 .. 4", ["0.3mm..4mm", "0.3m..4m"]),
      ("10mm", []), ("ten", []), ("", []), ("300..4000mm", []), ("..", []),
    ] as [(String, [String])])
  func meanings(text: String, meanings: [String]) {
    #expect(LengthText.meanings(of: text) == meanings)
  }

  @Test(
    "A length prints with its unit, and reads back to the same",
    arguments: [
      (0.01, "10mm"), (0.001, "1mm"), (0, "0m"), (1, "1m"), (65.535, "65.535m"), (0.3, "300mm"),
      (1.5, "1.5m"), (0.0125, "12.5mm"), (-0.01, "-10mm"),
    ])
  func lengthText(meters: Double, text: String) {
    #expect(LengthText.text(meters: meters) == text)
    #expect(LengthText.meters(text) == meters)
  }

  @Test("Any length that prints reads back to the same")
  func lengthTexts() {
    for step in 0...2000 {
      let meters = Double(step) * 0.00037
      #expect(LengthText.meters(LengthText.text(meters: meters)) == meters, "\(meters)")
    }
    #expect(LengthText.range(LengthText.text(0.3...4)) == 0.3...4)
  }
}
