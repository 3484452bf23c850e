import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("A watcher processes what has arrived, once", .runsPrograms)
struct WatchTests {
  @Test("A capture that arrives in pieces is processed once, when it is whole and at rest")
  func pieces() throws {
    let scene = try WatchScene()
    let source = try scene.make("a")
    // Nothing is at rest for an hour: what is not processed yet is so on a machine of any speed.
    let patient = try scene.start("--settle 1h")
    let place = scene.staging.appending("2026-11-20").appending("ann").appending("a")
    try FileSystem.makeFolder(place)
    let names = try FileSystem.names(in: source)
    for name in names {
      let bytes = try source.appending(name).data()
      let file = place.appending(name).string
      // It grows, and its times are those of years ago, or of years to come.
      for cut in [bytes.count / 3, bytes.count] {
        try FilePath(file).write(bytes.prefix(cut))
        let year = cut == bytes.count ? "2031" : "2001"
        try Running("/usr/bin/touch", ["-d", "\(year)-01-01", file]).finish().succeeds()
      }
    }
    try scene.wait("a look") { scene.waiting["a"] == "arriving" }
    #expect(try patient.stop().status == 143)
    #expect(!scene.isDone("a") && scene.ran == 0)
    // Above the two seconds in which a later change may bear the same time.
    let watcher = try scene.start("--settle 3s")
    try scene.wait("the capture") { scene.isDone("a") }
    try scene.wait("rest") { scene.waiting == [:] }
    #expect(scene.ran == 1)
    let ended = try watcher.stop()
    #expect(ended.status == 143)
    // A second watcher finds everything done and opens nothing.
    let again = try scene.once().succeeds()
    #expect(again.output == "")
    #expect(scene.ran == 1)
  }

  @Test("A file that arrives again makes the stages stale that read it, and only those")
  func again() throws {
    let scene = try WatchScene()
    let place = try scene.put("a")
    try scene.once().succeeds()
    // Long enough that the look is not missed.
    let watcher = try scene.start("--settle 5s")
    // Not read by any stage of this pipeline.
    var depth = try place.appending("a.depth").data()
    depth.append(contentsOf: [1, 2, 3])
    try place.appending("a.depth").write(depth)
    try scene.wait("a look") { scene.waiting["a"] == "arriving" }
    try scene.wait("rest") { scene.waiting == [:] }
    #expect(scene.ran == 1)
    let other = try scene.make("b", frames: 6)
    try FileSystem.remove(place.appending("a.imu"))
    try other.appending("b.imu").copy(to: place.appending("a.imu"))
    try scene.wait("the stage") { scene.ran == 2 }
    #expect(try watcher.stop().status == 143)
  }

  @Test("Results that were cleaned stay so for a watcher; a run makes them again and says so")
  func cleaned() throws {
    let scene = try WatchScene()
    try scene.put("a")
    let watcher = try scene.start()
    try scene.wait("the stage") { scene.ran == 1 && scene.isDone("a") }
    try scene.wait("rest") { !scene.record.isEmpty && scene.waiting == [:] }
    let words = ["clean", scene.output.string, "--stage", "count", "--yes"]
    try Program.run(words).succeeds()
    try scene.put("b")
    try scene.wait("another capture") { scene.isDone("b") && scene.waiting == [:] }
    #expect(try watcher.stop().status == 143)
    // Nor does another watcher, which asks for everything anew.
    try scene.once().succeeds()
    #expect(scene.ran == 2 && !scene.isDone("a") && scene.isDone("a", "imu"))
    let run = try Program.run(
      "run \(scene.staging) --output \(scene.output) --pipeline \(scene.pipeline)"
    ).succeeds()
    #expect(run.errors.contains(": made again for 1 capture, "), "\(run.errors)")
    #expect(scene.ran == 3 && scene.isDone("a"))
  }

