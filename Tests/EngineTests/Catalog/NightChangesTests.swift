import Testing

@testable import Captures
@testable import Core
@testable import Engine

@Suite("What is different from the night before")
struct NightChangesTests {
  /// Local noon at which the night of 20 November begins, whatever the time zone of the machine is.
  private static let noon =
    NightClock.lastNoon(
      before: (UTCText.nanoseconds("2026-11-21T00:00:00.000Z") ?? 0) + 6 * 3_600_000_000_000)

  /// Hours after that noon; before it they are negative.
  private static func time(_ hours: Int64) -> String {
    UTCText.text(nanoseconds: noon + hours * 3_600_000_000_000)
  }

  private static func run(
    _ hours: Int64, _ capture: String, _ outcome: RunOutcome?, missing: [String] = [],
    isShort: Bool = false
  ) -> RunEntry {
    var run = RunEntry(id: "r\(hours)-\(capture)", started: time(hours))
    var attempt = Sample.attempt(capture, outcome)
    attempt.missing = missing
    if isShort { attempt.shortfalls = [shortfall] }
    run.attempts = [attempt]
    return run
  }

  private static let shortfall = Shortfall(stream: "color", held: 1, declared: 2, message: "1 of 2")

  private static func row(
    _ id: String, _ state: CaptureState, _ change: (inout CaptureRow) -> Void = { _ in }
  ) -> CaptureRow {
    var row = CaptureRow(id: id, state: state)
    change(&row)
    row.judge()
    return row
  }

  private static func changes(_ runs: [RunEntry], _ rows: [CaptureRow]) -> NightChanges? {
    NightReportBuilder.changes(
      runs.sorted { $0.started < $1.started }, rows, before: time(0), now: noon + 1)
  }

  @Test("Without a night before there is nothing to compare with")
  func first() {
    #expect(Self.changes([], []) == nil)
    #expect(Self.changes([Self.run(1, "a", .failed)], [Self.row("a", .failed)]) == nil)
  }

  @Test(
    "Repaired, newly in need, still in need or none of these",
    arguments: [
      (.failed, .done, "repaired"), (.failed, .failed, "still"), (.made, .failed, "newly"),
      (.made, .done, ""), (.blocked, .quarantined, "still"), (.upToDate, .quarantined, "newly"),
      (.failed, .queued, ""), (.made, .queued, ""), (.interrupted, .failed, "newly"),
      (.made, .incomplete, "newly"), (.notPossible, .done, ""),
    ] as [(RunOutcome, CaptureState, String)])
  func kinds(before: RunOutcome, now: CaptureState, kind: String) {
    let changes = Self.changes([Self.run(-14, "a", before)], [Self.row("a", now)])
    #expect(changes?.repaired == (kind == "repaired" ? ["a"] : []))
    #expect(changes?.stillNeeding == (kind == "still" ? ["a"] : []))
    #expect(changes?.newlyNeeding == (kind == "newly" ? ["a"] : []))
  }

  @Test("A capture that was done without files, or short of frames, needed somebody then")
  func partial() {
    for run in [
      Self.run(-14, "a", .made, missing: ["a.imu"]), Self.run(-14, "a", .made, isShort: true),
    ] {
      #expect(Self.changes([run], [Self.row("a", .done)])?.repaired == ["a"])
      let lacking = Self.row("a", .done) { $0.missing = ["a.imu"] }
      #expect(Self.changes([run], [lacking])?.stillNeeding == ["a"])
    }
    let whole = Self.run(-14, "a", .made)
    let lacking = Self.row("a", .done) { $0.missing = ["a.imu"] }
    #expect(Self.changes([whole], [lacking])?.newlyNeeding == ["a"])
  }

  @Test("The last attempt of the night before counts; those of this night do not")
  func lastAttempt() {
    let runs = [
      Self.run(-30, "a", .made), Self.run(-14, "a", .failed), Self.run(-13, "a", .made),
      Self.run(-14, "b", .made), Self.run(-13, "b", .failed), Self.run(2, "b", .made),
    ]
    let changes = Self.changes(runs, [Self.row("a", .failed), Self.row("b", .done)])
    #expect(changes?.newlyNeeding == ["a"])
    #expect(changes?.repaired == ["b"])
  }

  @Test(
    "What no run has worked on needed somebody then if it has been as it is since before this night"
  )
  func neverWorkedOn() {
    let other = Self.run(-14, "z", .made)
    let rows = [
      Self.row("old", .incomplete) { $0.since = Self.time(-5) },
      Self.row("new", .incomplete) { $0.since = Self.time(5) },
      Self.row("unknown", .incomplete),
    ]
    let changes = Self.changes([other], rows)
    #expect(changes?.stillNeeding == ["old"])
    #expect(changes?.newlyNeeding == ["new", "unknown"])
  }

