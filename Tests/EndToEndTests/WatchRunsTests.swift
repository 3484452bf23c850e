import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// One capture that takes long, or hangs, never keeps those that wait from being processed.
@Suite("Runs of a watcher side by side", .runsPrograms)
struct WatchRunsTests {
  /// Captures whose name begins with "long" wait for a file, those with "bad" fail.
  private static func scene() throws -> WatchScene {
    let output = "$(dirname \"$(dirname \"$(dirname \"$1\")\")\")"
    return try WatchScene(
      """
        imu: {uses: match-imu}
        count:
          uses: command
          needs: {source: imu}
          with:
            command:
              - sh
              - -c
              - 'case $2 in bad*) exit 3;; long*) echo > $1/begun; until test -e \(output)/go; do sleep 0.1; done;; esac; echo > $1/x'
              - sh
              - "{output}"
              - "{id}"
      """)
  }

  private static func release(_ scene: WatchScene) throws {
    try scene.output.appending("go").write("")
  }

  private static func runs(_ scene: WatchScene) -> [String] {
    ((try? FileSystem.names(in: scene.output.appending("runs"))) ?? []).sorted()
  }

  private static func isAtWork(_ scene: WatchScene, _ name: String) -> Bool {
    let staging = scene.output.appending(name).appending(".staging")
    return ((try? FileSystem.names(in: staging)) ?? []).contains { attempt in
      FileSystem.exists(staging.appending(name: attempt).appending("begun"))
    }
  }

  @Test("A run tells of each capture once, also where one is tried again before the run is over")
  func once() throws {
    let scene = try Self.scene()
    try scene.put("long")
    let watcher = try scene.start("--attempts 2 -j 2")
    try scene.wait("the long one") { Self.isAtWork(scene, "long") }
    try scene.put("bad")
    try scene.wait("another attempt") { scene.triage("bad")?["attempts"] as? Int == 2 }
    #expect(!scene.isDone("long"))
    try Self.release(scene)
    try scene.wait("the long one's end") { scene.isDone("long") }
    #expect(try watcher.stop().status == 143)
    let told = try Self.runs(scene).map { run in
      let report = try scene.output.appending("runs/\(run)/run.json").json()
      return try report.objects("captures").compactMap { $0["id"] as? String }.sorted()
    }
    #expect(told == [["bad", "long"], ["bad"]])
  }

  @Test("A run that is full does not hold back the next one")
  func full() throws {
    let scene = try Self.scene()
    try scene.put("long")
    let watcher = try scene.start("--captures-per-run 2 -j 2")
    try scene.wait("the long one") { Self.isAtWork(scene, "long") }
    let names = ["b", "c", "d", "e", "f"]
    for name in names { try scene.put(name) }
    try scene.wait("all others, while the long one is at work") {
      names.allSatisfy { scene.isDone($0) }
    }
    #expect(!scene.isDone("long"))
    #expect(Self.runs(scene).count >= 3)
    try Self.release(scene)
    try scene.wait("the long one's end") { scene.isDone("long") }
    try scene.wait("rest") { scene.waiting == [:] }
    #expect(try watcher.stop().status == 143)
    // Every capture stands in the record of exactly one run, and every run came to its end.
    var recorded: [String] = []
    for run in Self.runs(scene) {
      let record = try scene.output.appending("runs/\(run)/run.json").json()
      let captures = try record.objects("captures")
      #expect(captures.count <= 2)
      #expect(record["exit"] as? Int == 0)
      recorded += captures.compactMap { $0["id"] as? String }
    }
    #expect(recorded.sorted() == names + ["long"])
  }

  @Test(
    "A pipeline that is read again is that of the next captures at once, beside what is at work")
  func reload() throws {
    let scene = try Self.scene()
    try scene.put("long")
    let watcher = try scene.start("-j 2")
    try scene.wait("the long one") { Self.isAtWork(scene, "long") }
    let old = try FilePath(scene.pipeline).text()
    try Data((old + "  more: {uses: export-tables}\n").utf8)
      .write(to: URL(filePath: scene.pipeline))
    watcher.signal(SIGHUP)
    try scene.put("b")
    try scene.wait("the new pipeline") { scene.isDone("b", "more") }
    #expect(!scene.isDone("long"))
    try Self.release(scene)
    // Once more, by the new one.
    try scene.wait("the long one's end") { scene.isDone("long", "more") }
    #expect(try watcher.stop().status == 143)
  }

  @Test(
    "What a watcher that ends had given to several runs is interrupted, and taken up by the next")
  func ended() throws {
    let scene = try Self.scene()
    let names = ["long1", "long2", "long3"]
    for name in names { try scene.put(name) }
    let watcher = try scene.start("--captures-per-run 1 -j 2 --grace 0s")
    try scene.wait("two at work") {
      names.count { Self.isAtWork(scene, $0) } == 2
    }
    #expect(Self.runs(scene).count == 2)
    #expect(try watcher.stop().status == 143)
    #expect(names.allSatisfy { scene.waiting[$0] == "queued" && scene.triage($0) == nil })
    try Self.release(scene)
    try scene.once().succeeds()
    #expect(names.allSatisfy { scene.isDone($0) })
  }
}
