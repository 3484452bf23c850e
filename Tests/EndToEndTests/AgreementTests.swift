import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// What page, `status`, report, rows and metrics say of one moment, compared again and again while captures arrive, are
/// processed, fail and go, and while watchers are killed, ended and started.
@Suite("Page, status, report, CSV and metrics agree at every moment", .runsPrograms)
struct AgreementTests {
  private let scene: WatchScene
  private let agreement: Agreement

  init() throws {
    scene = try WatchScene(
      """
        slow:
          uses: command
          with: {command: [sh, -c, "case '{id}' in *fail*) exit 3;; esac; sleep 0.3; echo x > {output}/x"]}
        tables: {uses: export-tables}
      """)
    agreement = try Agreement(
      output: scene.output, metrics: scene.folder.path.appending("scanmill.prom"))
  }

  private func compare(_ when: String) throws { try agreement.compare(when) }

  private func moment() throws -> Agreement.Moment { try agreement.moment() }

  private func start(_ more: String...) throws -> Running {
    try Program.start(
      scene.words(
        ["--metrics", agreement.metrics.string, "--page-every", "1s", "--attempts", "2", "-j", "2"]
          + more),
      environment: agreement.environment)
  }

  @Test("Over a night with a kill, an end in good order, failures, and captures that go")
  func night() throws {
    var watcher = try start()
    for number in 0..<3 { try scene.put("one-\(number)") }
    try scene.put("fail-1")
    try FileSystem.makeFolder(scene.staging.appending("notes"))
    try OutputFile.write(Array("x".utf8), to: scene.staging.appending("notes").appending("a.txt"))
    let lacking = try scene.make("lacking")
    try FileSystem.remove(lacking.appending("lacking.camera"))
    try lacking.move(to: scene.staging.appending("lacking"))
    try compare("while the first are processed")
    try scene.wait("the first") {
      scene.isDone("one-0", "tables") && scene.isDone("one-1", "tables")
    }
    // What is done is taken away, and must still be counted.
    try FileSystem.remove(scene.staging.appending("one-0"))
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
    try FileSystem.remove(scene.staging.appending("notes"))
    try FileSystem.remove(scene.staging.appending("one-1"))
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
    try compare("when everything stands still")
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

  @Test("An upload that stands still is stalled, needs somebody, and goes on when more comes")
  func stalled() throws {
    let made = try scene.make("stuck")
    let video = made.appending("stuck.h264").string
    try FilePath(video).move(to: FilePath(video + ".part"))
    let place = scene.staging.appending("stuck")
    try made.move(to: place)
    let watcher = try start("--upload-timeout", "1s", "--patience", "2s")
    try scene.wait("the stall") { scene.waiting == ["stuck": "stalled-upload"] }
    try compare("while it is stalled")
    let status = try Program.run("status \(scene.output) --exit-code")
    #expect(status.status == 1)
    #expect(status.output.contains("stuck.h264.part"), "\(status.output)")
    let row = try #require(
      (try Program.run("status \(scene.output) --json").json()["captures"]
        as? [[String: Any]])?.first)
    #expect(row["state"] as? String == "stalled-upload")
    let upload = try row.object("upload")
    #expect(upload["temporaryFile"] as? String == "stuck.h264.part")
    #expect((upload["bytes"] as? Int ?? 0) > 0)
    // Neither patience nor another watcher makes it a capture that is whole.
    #expect(!scene.isDone("stuck", "tables"))
    try place.appending("stuck.h264.part").move(to: place.appending("stuck.h264"))
    try scene.wait("the capture") { scene.isDone("stuck", "tables") && scene.waiting == [:] }
    try compare("when it is whole")
    #expect(try watcher.stop().status == 143)
  }
}
