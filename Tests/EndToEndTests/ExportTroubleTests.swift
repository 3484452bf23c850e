import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Exports in trouble", .runsPrograms)
struct ExportTroubleTests {
  @Test("Killed at any moment, an export is whole or absent, and the next run finishes the work")
  func killed() throws {
    let scene = try ExportScene("arkit-scanner", frames: 30)
    try scene.run("--until tables -q").succeeds()
    let words = [
      "run", scene.input.string, "--output", scene.output.string, "--pipeline", "exports",
    ]
    var kills = 0
    for number in Rounds.every(2, of: Array(0..<6)) {
      // As soon as it has made so many files more.
      let before = fileCount(scene)
      let running = try Program.start(words)
      if try running.kill(when: { fileCount(scene) > before + 8 * number }) { kills += 1 }
      // Workers end with their parent, not before it.
      try waitForLock(scene)
      try ExportInvariants(capture: scene.capture).check()
      for stage in try ExportInvariants(capture: scene.capture).stages {
        #expect(
          FileSystem.exists(scene.capture.appending(stage).appending("artifact.json")), "\(stage)")
      }
    }
    #expect(kills > 0)
    try scene.run("--pipeline exports").succeeds()
    try scene.run("--pipeline exports -q", to: "whole").succeeds()
    let whole = scene.folder.path.appending("whole").appending(scene.id)
    for stage in try ExportInvariants(capture: whole).stages {
      let (one, other) = (try scene.files(of: stage), try scene.files(of: stage, in: "whole"))
      let differing = Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }
      #expect(differing.isEmpty, "\(stage): \(differing.sorted())")
    }
  }

  private func waitForLock(_ scene: ExportScene) throws {
    let lock = scene.capture.appending(".scanmill/lock")
    Waiting.until("the end of the workers") { !FileLock.isHeld(at: lock) }
  }

  /// Files of the capture's output, those that are not published yet included.
  private func fileCount(_ scene: ExportScene) -> Int {
    FileManager.default.enumerator(atPath: scene.capture.string)?
      .reduce(0) { count, _ in count + 1 } ?? 0
  }

  @Test(
    "A disk that fills up in the middle of a bag fails the export alone, and leaves nothing half",
    .enabled(if: DiskTests.canMount, "needs a user name space with mounts"),
    arguments: ["mcap", "sens"])
  func full(format: String) throws {
    let scene = try ExportScene("arkit-scanner", frames: 40, size: (640, 480))
    try FileSystem.makeFolder(scene.output)
    let listing = scene.folder.path.appending("listing")
    let first = "\(Program.path) run \(scene.input) --output \(scene.output)"
    let result = try DiskTests.isolated(
      """
      mount -t tmpfs -o size=200m tmpfs \(scene.output)
      \(first) -q || exit 9
      used=$(du -sm \(scene.output) | cut -f1)
      mount -o remount,size=$((used + 4))m \(scene.output) || exit 8
      \(first) --export \(format); code=$?
      find \(scene.output)/a > \(listing)
      exit $code
      """)
    #expect(result.status == 73, "\(result.errors)")
    #expect(result.errors.contains("no space left"), "\(result.errors)")
    let names = try listing.text()
    #expect(names.contains("/a/color/artifact.json\n"))
    #expect(!names.contains("/a/export-\(format)/"))
    #expect(!names.contains(".staging/"))
  }
}
