import Foundation
@testable import Core
import Synchronization
import SystemPackage
import TestSupport
import Testing

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
    moment.isWatched = (status["watch"] as? [String: Any])?["alive"] as? Bool == true
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
