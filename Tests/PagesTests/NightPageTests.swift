import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Engine
@testable import Pages

@Suite("The page of the night")
struct NightPageTests {
  private func page(_ report: NightReport, _ supplies: PageSupplies = PageSupplies()) -> String {
    String(decoding: NightPage(report: report, supplies: supplies).document(), as: UTF8.self)
  }

  /// What stands between the first `<h1>` and its end.
  private func sentence(_ report: NightReport) throws -> String {
    String(try #require(page(report).firstMatch(of: /<h1>(.*?)<\/h1>/)).1)
  }

  private func report(_ captures: [CaptureRow], unrecognized: Int = 0) -> NightReport {
    var report = NightSamples.empty()
    report.captures = captures
    report.unrecognized = (0..<unrecognized).map { .init(path: "/srv/x\($0)", holds: ["a"]) }
    report.totals = NightTotals(counting: captures, unrecognized: unrecognized)
    return report
  }

  @Test("The first sentence counts what is ready and what needs attention")
  func sentences() throws {
    let samples = NightSamples.self
    #expect(
      try sentence(samples.ordinary())
        == "38 of 44 captures are ready. 4 need you, 1 is still arriving, 1 waits, 1 folder is not recognized."
    )
    #expect(
      try sentence(samples.allWell()) == "44 of 44 captures are ready. Nothing needs you.")
    #expect(
      try sentence(report([samples.failed(1), samples.capture(2)]))
        == "1 of 2 captures are ready. 1 needs you.")
    #expect(
      try sentence(report([samples.waiting(1, .arriving), samples.waiting(2, .arriving)]))
        == "0 of 2 captures are ready. Nothing needs you, 2 are still arriving.")
    #expect(
      try sentence(report([], unrecognized: 2))
        == "0 of 0 captures are ready. 2 folders are not recognized.")
    #expect(try sentence(report([])) == "0 of 0 captures are ready. Nothing was received.")
    var interrupted = samples.waiting(1, .queued)
    interrupted.outcome = .interrupted
    // A watcher has it in its queue.
    #expect(
      try sentence(report([interrupted]))
        == "0 of 1 captures are ready. Nothing needs you, 1 waits.")
  }

  @Test("The title states it in few words, the icon as a number")
  func title() throws {
    let ordinary = page(NightSamples.ordinary())
    #expect(ordinary.contains("<title>4 need you · scanmill night 20 Nov</title>"))
    #expect(
      page(report([NightSamples.failed(1)])).contains("<title>1 needs you · scanmill night 20 Nov"))
    #expect(
      page(NightSamples.allWell()).contains("<title>44 of 44 ready · scanmill night 20 Nov"))
    let icon = try #require(
      ordinary.firstMatch(of: /<link rel="icon" href="data:image\/svg\+xml;base64,([^"]+)">/))
    let drawing = String(
      decoding: try #require(Data(base64Encoded: String(icon.1))), as: UTF8.self)
    #expect(drawing.contains(">4</text>"))
  }

  @Test("The timeline counts what is done and needs you as done")
  func timeline() throws {
    var short = NightSamples.capture(1)
    short.reasons = [NeedReason(code: .shortfall, text: "imu: 3 % lost")]
    let fine = NightSamples.capture(2)
    var report = report([short, fine])
    report.timeline = [
      (fine.id, "made"), (short.id, "made"), (short.id, "up-to-date"), (fine.id, "interrupted"),
    ].map {
      .init(
        capture: $0, kind: $1, from: "2026-11-20T22:00:00.000Z", to: "2026-11-20T22:10:00.000Z")
    }
    let page = page(report)
    #expect(page.contains(": 3 done, 2 of them needing you, 1 interrupted or skipped."))
  }

  @Test(
    "The middle time of the timeline is that of a limit between two bins",
    arguments: [(1, [0, 1]), (2, [0, 0.5, 1]), (3, [0, 1.0 / 3, 1]), (48, [0, 0.5, 1])]
      as [(Int, [Double])])
  func ticks(bins: Int, places: [Double]) {
    #expect(NightPage.ticks(ofBins: bins).map(\.place) == places)
  }

  @Test(
    "Widths of bins have no empty parts",
    arguments: [
      (300, "5 min"), (3_600, "1 h"), (43_200, "12 h"), (86_400, "1 day"), (172_800, "2 days"),
    ])
  func widths(seconds: Double, words: String) {
    #expect(NightPage.binWidth(seconds) == words)
  }

  @Test(
    "Rates have one decimal or groups of three digits",
    arguments: [(7.08, "7.1"), (99.94, "99.9"), (99.96, "100"), (1_583.1, "1,583"), (0, "0.0")]
      as [(Double, String)])
  func rates(value: Double, words: String) {
    #expect(NightPage.rate(value) == words)
  }

  @Test("A twin says on its card and beside its id in the table whose twin it is")
  func twins() {
    var twin = NightSamples.quarantined(1)
    twin.waitingTwin = "scan-of-the-hall"
    let text = page(report([twin]))
    #expect(text.contains("Same id as scan-of-the-hall; this one is "))
    #expect(text.contains(">same id as scan-of-the-hall<"))
  }

  @Test("A message that two stages share stands once on a card, with both")
  func sharedMessage() throws {
    var capture = NightSamples.quarantined(1)
    var second = try #require(capture.failures.first)
    second.stage = "aligned"
    capture.failures.append(second)
    let text = page(report([capture]))
    #expect(text.contains("Stages depth and aligned: "))
    #expect(!text.contains("Stage aligned: "))
  }

  @Test("Runs that began in the same minute have seconds at the head of their columns")
  func equalHeads() {
    var capture = NightSamples.failed(1)
    capture.attempts = 2
    var report = report([capture])
    for (run, second) in [("r1", "05"), ("r2", "48")] {
      report.timeline.append(
        NightReport.Span(
          capture: capture.id, kind: "failed", from: "2026-11-20T22:00:\(second)Z",
          to: "2026-11-20T22:00:\(second)Z", run: run))
    }
    let text = page(report)
    #expect(text.contains(":05</th>") && text.contains(":48</th>"), "\(text)")
  }

  @Test("Every number of the totals is there, as the JSON has it")
  func totals() throws {
    let report = NightSamples.ordinary()
    let json = try JSONNumbers.numbers(report.totals)
    let page = page(report)
    let shown = page.matches(of: /<dd (?:hidden )?data-total="(\w+)">([^<]*)<\/dd>/).map {
      (String($0.1), Double($0.2))
    }
    #expect(Set(shown.map(\.0)).count == shown.count)
    #expect(Set(json.keys) == Set(shown.map(\.0)))
    for (key, value) in shown { #expect(value == json[key], "\(key)") }
    #expect(page.contains("<dl id=\"totals\""))
  }

  @Test("What needs attention follows the totals and precedes all lists of captures, or is absent")
  func attention() throws {
    let page = page(NightSamples.ordinary())
    let attention = try #require(page.range(of: "<section id=\"attention\""))
    for later in ["id=\"captures\"", "id=\"devices\"", "id=\"slowest\""] {
      let place = try #require(page.range(of: later), "\(later)")
      #expect(attention.lowerBound < place.lowerBound)
    }
    let totals = try #require(page.range(of: "id=\"totals\""))
    #expect(totals.lowerBound < attention.lowerBound)
    let ids = NightSamples.ordinary().captures.map(\.id)
    #expect(!ids.contains { page[..<attention.lowerBound].contains($0) })
    #expect(!self.page(NightSamples.allWell()).contains("id=\"attention\""))
    let arriving = [NightSamples.waiting(1, .arriving), NightSamples.capture(2)]
    #expect(!self.page(report(arriving)).contains("id=\"attention\""))
  }

  @Test("Captures for which the same helps share a card; others have their own")
  func groups() {
    let samples = NightSamples.self
    let groups = AttentionGroup.groups([
      samples.quarantined(3), samples.failed(4), samples.quarantined(8), samples.failed(5),
      samples.incomplete(6), samples.incomplete(11), samples.incomplete(7), samples.capture(9),
    ])
    #expect(groups.map(\.captures.count) == [2, 2, 3])
    #expect(
      groups.map(\.title) == ["files cannot be read", "stage color failed", "no video, no IMU"])
    var gone = samples.failed(1)
    gone.gone = true
    #expect(
      AttentionGroup.groups([gone, samples.failed(2)]).map(\.title).first?.contains("disappeared")
        == true)
    // Another remedy of the same stage.
    var other = samples.failed(7)
    other.reasons[0].remedy = "It ran out of memory: raise --memory."
    #expect(AttentionGroup.groups([samples.failed(2), other]).count == 2)
    // What was lost does not matter, only what helps.
    let short = ["imu", "depth", "color"].enumerated().map { number, stream in
      var capture = samples.capture(20 + number)
      capture.reasons = [NeedReason(code: .shortfall, text: "\(stream): 3 % lost", stream: stream)]
      return capture
    }
    #expect(AttentionGroup.groups(short).map(\.captures.count) == [3])
  }

  @Test(
    "A card speaks of damage only where a file is damaged",
    arguments: [
      (FailureDetail.Code?.none, "files cannot be read"), (.damaged, "files cannot be read"),
      (.unlikeTheApp, "files are not as the app writes them"),
      (.unsuitable, "a parameter does not fit"), (.strict, "warnings count as failures"),
    ])
  func damage(code: FailureDetail.Code?, title: String) throws {
    var capture = NightSamples.quarantined(3)
    capture.failures[0].detail = code.map { FailureDetail($0) }
    let group = try #require(AttentionGroup.groups([capture]).first)
    #expect(group.title == title)
    #expect(group.meaning.contains("damaged") == (code == nil), "\(group.meaning)")
  }

  @Test("A card says the cause, what to do, who, the log and the command")
  func card() throws {
    let report = NightSamples.ordinary()
    let page = page(report, try NightSamples.supplies(report))
    let start = try #require(page.range(of: "<article class=\"card\" data-state=\"quarantined\">"))
    let end = try #require(page[start.lowerBound...].range(of: "</article>"))
    let card = String(page[start.lowerBound..<end.upperBound])
    for text in [
      "files cannot be read</span> · 2 captures",
      "Copy the .depth file again; watch then takes it.",
      "Workshop", "ipad-03", "Daniela", "Last 15 lines of the log", "line 15 of",
      "<pre class=\"command\">scanmill run", "<img src=\"data:image/jpeg;base64,",
      "not tried again automatically", "<a href=\"./2026-11-20_vi-slam_0003/report.html\">",
    ] {
      #expect(card.contains(text), "\(text)")
    }
    #expect(page.contains("Waits for: ") && page.contains("IMG_1.heic, IMG_2.heic"))
  }

  @Test("Problems outside of captures are reported")
  func problems() throws {
    func titles(_ change: (inout NightReport) -> Void) -> [String] {
      var report = NightSamples.allWell(3)
      change(&report)
      return NightProblem.all(report).map { ($0.isUrgent ? "!" : "") + $0.title }
    }
    #expect(titles { _ in } == [])
    #expect(titles { $0.watch = nil } == [])
    // As after `--once`: told, no alarm.
    #expect(titles { $0.watch?.alive = false } == ["No watcher runs at this moment"])
    #expect(
      titles {
        $0.watch?.alive = false
        $0.watch?.lastLook = "2026-11-18T06:00:00Z"
      } == ["!The watcher is not running"])
    #expect(
      titles {
        $0.watch?.alive = false
        $0.totals.running = 1
      } == ["!The watcher is not running"])
    #expect(
      titles { $0.watch?.lastLook = "2026-11-21T01:00:00Z" } == ["!The watcher does not respond"])
    #expect(
      titles { $0.watch?.trouble = "/srv/staging is an empty mount point" }
        == ["!STAGING cannot be read"])
    #expect(
      titles {
        $0.watch?.holds = "outside 22:00-06:00"
        $0.watch?.holdsFor = "window"
      } == ["Nothing is started outside the given hours"])
    #expect(
      titles {
        $0.watch?.holds = "read-only"
        $0.watch?.holdsFor = "output"
      } == ["!Nothing new is started"])
    #expect(
      titles {
        $0.watch?.alive = false
        $0.watch?.killed = true
      } == ["!The watcher is not running"])
    #expect(titles { $0.free.bytes = 1000 } == ["!The disk of the output is full"])
    #expect(
      titles { $0.free.bytes = 50_000_000_000 } == ["The disk of the output is nearly full"])
    #expect(NightProblem.all(NightSamples.empty()).map(\.title) == ["Nothing was ever received"])
    var quiet = NightSamples.empty()
    quiet.nights = NightSamples.allWell(1).nights
    #expect(NightProblem.all(quiet).map(\.title) == ["Nothing was received this night"])
    var dead = NightSamples.allWell(3)
    dead.watch?.lastLook = "2026-11-21T01:00:00Z"
    #expect(page(dead).contains("<section id=\"attention\""))
    #expect(page(dead).contains("<title>The watcher does not respond · "))
  }

  @Test("The table has a row per capture in the order of the JSON, with keys to sort by")
  func table() throws {
    let report = NightSamples.ordinary()
    let page = page(report)
    let rows = page.matches(of: /<tr data-id="([^"]*)" data-state="([^"]*)"/)
    #expect(rows.map { String($0.1) } == report.captures.map(\.id))
    #expect(rows.map { String($0.2) } == report.captures.map(\.state.rawValue))
    #expect(page.contains("<table id=\"captures\""))
    #expect(page.contains("<th scope=\"col\"><button type=\"button\">State</button></th>"))
    #expect(page.contains("<td data-value=\"1011\">1,011</td>"))
    for capture in report.captures where capture.page != nil {
      #expect(page.contains("<a href=\"./\(capture.id)/report.html\">"))
    }
  }

  @Test("Five thousand captures are less than 3 MB with thumbnails, and fewer get more bytes each")
  func large() throws {
    let report = NightSamples.large()
    let bytes = try NightPage(
      report: report, supplies: NightSamples.supplies(report, pictures: 2_000)
    ).document()
    #expect(bytes.count < 3_000_000)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.matches(of: /<tr data-id=/).count == 5_000)
    let pictures = text.matches(of: /<img src="data:image\/jpeg;base64,([^"]*)"/)
    #expect(pictures.count > 100)
    #expect(pictures.reduce(0) { $0 + $1.1.utf8.count } <= 1_000_000)
    // Even when all fail for reasons of their own.
    var worst = report
    worst.captures = (0..<5_000).map { number in
      var capture = NightSamples.failed(number)
      capture.failures[0].message =
        "reason \(String(number, radix: 26).map { "\($0)\($0)" }.joined())"
      return capture
    }
    worst.totals = NightTotals(counting: worst.captures, unrecognized: 0)
    #expect(
      try NightPage(report: worst, supplies: NightSamples.supplies(worst)).document().count
        < 3_000_000)
  }

  @Test("No name becomes markup, an address or a change of the writing direction")
  func hostile() throws {
    let report = NightSamples.hostile()
    let page = try page(report, NightSamples.supplies(report))
    #expect(page.matches(of: /<script>/).count == 1)
    #expect(
      !page.replacing(/"[^"]*"/, with: "").contains(/<[^>]*\son\w+=/) && !page.contains("<b>")
        && !page.contains("<svg onload"))
    for match in page.matches(of: /(href|src)="([^"]*)"/) {
      let value = match.2
      #expect(
        value.hasPrefix("./") || value.hasPrefix("#") || value.hasPrefix("data:image/"), "\(value)")
    }
    #expect(
      !page.unicodeScalars.contains { $0.value == 0x202E || $0.value == 0x1B || $0.value == 0 })
  }

  @Test("Times are local, whatever cannot be read stays as it is")
  func times() {
    #expect(LocalTime("2026-11-20T22:05:09Z")?.seconds == 1_795_212_309)
    #expect(LocalTime("2026-11-20T22:05:09.250Z")?.seconds == 1_795_212_309.25)
    for text in ["", "yesterday", "2026-11-20", "2026-11-20T22:05:09", "9999999-11-20T22:05:09Z"] {
      #expect(LocalTime(text) == nil)
      #expect(LocalTime.text(text) == text)
    }
    #expect(CalendarDay("2026-11-01")?.text == "1 Nov")
    #expect(CalendarDay("2026-11-01").map { CalendarDay(number: $0.number - 1).text } == "31 Oct")
    #expect(CalendarDay("11-01") == nil)
  }
}

/// Numbers of a value by the keys of its JSON; what is no number is left out.
enum JSONNumbers {
  static func numbers(_ value: some Encodable) throws -> [String: Double] {
    let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
    return try #require(object as? [String: Any]).compactMapValues { $0 as? Double }
  }
}

@Suite(
  "The page of the night in a browser", .runsPrograms,
  .enabled(if: Browser.isPresent, "\(Browser.absence)"))
struct NightBrowserTests {
  @Test(
    "Phone and desktop, light and dark, print, names, contrast, targets, sorting, hostile names")
  func pages() throws {
    let folder = try TemporaryFolder()
    var files: [String] = []
    for (name, report) in [
      ("night", NightSamples.ordinary()), ("well", NightSamples.allWell(2)),
      ("empty", NightSamples.empty()), ("hostile", NightSamples.hostile()),
      ("large", NightSamples.large()),
    ] {
      let file = folder.path.appending("\(name).html").string
      let page = try NightPage(report: report, supplies: NightSamples.supplies(report)).document()
      try Data(page).write(to: URL(filePath: file))
      files.append(file)
      Browser.keep(page, as: "\(name).html")
    }
    let result = try Browser.check(files)
    #expect(result.status == 0, "\(result.output)")
  }
}