  @Test("A marked capture is neither repaired nor in need")
  func marked() {
    let mark = CaptureMark(
      MarkRecord(
        .ignore, note: nil, until: Self.time(1_000_000), by: "somebody", at: Self.time(1), id: "a",
        folder: nil, stem: nil))
    for state in [CaptureState.failed, .done] {
      let row = Self.row("a", state) { $0.mark = mark }
      let changes = Self.changes([Self.run(-14, "a", .failed)], [row])
      #expect(changes?.repaired == [] && changes?.stillNeeding == [])
      #expect(changes?.newlyNeeding == [])
    }
  }

  @Test("Received are those that were first worked on in each night, however often after that")
  func received() {
    let runs = [
      Self.run(-60, "old", .made), Self.run(-14, "a", .made), Self.run(-14, "b", .failed),
      Self.run(2, "b", .made), Self.run(3, "c", .made), Self.run(4, "c", .made),
      Self.run(5, "skipped", .skipped),
    ]
    let changes = Self.changes(runs, [])
    #expect(changes?.received == 1 && changes?.receivedBefore == 2)
    #expect(changes?.date == NightClock.night(of: Self.noon - 3_600_000_000_000))
  }
}

@Suite("The quality of a device's captures over nights")
struct QualityTrendTests {
  private static func trend(_ values: [Double], _ subject: String = "depthDisagreement")
    -> QualityTrend?
  {
    QualityTrend(subject, family: "f", values: values)
  }

  private static let steady: [Double] = [4, 5, 3, 4.5, 3.5, 4, 5.5, 3]

  @Test("A rise that most of the newest captures share is told, other changes are not")
  func rule() throws {
    let table: [(newest: [Double], isWorse: Bool, why: String)] = [
      ([9, 8, 10, 9, 9], true, "all are worse"),
      ([9, 3, 10, 9, 9], true, "four of five are worse"),
      ([9, 3, 10, 4, 9], false, "two of five are as before"),
      ([4, 30, 4, 4, 4], false, "one odd scene"),
      ([5.9, 5.9, 5.9, 5.9, 5.9], false, "a factor below 1.5"),
      ([2, 2, 2, 2, 2], false, "it has become better"),
    ]
    for row in table {
      let trend = try #require(Self.trend(Self.steady + row.newest))
      #expect(trend.isWorse == row.isWorse, "\(row.why)")
      #expect((trend.captures, trend.capturesBefore) == (5, 8))
      #expect(trend.before == 4)
    }
    // Twice as much, and still very little.
    #expect(Self.trend([1, 1, 1, 1, 1, 2, 2, 2, 2, 2])?.isWorse == false)
    #expect(
      Self.trend([0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.3, 0.3, 0.3, 0.3], "depthMissing")?.isWorse
        == true)
    #expect(
      Self.trend([0.05, 0.05, 0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1], "depthMissing")?.isWorse
        == false)
  }

  @Test(
    "Fewer than ten captures and other subjects tell nothing; of many only the last ones before count"
  )
  func counts() throws {
    #expect(Self.trend([Double](repeating: 1, count: 9)) == nil)
    #expect(Self.trend([Double](repeating: 1, count: 20), "blurred") == nil)
    let long = try #require(
      Self.trend([Double](repeating: 100, count: 50) + [Double](repeating: 1, count: 45)))
    #expect((long.before, long.capturesBefore, long.isWorse) == (1, 40, false))
  }

  @Test("Captures are compared by time, within a device and a family, as far as they were judged")
  func groups() {
    func sample(_ device: String, _ family: String, _ day: Int, _ value: Double?)
      -> QualityTrend.Sample
    {
      QualityTrend.Sample(
        device: device, family: family, time: "2026-11-\(day + 10)", id: "\(device)\(day)",
        quality: CaptureQuality(
          verdict: .good, reasons: [],
          judged: value.map { ["depthDisagreement": .init(value: $0, level: .good)] } ?? [:]))
    }
    let samples =
      (0..<12).map { sample("one", "b", $0, $0 < 7 ? 4 : 9) }
      + (0..<9).map { sample("two", "b", $0, 50) } + (0..<12).map { sample("one", "a", $0, 4) }
      + (0..<12).map { sample("three", "a", $0, nil) }
    let trends = QualityTrend.all(of: samples.reversed())
    #expect(trends.map(\.family) == ["a", "b"])
    #expect(trends.map(\.isWorse) == [false, true])
    #expect(trends.map(\.recent) == [4, 9])
  }
}
