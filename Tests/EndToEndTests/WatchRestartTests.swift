import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("What a watcher knew of captures survives its end", .runsPrograms)
struct WatchRestartTests {
  private static func pipeline(_ scene: WatchScene, _ more: String = "") throws {
    let text = """
      schema: 1
      stages:
        imu: {uses: match-imu}
        count:
          uses: command
          needs: {source: imu}
          with: {command: [sh, -c, "echo '{id}' >> \(scene.folder.path)/ran; case '{id}' in *fail*) exit 3;; esac; echo x > {output}/x"]}
      \(more)

      """
    try FilePath(scene.pipeline).write(text)
  }

  private static func runs(_ scene: WatchScene, of id: String) -> Int {
    let text =
      (try? scene.folder.path.appending("ran").text())
      ?? ""
    return text.lines.count { $0 == id }
  }

  private static func states(_ scene: WatchScene) throws -> [String: String] {
    // Before the watcher has begun there is nothing to tell of.
    let told = try? Program.run("status \(scene.output) --json").json()
    let rows = told?["captures"] as? [[String: Any]] ?? []
    return Dictionary(
      rows.compactMap { row in
        (row["id"] as? String).flatMap { id in (row["state"] as? String).map { (id, $0) } }
      }, uniquingKeysWith: { first, _ in first })
  }

  @Test(
    "With the same pipeline all stays; with another one that asks for more, each is made again at once, patience or not"
  )
  func otherPipeline() throws {
    let scene = try WatchScene()
    try Self.pipeline(scene)
    try scene.put("whole")
    try scene.put("fail")
    let lacking = try scene.put("lacking")
    try FileSystem.remove(lacking.appending("lacking.camera"))
    let stays = [
      "whole": "done", "fail": "quarantined", "lacking": "done",
    ]
    var watcher = try scene.start("--attempts 1 --patience 1s")
    try scene.wait("all three") { try scene.waiting == [:] && Self.states(scene) == stays }
    #expect(try watcher.stop().status == 143)

    // Nobody waits for the rest of `lacking` again.
    watcher = try scene.start("--attempts 1 --patience 6h")
    try scene.wait("a look") { scene.record["ended"] == nil && scene.waiting == [:] }
    try scene.put("late")
    try scene.wait("another capture") { scene.isDone("late") && scene.waiting == [:] }
    #expect(try Self.states(scene).filter { $0.key != "late" } == stays)
    #expect(Self.runs(scene, of: "fail") == 1 && Self.runs(scene, of: "lacking") == 1)
    #expect(try watcher.stop().status == 143)

    try Self.pipeline(scene, "  tables: {uses: export-tables}")
    watcher = try scene.start("--attempts 1 --patience 6h --settle 1h")
    try scene.wait("what is asked for anew") {
      scene.isDone("whole", "tables") && scene.isDone("lacking", "tables")
        && Self.runs(scene, of: "fail") == 2 && scene.waiting == [:]
    }
    try scene.wait("the states of before") {
      try Self.states(scene).filter { $0.key != "late" } == stays
    }
    // What stays the same is not made again.
    #expect(Self.runs(scene, of: "whole") == 1 && Self.runs(scene, of: "lacking") == 1)
    #expect(try watcher.stop().status == 143)
  }

  @Test(
    "A watcher that ends before it has seen STAGING leaves what was noted of arrivals as it was")
  func unseenStaging() throws {
    let scene = try WatchScene()
    try scene.put("slow")
    let looks = scene.output.appending(".scanmill").appending("looks.json").string
    func noted() -> Data? { FileManager.default.contents(atPath: looks) }
    func since() -> String? {
      (scene.record["waiting"] as? [[String: Any]])?.first?["since"] as? String
    }
    var watcher = try scene.start("--settle 1h")
    try scene.wait("the arrival") { scene.waiting == ["slow": "arriving"] && noted() != nil }
    #expect(try watcher.stop().status == 143)
    let (before, arrival) = (try #require(noted()), try #require(since()))
    // As where its disk is not mounted.
    let aside = scene.folder.path.appending("aside")
    try scene.staging.move(to: aside)
    try FileSystem.makeFolder(scene.staging)
    watcher = try scene.start("--settle 1h")
    try scene.wait("the trouble") {
      (scene.record["stagingTrouble"] as? String)?.contains("is its disk mounted?") == true
    }
    #expect(try watcher.stop().status == 143)
    #expect(noted() == before && since() == arrival)
    try FileSystem.remove(scene.staging)
    try aside.move(to: scene.staging)
    watcher = try scene.start("--settle 1h")
    try scene.wait("a look") {
      scene.record["ended"] == nil && scene.record["stagingTrouble"] == nil
    }
    #expect(scene.waiting == ["slow": "arriving"] && since() == arrival)
    #expect(try watcher.stop().status == 143)
  }

  @Test("A sync conflict's copy is left alone by a run over the folder, and made when it is named")
  func conflictCopies() throws {
    let scene = try WatchScene()
    try scene.put("room")
    let copy = try scene.put("room", as: "room.sync-conflict-20261120-101112-ABCDEFG")
    let words = ["--output", scene.output.string, "--pipeline", scene.pipeline]
    let plan = try Program.run("run \(scene.staging) -n \(words)")
    #expect(plan.errors.contains("left alone: "), "\(plan.errors)")
    #expect(plan.errors.contains("a second copy of room"))
    let over = try Program.run("run \(scene.staging) \(words)").succeeds()
    #expect(over.errors.contains("a second copy of room"), "\(over.errors)")
    #expect(scene.ran == 1)
    try Program.run("run \(copy) \(words)").succeeds()
    #expect(scene.ran == 2)
  }

  @Test("A plan leaves out what is marked, and changes no mark")
  func markedPlan() throws {
    let scene = try WatchScene()
    let place = try scene.put("a")
    try scene.put("b")
    let words = ["--output", scene.output.string, "--pipeline", scene.pipeline]
    try Program.run("run \(scene.staging) \(words)").succeeds()
    try Program.run("mark retire \(scene.output.appending("a"))").succeeds()
    let plan = try Program.run("run \(scene.staging) -n \(words)").succeeds()
    #expect(plan.errors.contains("left alone: a: "), "\(plan.errors)")
    let named = try Program.run("run \(place) -n \(words)")
    #expect(named.output.contains("(never-built)"), "\(named.output)")
    // It is retired still.
    try Program.run("run \(scene.staging) \(words)").succeeds()
    #expect(!scene.isDone("a"))
  }
}

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
