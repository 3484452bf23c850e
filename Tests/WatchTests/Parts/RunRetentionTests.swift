import Foundation
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Watch

@Suite("What is kept of runs")
struct RunRetentionTests {
  private let folder: TemporaryFolder
  private var root: FilePath { folder.path }
  private static let day: Int64 = 86_400_000_000_000

  init() throws { folder = try TemporaryFolder() }

  private func write(_ path: String, _ text: String, daysOld: Double = 200) throws {
    let file = root.appending(path)
    try FileSystem.makeFolder(file.removingLastComponent())
    try file.write(text)
    try age(path, daysOld)
  }

  private func age(_ path: String, _ days: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -days * 86400)],
      ofItemAtPath: root.appending(path).string)
  }

  /// The id of a run that began so many days ago, by a process that is not here.
  private func id(_ days: Double, process: Int = 999_999_999, home: String? = "00000000") -> String
  {
    let style = Date.ISO8601FormatStyle(
      dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted)
    let time = Date(timeIntervalSinceNow: -days * 86400).formatted(style).prefix(15)
    return "\(time)-\(process)" + (home.map { "-\($0)-0a1b2c" } ?? "")
  }

  @discardableResult
  private func run(
    _ days: Double, _ captures: [String: String], isFinished: Bool = true, id given: String? = nil
  ) throws -> String {
    let id = given ?? id(days)
    let list = captures.sorted { $0.key < $1.key }
    var report = RunReport(run: id)
    report.captures = try (isFinished ? list : []).map { capture, outcome in
      CaptureReport(
        id: capture, path: "/in/\(capture)", family: "scannet",
        outcome: try #require(RunOutcome(rawValue: outcome)))
    }
    let record = RunRecord(
      report: report, context: nil, started: "x", finished: isFinished ? "x" : nil, seconds: 0)
    try write(
      "runs/\(id)/run.json", String(decoding: JSONText.pretty(record), as: UTF8.self),
      daysOld: days)
    try write("runs/\(id)/pipeline.yaml", "schema: 1", daysOld: days)
    var events = [RunEvent(kind: .runStarted, time: "x")]
    for (capture, outcome) in list {
      try write("runs/\(id)/logs/\(capture)/color.log", "hello", daysOld: days)
      events.append(RunEvent(kind: .captureStarted, time: "x", capture: capture))
      var end = RunEvent(kind: .captureFinished, time: "x", capture: capture)
      end.message = outcome
      events.append(end)
    }
    let lines = try events.map {
      String(decoding: try JSONText.canonical($0), as: UTF8.self) + "\n"
    }
    try write("runs/\(id)/events.jsonl", lines.joined(), daysOld: days)
    try age("runs/\(id)/logs", days)
    return id
  }

  /// A capture that has results here.
  private func capture(_ id: String) throws {
    try write("\(id)/.scanmill/lock", "")
    #expect(try OutputCatalog(root)?.layouts.contains { $0.name == id } == true)
  }

  private func found(_ days: Int64 = 90) throws -> [String] {
    try RunRetention.find(root: root, olderThanNanoseconds: days * Self.day)
      .compactMap { $0.path.lastComponent?.string }
  }

  private func files() throws -> Set<String> {
    let all = try root.namesBelow()
    return Set(all)
  }

  @Test("Events and logs of old runs go, what became of the captures stays")
  func old() throws {
    try capture("a")
    let ids = try [200, 91, 89, 1].map { try run($0, ["a": "made"]) }
    #expect(try found() == [ids[0], ids[1]])
    let before = try files()
    let removed = try RunRetention.perform(root: root, olderThanNanoseconds: 90 * Self.day)
    #expect(removed.map(\.kind) == [.run, .run])
    #expect(removed.map(\.size.files) == [2, 2])
    let gone = Set(
      ids[..<2].flatMap { id in
        ["events.jsonl", "logs", "logs/a", "logs/a/color.log"].map { "runs/\(id)/\($0)" }
      })
    #expect(try before.subtracting(files()) == gone)
    #expect(try found() == [])
    #expect(try RunRetention.perform(root: root, olderThanNanoseconds: 90 * Self.day) == [])
  }

  @Test(
    "The last run of a capture that is not done is kept, earlier ones are not",
    arguments: ["failed", "blocked", "interrupted"])
  func notDone(outcome: String) throws {
    try capture("a")
    try capture("b")
    let first = try run(300, ["a": outcome, "b": "made"])
    try run(200, ["a": outcome])
    #expect(try found() == [first])
    // Done since: nothing needs it any more.
    try run(1, ["a": "made"])
    #expect(try found().count == 2)
  }

  @Test("A later run that only skipped the capture is not its last")
  func skipped() throws {
    try capture("a")
    try run(300, ["a": "failed"])
    let later = try run(200, ["a": "skipped"])
    #expect(try found() == [later])
  }

  @Test("A capture whose folder is gone keeps nothing")
  func goneCapture() throws {
    let id = try run(200, ["a": "failed"])
    #expect(try found() == [id])
  }

  @Test("What a triage record names is kept, and the last run of a capture with a failed stage")
  func referred() throws {
    try capture("a")
    try capture("b")
    let named = try run(300, ["a": "failed"])
    let last = try run(250, ["a": "made", "b": "made"])
    let other = try run(240, ["c": "made"])
    var record = Failure(message: "m", cause: .program, attempts: 3, time: "t", run: named)
    record.key = "k"
    try write(
      "a/.scanmill/triage.json", String(decoding: try JSONEncoder().encode(record), as: UTF8.self))
    let kept = try found()
    #expect(kept == [other])
    try FileSystem.remove(root.appending("a/.scanmill/triage.json"))
    #expect(try found() == [named, last, other])
    try write(
      "b/.failed/color/failure.json", #"{"schema":1,"message":"m","time":"t","cause":"input"}"#)
    #expect(try found() == [named, other])
  }

  @Test("A run that goes on is kept, however old it is")
  func alive() throws {
    let mine = id(200, process: Int(getpid()), home: ProcessHome.current)
    try run(200, ["x": "made"], isFinished: false, id: mine)
    #expect(try found() == [])
    // The process has ended that run and is at another one.
    try run(200, ["x": "made"], id: mine)
    #expect(try found() == [mine])
    // A number that belongs to nobody here.
    let dead = id(199, process: 2_000_000_000, home: ProcessHome.current)
    try run(199, ["x": "made"], isFinished: false, id: dead)
    #expect(try found() == [mine, dead])
  }

  @Test("A run of another machine that has not ended counts as ended after a day without a word")
  func elsewhere() throws {
    let id = try run(2, ["x": "made"], isFinished: false)
    #expect(try found(1) == [id])
    try age("runs/\(id)/events.jsonl", 0.5)
    #expect(try RunRetention.find(root: root, olderThanNanoseconds: Self.day / 24) == [])
  }

  @Test("A run that was killed before it could say so keeps the logs of what it had begun")
  func killed() throws {
    try capture("a")
    try capture("b")
    let killed = try run(200, ["a": "interrupted", "b": "made"], isFinished: false)
    #expect(try found() == [])
    try run(1, ["a": "made"])
    #expect(try found() == [killed])
  }

  @Test("A damaged run.json is no reason to remove what it may have told")
  func damaged() throws {
    try capture("a")
    let id = try run(200, ["a": "failed"])
    try write("runs/\(id)/run.json", "{", daysOld: 200)
    #expect(try found() == [])
  }

  @Test("Written to since, or of the future: not old")
  func young() throws {
    let id = try run(200, ["a": "made"])
    try age("runs/\(id)/events.jsonl", 3)
    #expect(try found() == [])
    try age("runs/\(id)/events.jsonl", 200)
    #expect(try found() == [id])
    try run(-10, ["a": "made"])
    #expect(try found(0) == [id])
    #expect(try RunRetention.find(root: root, olderThanNanoseconds: Int64.max) == [])
  }

  @Test("What is not ours stays: other names, links, other files")
  func foreign() throws {
    let id = try run(200, ["a": "made"])
    let outside = try TemporaryFolder()
    try outside.path.appending("x.log").write("mine")
    try write("runs/notes/events.jsonl", "mine")
    try write("runs/\(id)/logs/a/notes.txt", "mine")
    try write("runs/\(id)/logs/summary.log", "mine")
    let manager = FileManager.default
    let other = self.id(201)
    try manager.createSymbolicLink(
      atPath: root.appending("runs").appending(other).string,
      withDestinationPath: root.appending("runs").appending(id).string)
    try manager.createSymbolicLink(
      atPath: root.appending("runs/\(id)/logs/b").string, withDestinationPath: outside.path.string)
    try manager.createSymbolicLink(
      atPath: root.appending("runs/\(id)/logs/a/link.log").string,
      withDestinationPath: outside.path.appending("x.log").string)
    try age("runs/\(id)/logs", 200)
    let before = try files()
    #expect(try found() == [id])
    try RunRetention.perform(root: root, olderThanNanoseconds: 90 * Self.day)
    #expect(
      try before.subtracting(files())
        == ["runs/\(id)/events.jsonl", "runs/\(id)/logs/a/color.log"])
    #expect(try manager.contentsOfDirectory(atPath: outside.path.string) == ["x.log"])
    // No file of ours is left in it.
    #expect(try found() == [])
  }

  @Test("Events that are a link are left, and so is a folder of runs that is one")
  func links() throws {
    let id = try run(200, ["a": "made"])
    let events = root.appending("runs/\(id)/events.jsonl").string
    try FileSystem.remove(FilePath(events))
    try FileManager.default.createSymbolicLink(atPath: events, withDestinationPath: "/etc/passwd")
    #expect(
      try RunRetention.perform(
        root: root, olderThanNanoseconds: 90 * Self.day
      ).map(\.size.files) == [1])
    #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: events)) != nil)
    let other = try TemporaryFolder()
    try other.path.appending("runs").link(to: root.appending("runs").string)
    #expect(throws: FileError.self) {
      try RunRetention.perform(root: other.path, olderThanNanoseconds: 0)
    }
  }

  @Test("A run without run.json that has nothing left goes altogether; no runs are none")
  func empty() throws {
    #expect(try found() == [])
    let id = try run(200, ["x": "made"])
    for name in ["run.json", "pipeline.yaml"] {
      try FileSystem.remove(root.appending("runs/\(id)").appending(name))
    }
    #expect(try RunRetention.perform(root: root, olderThanNanoseconds: 90 * Self.day).count == 1)
    #expect(!FileSystem.exists(root.appending("runs/\(id)")))
  }
}
