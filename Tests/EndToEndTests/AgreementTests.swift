import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// What page, `status`, report, rows and metrics say of one moment. `NightTests` compares them all through a night, while
/// captures arrive, fail and go and watchers are killed and started.
@Suite("Page, status, report, CSV and metrics agree at every moment", .runsPrograms)
struct AgreementTests {
  private let scene: WatchScene
  private let agreement: Agreement

  init() throws {
    scene = try WatchScene(
      """
        judge:
          uses: command
          with: {command: [sh, -c, "case '{id}' in *fail*) exit 3;; esac; echo x > {output}/x"]}
        tables: {uses: export-tables}
      """)
    agreement = try Agreement(
      output: scene.output, metrics: scene.folder.path.appending("scanmill.prom"))
  }

  private func start(_ more: String...) throws -> Running {
    try Program.start(
      scene.words(
        ["--metrics", agreement.metrics.string, "--page-every", "1s", "--attempts", "2", "-j", "2"]
          + more),
      environment: agreement.environment)
  }

  /// Captures of lines of a log of level warning or error.
  private static func warned(_ log: String) -> (captures: Set<String>, unrecognized: Set<String>) {
    var captures: Set<String> = []
    var unrecognized: Set<String> = []
    for line in log.lines {
      guard line.contains(" warning: ") || line.contains(" error: "),
        let name = line.firstMatch(of: /capture=(\S+)/)?.1
      else { continue }
      if line.contains("not recognized") {
        unrecognized.insert(String(name))
      } else {
        captures.insert(String(name))
      }
    }
    return (captures, unrecognized)
  }

  @Test("A log of one night, read from warnings on, names what the page says needs somebody")
  func log() throws {
    try scene.put("good")
    try scene.put("fail-1")
    try FileSystem.makeFolder(scene.staging.appending("notes"))
    try OutputFile.write(Array("x".utf8), to: scene.staging.appending("notes").appending("a.txt"))
    for name in ["lacking", "stuck"] {
      let made = try scene.make(name)
      let camera = made.appending("\(name).camera").string
      if name == "lacking" {
        try FileManager.default.removeItem(atPath: camera)
      } else {
        try FilePath(camera).move(to: FilePath(camera + ".part"))
      }
      try made.move(to: scene.staging.appending(name))
    }
    let watcher = try start("--upload-timeout", "1s")
    try scene.wait("everything to stand still") {
      scene.waiting == ["lacking": "incomplete", "stuck": "stalled-upload"]
        && scene.isDone("good", "tables")
        && scene.triage("fail-1")?["isQuarantined"] as? Bool == true
    }
    try agreement.compare("when everything stands still")
    let ended = try watcher.stop()
    #expect(ended.status == 143)
    let told = Self.warned(ended.errors)
    #expect(told.captures == ["fail-1", "lacking", "stuck"], "\(ended.errors)")
    #expect(told.unrecognized == ["notes"])
    let page = try scene.output.appending("index.html").text()
    let start = try #require(page.range(of: "<section id=\"attention\""))
    let end = try #require(page.range(of: "</section>", range: start.upperBound..<page.endIndex))
    let section = page[start.lowerBound..<end.lowerBound]
    for name in told.captures.union(told.unrecognized) {
      #expect(section.contains(name), "\(name)")
    }
    #expect(!section.contains("good"))
    #expect(page.contains("3 need you"))
  }
}

/// Whether page, `status`, report, rows and metrics of a watcher say the same, at one moment or all the time.
struct Agreement: Sendable {
  private static let states = [
    "done", "failed", "quarantined", "incomplete", "arriving", "queued", "running",
    "stalled-upload",
  ]

  struct Moment: Equatable, Sendable {
    var status: [String: Int] = [:]
    var report: [String: Int] = [:]
    var rows: [String: Int] = [:]
    var metrics: [String: Int] = [:]
    var page: [String: Int] = [:]
    /// Frames that the counters tell.
    var frames = 0
    /// Whether a watcher is there to write metrics.
    var isWatched = false

    var agrees: Bool { status == report && status == rows && status == metrics && status == page }
  }

  let output: FilePath
  let metrics: FilePath
  let environment: [String: String]

  init(output: FilePath, metrics: FilePath) throws {
    (self.output, self.metrics) = (output, metrics)
    environment = try Self.evening()
  }

  /// An environment with a time zone where it is evening: the night of a report, which begins at noon, began six hours
  /// ago.
  static func evening() throws -> [String: String] {
    var environment = ProcessInfo.processInfo.environment
    let hour = Calendar(identifier: .gregorian).dateComponents(
      in: try #require(TimeZone(identifier: "UTC")), from: Date()
    ).hour
    let offset = (18 - (hour ?? 0) + 36) % 24 - 12
    environment["TZ"] = "<NIT>\(-offset)"
    return environment
  }

