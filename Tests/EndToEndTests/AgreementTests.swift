import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
