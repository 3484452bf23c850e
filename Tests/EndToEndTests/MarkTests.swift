import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Captures that people mark", .runsPrograms)
struct MarkTests {
  /// A pipeline whose stage fails for captures called `bad…`.
  private static let failing = """
      imu: {uses: match-imu}
      count:
        uses: command
        needs: {source: imu}
        with: {command: [sh, -c, "case {id} in bad*) exit 1;; esac; echo x > {output}/x"]}
    """

  private func status(_ scene: WatchScene, _ more: String...) throws -> [String: Any] {
    try Program.run("status \(scene.output) --json \(more)").json()
  }

  /// A capture that lacks a file, and one that is done.
  private func scene() throws -> WatchScene {
    let scene = try WatchScene()
    try scene.put("whole")
    let place = try scene.put("cut")
    try FileSystem.remove(place.appending("cut.imu"))
    return scene
  }

  @Test(
    "What is marked needs nobody: exit codes, pages, report, metrics and totals agree",
    arguments: Rounds.some(of: ["done-as-is", "ignore"], 1))
  func acknowledged(mark: String) throws {
    let scene = try scene()
    let metrics = scene.folder.path.appending("metrics")
    try scene.once("--metrics \(metrics)").succeeds()
    #expect(try scene.once("--exit-code").status == 1)
    #expect(
      try metrics.text().contains("scanmill_needs_person 1\n"))
    let status = ["status", scene.output.string, "--exit-code"]
    let report = ["report", scene.output.string, "--exit-code", "--format", "json"]
    #expect(try Program.run(status).status == 1)
    #expect(try Program.run(report).status == 1)
    let words = ["mark", mark, "\(scene.output)/cu", "--note", "the phone was empty"]
    let marked = try Program.run(words).succeeds()
    #expect(marked.output.hasPrefix("cut: marked \(mark) by "))
    try Program.run(status).succeeds()
    let shown = try Program.run(report).succeeds()
    let totals = try shown.json().object("totals")
    #expect(totals["needsPerson"] as? Int == 0)
    let watched = try scene.once("--metrics \(metrics)").succeeds()
    #expect(watched.errors.contains("Nothing needs you, 1 is marked."))
    #expect(
      try metrics.text().contains("scanmill_needs_person 0\n"))
    let row = try #require(self.status(scene).captures()["cut"])
    #expect(row["state"] as? String == "incomplete")
    let told = try row.object("mark")
    #expect(told["mark"] as? String == mark && told["note"] as? String == "the phone was empty")
    #expect(told["by"] as? String != "" && told["ended"] == nil)
    let page = try FilePath("\(scene.output)/index.html").text()
    #expect(page.contains(#"id="marks""#) && page.contains("the phone was empty"))
    #expect(!page.contains(#"id="attention""#))
    let table = try Program.run("status \(scene.output) --csv").output
    #expect(table.lines.first?.hasSuffix(",message,mark") == true)
    #expect(table.contains(",\(mark)\n"))
    let text = try Program.run("status \(scene.output) --all")
    #expect(text.unwrapped.contains("marked \(mark) by "))
    let short = try Program.run("status \(scene.output)").output
    #expect(short.contains("1 capture bears a mark"))
    #expect(short.contains("1 capture incomplete: cut") == (mark == "done-as-is"), "\(short)")
    // Undone, it needs somebody again.
    let undone = try Program.run("mark undo \(scene.output)/cut")
    #expect(undone.status == 0 && undone.output == "cut: no longer marked\n")
    #expect(try Program.run(status).status == 1)
    #expect(try scene.once("--exit-code").status == 1)
    #expect(try Program.run("mark undo \(scene.output)/cut").status == 1)
  }

  @Test("A mark counts until the files of the capture change, and is told then")
  func changed() throws {
    let scene = try scene()
    #expect(try scene.once("--exit-code").status == 1)
    try Program.run("mark ignore \(scene.output)/cut").succeeds()
    let status = ["status", scene.output.string, "--exit-code"]
    try Program.run(status).succeeds()
    // A change of mode is no change of files.
    let file = scene.staging.appending("cut").appending("cut.txt")
    #expect(chmod(file.string, 0o600) == 0)
    try Program.run(status).succeeds()
    let open = try FileHandle(forWritingTo: URL(filePath: file.string))
    try open.seekToEnd()
    try open.write(contentsOf: Data("\n".utf8))
    try open.close()
    let after = try Program.run(status)
    #expect(after.status == 1)
    #expect(after.unwrapped.contains("its mark counts no more, its files have changed (ignore by "))
    let mark = try #require(self.status(scene).captures()["cut"]).object("mark")
    #expect(mark["ended"] as? String == "changed")
    #expect(try scene.once("--exit-code").status == 1)
  }

  @Test("A failed capture that is ignored is not tried again, by a watcher and a run over STAGING")
  func ignored() throws {
    let scene = try WatchScene(Self.failing)
    let place = try scene.put("bad")
    #expect(try scene.once().status == 1)
    let attempts = try status(scene).captures()["bad"]?["attempts"] as? Int
    #expect(attempts == 1)
    try Program.run("mark ignore \(scene.output)/bad").succeeds()
    #expect(FileSystem.exists(scene.output.appending("bad/.scanmill/mark.json")))
    // The pause after a failure is long over by its second look.
    let watcher = try scene.start()
    try scene.put("other")
    try scene.wait("another capture") { scene.isDone("other") }
    #expect(try watcher.stop().status == 143)
    #expect(try status(scene).captures()["bad"]?["attempts"] as? Int == 1)
    let words = ["--output", scene.output.string, "--pipeline", scene.pipeline]
    let all = try Program.run("run \(scene.staging) \(words)").succeeds()
    #expect(all.output.contains("bad skipped"))
    let named = try Program.run("run \(place) \(words)")
    #expect(named.status == 1)
    #expect(named.errors.contains("note: bad is marked ignore by "))
    #expect(!(try Program.run("run \(place) \(words) -q").errors.contains("note:")))
    let others = try Program.run("run \(scene.staging) \(words) --exclude other -n --json").json()
    #expect(try others.objects("captures").isEmpty)
    // Without its mark it needs somebody again.
    try Program.run("mark undo \(scene.output)/bad").succeeds()
    #expect(try scene.once("--exit-code").status == 1)
  }

  @Test(
    "Results of a retired capture leave the output, and it is built again when its files change")
  func retired() throws {
    let scene = try WatchScene()
    let place = try scene.put("a")
    try scene.put("b")
    try scene.once().succeeds()
    #expect(scene.ran == 2)
    let before = scene.record["lastLook"] as? String
    let watcher = try scene.start()
    // Its own, not that of the watcher before: that one gives no capture to a worker any more.
    try scene.wait("a look") {
      scene.record["lastLook"] as? String != before && scene.waiting == [:]
    }
    let marked = try Program.run("mark retire \(scene.output)/a --note old").succeeds()
    #expect(marked.output.contains("results are in .scanmill/retired/a"))
    let aside = scene.output.appending(".scanmill/retired")
    #expect(FileSystem.exists(aside.appending("a/count/artifact.json")))
    #expect(!FileSystem.exists(scene.output.appending("a")))
    // The watcher sees that results have gone, and leaves them so.
    try scene.put("c")
    try scene.wait("another capture") { scene.isDone("c") }
    try scene.wait("rest") { scene.waiting == [:] }
    #expect(!FileSystem.exists(scene.output.appending("a")) && scene.ran == 3)
    let document = try status(scene)
    #expect(try document.captures().keys.sorted() == ["b", "c"])
    let listed = try document.objects("retired")
    #expect(listed.map { $0["id"] as? String } == ["a"])
    #expect(document["totals", "captures"] as? Int == 2)
    let words = ["--output", scene.output.string, "--pipeline", scene.pipeline]
    try Program.run("run \(scene.staging) \(words)").succeeds()
    #expect(!FileSystem.exists(scene.output.appending("a")))
    // Other files make it a capture again.
    let other = try scene.make("d", frames: 6)
    try FileSystem.remove(place.appending("a.imu"))
    try other.appending("d.imu").copy(to: place.appending("a.imu"))
    try scene.wait("the capture") { scene.isDone("a") }
    #expect(try watcher.stop().status == 143)
    // A second time it gets a number.
    let second = try Program.run("mark retire \(scene.output)/a")
    #expect(second.output.contains("results are in .scanmill/retired/a.2"))
    #expect(FileSystem.exists(aside.appending("a")) && FileSystem.exists(aside.appending("a.2")))
    let undone = try Program.run("mark undo \(scene.output)/a")
    #expect(undone.output == "a: no longer marked; its results are back\n")
    #expect(scene.isDone("a") && scene.isDone("b"))
    try scene.once().succeeds()
  }

  @Test("A run that names a retired capture brings its results back, else builds it, and says so")
  func namedRun() throws {
    let scene = try WatchScene()
    let place = try scene.put("a")
    try scene.once().succeeds()
    try Program.run("mark retire \(scene.output)/a").succeeds()
    let gone = try Program.run("explain a --output \(scene.output)")
    #expect(gone.status == 65 && gone.errors.contains("'a' is retired: "), "\(gone.errors)")
    let run = ["run", place.string, "--output", scene.output.string, "--pipeline", scene.pipeline]
    let plan = try Program.run(run + ["-n"])
    #expect(plan.errors.contains("its results come back first"), "\(plan.errors)")
    let back = try Program.run(run).succeeds()
    #expect(back.errors.contains("note: a: its results are back\n"), "\(back.errors)")
    #expect(scene.isDone("a") && scene.ran == 1, "\(back.output)")
    let words = ["mark", "retire", scene.output.string, "--id", "*", "--yes"]
    #expect(try Program.run(words).output.contains("results are removed"))
    #expect(try FileSystem.names(in: scene.output.appending(".scanmill/retired")).isEmpty)
    let again = try Program.run(run).succeeds()
    #expect(again.errors.contains("note: a is marked retire by "))
    #expect(scene.isDone("a"))
    #expect(try status(scene).captures()["a"]?["mark"] == nil)
  }

  @Test("Many captures are retired by one command, by pattern or from a list")
  func many() throws {
    let scene = try WatchScene()
    for name in ["old-1", "old-2", "new-1"] { try scene.put(name) }
    try scene.once().succeeds()
    let words = ["mark", "retire", scene.output.string, "--json"]
    let first = try Program.run("\(words) --id old-*").succeeds()
    let rows = try first.json().objects("captures")
    #expect(rows.map { $0["id"] as? String } == ["old-1", "old-2"])
    #expect(rows.allSatisfy { $0["outcome"] as? String == "marked" })
    let list = scene.folder.path.appending("list")
    try list.write("new-1\nnobody\n")
    let second = try Program.run("\(words) --from \(list)")
    #expect(second.status == 1)
    #expect(second.errors == "error: nobody: no such capture here\n")
    #expect(try status(scene).captures().isEmpty)
    let listed = try Program.run("mark list \(scene.output)").succeeds()
    #expect(
      listed.output.lines.map { $0.prefix { $0 != ":" } }
        == ["new-1", "old-1", "old-2"])
    #expect(listed.output.contains("old-1: marked retire by "))
    try scene.put("unmarked")
    try scene.once().succeeds()
    let undone = try Program.run("mark undo --output \(scene.output) --id *").succeeds()
    #expect(undone.output.lines.count == 3 && !undone.output.contains("unmarked"))
    #expect(try status(scene).captures().count == 4)
    #expect(try Program.run("mark undo --output \(scene.output) --id *").status == 1)
    #expect(
      try Program.run("mark list \(scene.output)").output == "no capture is marked\n")
  }

  @Test("An output in which all captures wait or are retired is an output for every verb")
  func withoutResults() throws {
    let scene = try WatchScene()
    try scene.put("a")
    try scene.once().succeeds()
    try Program.run("mark retire \(scene.output)/a").succeeds()
    let retired = scene.output.appending(".scanmill/retired/a")
    #expect(FileSystem.isFolder(retired))
    let told = try Program.run("explain \(scene.output)/a")
    #expect(told.status == 65 && told.errors.contains("'a' is retired: "), "\(told.errors)")
    #expect(try Program.run("clean \(scene.output)").succeeds().output.contains("stay: --retired"))
    try Program.run("clean \(scene.output) --retired --yes").succeeds()
    #expect(!FileSystem.isFolder(retired))
    try Program.run("mark undo --output \(scene.output) a").succeeds()
    #expect(
      try Program.run("mark list \(scene.output)").succeeds().output == "no capture is marked\n")
  }

  @Test("A folder that is not recognized is not told of once it is marked")
  func unrecognized() throws {
    let scene = try WatchScene()
    try scene.put("a")
    let folder = scene.staging.appending("holiday")
    try FileSystem.makeFolder(folder)
    try folder.appending("beach.txt").write("x")
    #expect(try scene.once().errors.contains("1 folder is not recognized"))
    try Program.run("mark ignore \(scene.output)/holiday").succeeds()
    #expect((try status(scene)["unrecognized"] as? [[String: Any]])?.isEmpty == true)
    #expect(try !scene.once().errors.contains("not recognized"))
  }

  @Test("What a run holds is refused with who holds it")
  func held() throws {
    let scene = try WatchScene()
    try scene.put("a")
    try scene.once().succeeds()
    let path = scene.output.appending("a/.scanmill/lock")
    let lock = try #require(
      try FileLock(at: path, holder: "somebody's run") { _ in false } as FileLock?)
    let refused = try Program.run("mark retire \(scene.output)/a")
    #expect(refused.status == 75)
    #expect(refused.output.contains("not marked; somebody's run works on it"))
    #expect(scene.isDone("a"))
    withExtendedLifetime(lock) {}
    #expect(try (status(scene)["retired"] as? [[String: Any]]) == nil)
  }

  static let mistakes: [([String], Int32, String)] = [
    (["mark", "OUT/a"], 64, "done-as-is"),
    (["mark", "ignored", "OUT/a"], 64, "ignore"),
    (["mark", "ignore"], 64, "name a capture"),
    (["mark", "ignore", "OUT/a", "--yes"], 64, "--yes goes with retire"),
    (["mark", "ignore", "OUT/a", "--until", "soon"], 64, "--until is"),
    (["mark", "ignore", "OUT/a", "--until", "2001-01-01"], 64, "in the past"),
    (["mark", "ignore", "OUT"], 64, "a capture is named OUTPUT/ID"),
    (["mark", "ignore", "OUT/nobody"], 65, "no such capture here"),
    (["mark", "ignore", "OUT", "--id", "x*"], 65, "no capture here has an id like it"),
    (["mark", "ignore", "OUT", "--id", "[a"], 64, "'[' without ']'"),
    (["mark", "ignore", "/nowhere/a"], 65, "no such folder"),
    (["mark", "undo", "OUT/a", "--note", "x"], 64, "do not go with undo"),
    (["mark", "OUT/a", "ignore"], 64, "use scanmill mark ignore CAPTURE"),
    (["mark", "list", "OUT", "--id", "x"], 64, "list shows the marks"),
    (["mark", "list", "/nowhere"], 65, "no such folder"),
  ]

  @Test("A mistake is told, and nothing is marked")
  func mistake() throws {
    let scene = try WatchScene()
    try scene.put("a")
    try scene.once().succeeds()
    for (words, code, text) in Self.mistakes {
      let result = try Program.run(words.map { $0.replacing("OUT", with: scene.output.string) })
      #expect(result.status == code, "\(words): \(result.errors)")
      #expect(result.errors.contains(text), "\(words): \(result.errors)")
    }
    #expect(!FileSystem.exists(scene.output.appending("a/.scanmill/mark.json")))
    #expect(!FileSystem.exists(scene.output.appending(".scanmill/marks.json")))
  }
}