  @Test("What others leave among results makes a done capture neither arriving nor queued")
  func foreignFiles() throws {
    let scene = try WatchScene()
    let metrics = scene.folder.path.appending("scanmill.prom")
    func value(_ name: String) -> Double? {
      let text = (try? metrics.text()) ?? ""
      return text.lines.first { $0.hasPrefix(name + " ") }
        .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
    }
    try scene.put("a")
    // Files that changed just before they were noted count as changed: these have been at rest for longer.
    let watcher = try scene.start("--settle 3s --metrics \(metrics)")
    try scene.wait("the capture") {
      scene.isDone("a") && scene.waiting == [:] && value("scanmill_captures{state=\"done\"}") == 1
    }
    let result = scene.output.appending("a")
    for name in ["imu/.DS_Store", "count/._x", "count/mine.txt", ".DS_Store"] {
      try OutputFile.write(
        Array("x".utf8), to: result.appending(FilePath(name).components))
    }
    try FileSystem.makeFolder(result.appending("@eaDir"))
    let written = Date().timeIntervalSince1970
    var told: Set<String> = []
    try scene.wait("two looks") {
      told.formUnion(scene.waiting.values)
      if value("scanmill_captures{state=\"done\"}") != 1 { told.insert("not done") }
      return (value("scanmill_look_timestamp_seconds") ?? 0) > written + 1
    }
    #expect(told.isEmpty, "\(told)")
    #expect(scene.ran == 1)
    #expect(
      try FileSystem.names(in: scene.output.appending("runs")).count == 1)
    #expect(try watcher.stop().status == 143)
  }

  @Test(
    "An unreadable stream is known after one attempt; the file copied again is taken up by itself")
  func unreadable() throws {
    let scene = try WatchScene("  imu: {uses: match-imu}\n  depth: {uses: decompress-depth}")
    let place = try scene.put("a")
    let file = place.appending("a.depth")
    let good = try file.data()
    try file.write(Data(repeating: 7, count: 1000))
    let first = try scene.once()
    #expect(first.status == 1)
    #expect(first.errors.lines.count { $0.hasPrefix("read more: ") } == 1, "\(first.errors)")
    let note = try #require(scene.triage("a"))
    #expect(note["cause"] as? String == "input")
    #expect(note["isQuarantined"] as? Bool == true)
    #expect(note["attempts"] as? Int == 1)
    // Nothing new is tried, and it still needs somebody.
    let again = try scene.once("--exit-code")
    #expect(again.status == 1 && again.output == "", "\(again.output)")
    // Nor for a run over everything, which names it.
    let run = try Program.run(
      "run \(scene.staging) --output \(scene.output) --pipeline \(scene.pipeline) --exit-code")
    #expect(run.output == "a skipped 0/0 note=\"quarantined (input)\"\n" && run.status == 1)
    #expect(run.errors.contains("quarantined") && run.errors.contains("1 skipped · 1 needs you"))
    let plan = try Program.run(
      "run \(scene.staging) --output \(scene.output) --pipeline \(scene.pipeline) -n")
    #expect(plan.output == "" && plan.errors == "left alone: a: quarantined (input)\n")
    // Who names it means it.
    let named = try Program.run(
      "run \(place) --output \(scene.output) --pipeline \(scene.pipeline)")
    #expect(named.status == 1)
    try file.write(good)
    let last = try scene.once().succeeds()
    #expect(last.output == "a made 2/2\n")
    #expect(scene.triage("a") == nil)
  }

  @Test("What is in the place of a result quarantines until it is moved off")
  func obstructed() throws {
    let scene = try WatchScene()
    try scene.put("a")
    try scene.once().succeeds()
    let place = scene.output.appending("a/count")
    try FileSystem.remove(place)
    try FileSystem.makeFolder(place)
    try place.appending("notes.txt").write("mine")
    #expect(try scene.once().status != 0)
    #expect(scene.triage("a")?["isQuarantined"] as? Bool == true)
    let words: Words = "run \(scene.staging) --output \(scene.output) --pipeline \(scene.pipeline)"
    #expect(try Program.run(words).output.contains("a skipped"))
    try place.move(to: scene.folder.path.appending("mine"))
    let status = try Program.run("status \(scene.output) --state quarantined --json").json()
    #expect(try status.objects("captures").isEmpty)
    try Program.run(words).succeeds()
    #expect(scene.isDone("a") && scene.triage("a") == nil)
  }

  @Test(
    "STAGING and the output lie apart",
    arguments: ["staging", "staging/out", "."])
  func overlap(output: String) throws {
    let scene = try WatchScene()
    let place = scene.folder.path.appending(FilePath(output).components)
    let result = try Program.run("watch \(scene.staging) --output \(place) --once")
    #expect(result.status == 64)
    #expect(result.errors.contains("staging folder"))
    #expect(try FileSystem.names(in: scene.staging) == [])
  }

  /// A part of the day that is not now.
  private static var otherHour: String {
    let hour = (Calendar.current.component(.hour, from: .now) + 5) % 24
    let text = hour < 10 ? "0\(hour)" : "\(hour)"
    return "\(text):00-\(text):30"
  }

  @Test("Outside of the window nothing starts, and what waits says so")
  func window() throws {
    let scene = try WatchScene()
    try scene.put("a")
    let result = try scene.once("--between \(Self.otherHour)")
    #expect(result.status == 1)
    #expect(result.errors.contains("0 of 1 captures are ready. "))
    #expect(result.errors.contains("1 waits. Held: outside"), "\(result.errors)")
    // Nor is the reason of an exit code kept back by -q.
    let quiet = try scene.once("--between \(Self.otherHour) -q")
    #expect(quiet.status == 1 && quiet.errors.contains("1 waits. Held: outside"), "\(quiet.errors)")
    let lines = try scene.once("--between \(Self.otherHour) -q --log-format json").errors
    let line = try #require(JSONSerialization.jsonObject(with: Data(lines.utf8)) as? [String: Any])
    #expect((line["message"] as? String)?.contains("1 waits. Held: outside") == true, "\(lines)")
    #expect(scene.ran == 0)
    let waiting = try #require(scene.record.objects("waiting").first)
    #expect(waiting["state"] as? String == "queued")
    #expect(waiting["waitsFor"] as? String == "window")
    #expect(try scene.once("--between 00:00-24:00").status == 64)
    try scene.once().succeeds()
    #expect(scene.ran == 1)
  }

  @Test("A capture that waits without results is named by its id, whatever other ids begin so")
  func namedWhileWaiting() throws {
    let scene = try WatchScene()
    try scene.put("a")
    try scene.once().succeeds()
    for id in ["ab", "abc"] { try scene.put(id) }
    #expect(try scene.once("--between \(Self.otherHour)").status == 1)
    let status = try Program.run("status \(scene.output)/ab")
    #expect(status.status == 0 && status.output.contains("1 capture: 1 queued"), "\(status)")
    #expect(status.output.contains("waits for: window"), "\(status.output)")
    let all = try Program.run("status \(scene.output)")
    // Results of this very moment are not believed yet, and cannot be compared outside of the hours.
    for id in ["ab", "abc"] { #expect(all.output.contains("\n\(id)  queued\n"), "\(all.output)") }
    let explained = try Program.run("explain \(scene.output)/ab")
    #expect(explained.status == 0 && explained.output.hasPrefix("ab\n"), "\(explained)")
  }

  @Test("SIGHUP reads the pipeline again; one that is wrong is reported and the old one kept")
  func reload() throws {
    let scene = try WatchScene()
    try scene.put("a")
    let watcher = try scene.start()
    try scene.wait("the capture") { scene.isDone("a") }
    let old = try FilePath(scene.pipeline).text()
    try FilePath(scene.pipeline).write("schema: 1\nstages: {x: {uses: nonsense}}\n")
    watcher.signal(SIGHUP)
    try scene.put("b")
    try scene.wait("the old pipeline") { scene.isDone("b") }
    try Data((old + "  more: {uses: export-tables}\n").utf8)
      .write(to: URL(filePath: scene.pipeline))
    watcher.signal(SIGHUP)
    try scene.wait("the new pipeline") {
      scene.isDone("a", "more") && scene.isDone("b", "more")
    }
    #expect(scene.ran == 2)
    let ended = try watcher.stop()
    #expect(ended.status == 143)
    #expect(ended.errors.contains("cannot be used"))
  }
}
