import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

/// What page, `status`, report, rows and metrics say of one moment, compared again and again while captures arrive, are
/// processed, fail and go, and while watchers are killed, ended and started.
@Suite("Page, status, report, CSV and metrics agree at every moment")
struct AgreementTests {
  private static let states = [
    "done": "done", "doneWithWarnings": "done-with-warnings", "failed": "failed",
    "quarantined": "quarantined", "incomplete": "incomplete", "arriving": "arriving",
    "queued": "queued", "running": "running",
  ]

  private struct Moment: Equatable {
    var status: [String: Int] = [:]
    var report: [String: Int] = [:]
    var rows: [String: Int] = [:]
    var metrics: [String: Int] = [:]
    var page: [String: Int] = [:]
    /// Of the counters.
    var frames = 0

    var agrees: Bool { status == report && status == rows && status == metrics && status == page }
  }

  private let scene: WatchScene
  private let metrics: FilePath
  private let environment: [String: String]

  init() throws {
    scene = try WatchScene(
      """
        slow:
          uses: command
          with: {command: [sh, -c, "case '{id}' in *fail*) exit 3;; esac; sleep 0.3; echo x > {output}/x"]}
        tables: {uses: export-tables}
      """)
    metrics = scene.folder.path.appending("scanmill.prom")
    // The night of a report begins at noon: six hours ago.
    var environment = ProcessInfo.processInfo.environment
    let hour = Calendar(identifier: .gregorian).dateComponents(
      in: try #require(TimeZone(identifier: "UTC")), from: Date()
    ).hour
    let offset = (18 - (hour ?? 0) + 36) % 24 - 12
    environment["TZ"] = "<N>\(-offset)"
    self.environment = environment
  }

  private func counts(_ totals: [String: Any]) -> [String: Int] {
    var counts: [String: Int] = [:]
    for (key, state) in Self.states { counts[state] = totals[key] as? Int ?? -1 }
    for key in ["skipped", "interrupted"] {
      counts["queued", default: 0] += totals[key] as? Int ?? 0
    }
    counts["unrecognized"] = totals["unrecognized"] as? Int ?? -1
    return counts
  }

  private func json(_ words: [String]) throws -> [String: Any] {
    try Program.run(words, environment: environment).json()
  }

  private func moment() throws -> Moment {
    let output = scene.output.string
    var moment = Moment()
    moment.status = counts(
      try json(["status", output, "--json"])["totals"] as? [String: Any] ?? [:])
    let report = try json(["report", output, "--format", "json"])
    moment.report = counts(report["totals"] as? [String: Any] ?? [:])
    for state in Self.states.values { moment.rows[state] = 0 }
    let csv = try Program.run(["report", output, "--format", "csv"], environment: environment)
      .output
    for line in csv.split(separator: "\n").dropFirst() {
      let cells = line.split(separator: ",", omittingEmptySubsequences: false)
      if cells.count > 9, moment.rows[String(cells[1])] != nil {
        moment.rows[String(cells[1]), default: 0] += 1
      }
    }
    moment.rows["unrecognized"] = moment.report["unrecognized"]
    let text = (try? String(contentsOfFile: metrics.string, encoding: .utf8)) ?? ""
    for state in Self.states.values {
      moment.metrics[state] = Self.value("scanmill_captures{state=\"\(state)\"}", text)
    }
    moment.metrics["unrecognized"] = Self.value("scanmill_unrecognized", text)
    moment.frames = Self.value("scanmill_frames_total", text) ?? -1
    // A page of this very moment.
    _ = try Program.run(["report", output], environment: environment)
    let html =
      (try? String(
        contentsOfFile: scene.output.appending("index.html").string, encoding: .utf8)) ?? ""
    var shown: [String: Any] = [:]
    for match in html.matches(of: /data-total="(\w+)">(\d+)</) {
      shown[String(match.1)] = Int(match.2)
    }
    moment.page = counts(shown)
    return moment
  }

  private static func value(_ name: String, _ text: String) -> Int? {
    text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
      .flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
  }

  /// Looks until two looks with nothing between them are the same: then all must agree.
  private func compare(_ when: String) throws {
    var last = try moment()
    try scene.wait("agreement \(when): \(last)") {
      let now = try moment()
      defer { last = now }
      return now == last && now.agrees
    }
  }

  private func start() throws -> Running {
    try Program.start(
      scene.words(["--metrics", metrics.string, "--page-every", "1s", "--attempts", "2", "-j", "2"]
      ),
      environment: environment)
  }

  @Test("Over a night with a kill, an end in good order, failures, and captures that go")
  func night() throws {
    var watcher = try start()
    for number in 0..<3 { try scene.put("one-\(number)") }
    try scene.put("fail-1")
    try FileSystem.makeFolder(scene.staging.appending("notes"))
    try OutputFile.write(Array("x".utf8), to: scene.staging.appending("notes").appending("a.txt"))
    let lacking = try scene.make("lacking")
    try FileManager.default.removeItem(atPath: lacking.appending("lacking.camera").string)
    try FileManager.default.moveItem(
      atPath: lacking.string, toPath: scene.staging.appending("lacking").string)
    try compare("while the first are processed")
    try scene.wait("the first") {
      scene.isDone("one-0", "tables") && scene.isDone("one-1", "tables")
    }
    // What is done is taken away, and must still be counted.
    try FileManager.default.removeItem(atPath: scene.staging.appending("one-0").string)
    try compare("after one is gone")
    let frames = try moment().frames
    watcher.signal(SIGKILL)
    _ = try watcher.finish()
    try scene.put("two-0")
    watcher = try start()
    try compare("after the kill")
    try scene.wait("the next") { scene.isDone("two-0", "tables") }
    try compare("after the next one")
    #expect(try moment().frames >= frames)
    let before = try moment()
    #expect(try watcher.stop().status == 143)
    // Folders that are not recognized at first become captures, or go.
    try FileManager.default.removeItem(atPath: scene.staging.appending("notes").string)
    try FileManager.default.removeItem(atPath: scene.staging.appending("one-1").string)
    watcher = try start()
    try scene.wait("a look without the notes") {
      (scene.record["unrecognized"] as? [Any])?.isEmpty == true && scene.record["ended"] == nil
    }
    try compare("after the restart")
    let after = try moment()
    #expect(after.frames >= before.frames)
    #expect(after.status["done"] == before.status["done"])
    #expect(after.status["unrecognized"] == 0)
    #expect(try watcher.stop().status == 143)
  }
}