  private func counts(_ totals: [String: Any]) -> [String: Int] {
    var counts = totals["states"] as? [String: Int] ?? [:]
    for key in ["unrecognized", "needsPerson"] { counts[key] = totals[key] as? Int ?? -1 }
    return counts
  }

  private func json(_ words: [String]) throws -> [String: Any] {
    try Program.run(words, environment: environment).json()
  }

  func moment() throws -> Moment {
    let output = output.string
    var moment = Moment()
    let status = try json(["status", output, "--json"])
    moment.status = counts(status["totals"] as? [String: Any] ?? [:])
    moment.isWatched = status["watch", "alive"] as? Bool == true
    let report = try json(["report", output, "--format", "json"])
    moment.report = counts(report["totals"] as? [String: Any] ?? [:])
    for state in Self.states + ["needsPerson"] { moment.rows[state] = 0 }
    let csv = try Program.run("report \(output) --format csv", environment: environment)
      .output
    for line in csv.lines.dropFirst() {
      let cells = line.split(separator: ",", omittingEmptySubsequences: false)
      if cells.count > 9, moment.rows[String(cells[1])] != nil {
        moment.rows[String(cells[1]), default: 0] += 1
        if cells[2] == "true" { moment.rows["needsPerson", default: 0] += 1 }
      }
    }
    moment.rows["unrecognized"] = moment.report["unrecognized"]
    let text = (try? metrics.text()) ?? ""
    for state in Self.states {
      moment.metrics[state] = Self.value("scanmill_captures{state=\"\(state)\"}", text)
    }
    moment.metrics["needsPerson"] = Self.value("scanmill_needs_person", text)
    moment.metrics["unrecognized"] = Self.value("scanmill_unrecognized", text)
    moment.frames = Self.value("scanmill_frames_total", text) ?? -1
    // A page of this very moment.
    _ = try Program.run("report \(output)", environment: environment)
    let html =
      (try? self.output.appending("index.html").text()) ?? ""
    var shown: [String: Any] = [:]
    for match in html.matches(of: /data-total="(\w+)">(\d+)</) {
      shown[String(match.1)] = Int(match.2)
    }
    var states = Dictionary(uniqueKeysWithValues: Self.states.map { ($0, 0) })
    for row in html.matches(of: /<tr data-id="[^"]*" data-state="([a-z-]+)"/) {
      states[String(row.1), default: 0] += 1
    }
    shown["states"] = states
    moment.page = counts(shown)
    // Not shown where it is 0.
    if shown["unrecognized"] == nil { moment.page["unrecognized"] = 0 }
    return moment
  }

  private static func value(_ name: String, _ text: String) -> Int? {
    text.lines.first { $0.hasPrefix(name + " ") }
      .flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
  }

  /// Looks until two looks with nothing between them are the same: then all must agree.
  func compare(_ when: String) throws {
    var last = try moment()
    try Waiting.until("agreement \(when)") {
      let now = try moment()
      defer { last = now }
      if now == last, now.agrees { return true }
      // The pace of the looks, each of which starts four programs.
      usleep(700_000)
      return false
    } note: {
      "\(last)"
    }
  }

  /// Looks every few seconds, beside a test. A look reads one view after the other, and between them things go on; so
  /// what does not agree counts when it is the same for three looks: no view is later than that.
  final class Witness: Sendable {
    private let state = Mutex((looks: 0, problems: [String](), isOver: false, hasEnded: false))

    init(_ agreement: Agreement) {
      Thread.detachNewThread { [self] in
        var before: [Moment] = []
        while !state.withLock({ $0.isOver }) {
          if let now = try? agreement.moment() {
            let isStill = before.count == 2 && before.allSatisfy { $0 == now }
            before = before.suffix(1) + [now]
            state.withLock { state in
              state.looks += 1
              if isStill, now.isWatched, !now.agrees { state.problems.append("\(now)") }
            }
          }
          // The pace of its looks; nothing is waited for.
          usleep(4_000_000)
        }
        state.withLock { $0.hasEnded = true }
      }
    }

    /// How often it has looked, and what did not agree.
    func finish() -> (looks: Int, problems: [String]) {
      state.withLock { $0.isOver = true }
      Waiting.until("the last look") { state.withLock { $0.hasEnded } }
      return state.withLock { ($0.looks, $0.problems) }
    }
  }
}
