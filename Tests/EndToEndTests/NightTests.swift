import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// A whole night: two dozen captures of all families arrive in pieces, some of them damaged or hostile; the
/// watcher is killed in the middle and started again. At the end everything that says how things stand says
/// the truth.
@Suite("A night, and what is told of it in the morning", .runsPrograms)
struct NightTests {
  /// How a capture stands in the morning.
  private struct Truth: Equatable, CustomStringConvertible {
    var state: String
    var cause: String?
    var description: String { state + (cause.map { " (\($0))" } ?? "") }
  }

  private static let families = ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"]

  private final class Night {
    let scene: WatchScene
    var truth: [String: Truth] = [:]
    /// Captures of which the last stage must have been carried out to its end, and how often.
    var finished: Set<String> = []

    init() throws {
      scene = try WatchScene("  tables: {uses: export-tables}")
      let script = """
        id="$1"; out="$2"; folder="$3"
        echo "$id" >> "$folder/begun"
        case "$id" in
          *crash*) worker=$(ps -o ppid= -p $PPID | tr -d ' '); kill -SEGV $worker; sleep 20;;
          *hang*) sleep 600;;
          *fail*) echo "no luck" >&2; exit 3;;
          *gone*) while [ -e "$folder/staging/gone" ]; do sleep 0.05; done; exit 1;;
        esac
        echo x > "$out/x"
        echo "$id" >> "$folder/ran"
        """
      let file = scene.folder.path.appending("stage.sh")
      try file.write(script)
      try Data(
        """
        schema: 1
        stages:
          depth: {uses: decompress-depth}
          tables: {uses: export-tables}
          mark:
            uses: command
            needs: {source: tables}
            timeout: 20s
            with: {command: [sh, "\(file)", "{id}", "{output}", "\(scene.folder.path)"]}

        """.utf8
      ).write(to: URL(filePath: scene.pipeline))
    }

    func expect(_ id: String, _ state: String, _ cause: String? = nil) {
      truth[id] = Truth(state: state, cause: cause)
      if state.hasPrefix("done") { finished.insert(id) }
    }

    func move(_ made: FilePath, to place: String) throws {
      let there = scene.staging.appending(FilePath(place).components)
      try FileSystem.makeFolder(there.removingLastComponent())
      try made.move(to: there)
    }

    /// File by file, each in two pieces, with times of years ago or to come.
    func trickle(_ made: FilePath, to place: String, isFuture: Bool) throws {
      let there = scene.staging.appending(FilePath(place).components)
      for name in try made.filesBelow() {
        let bytes = try made.appending(FilePath(name).components).data()
        let file = there.appending(FilePath(name).components)
        try FileSystem.makeFolder(file.removingLastComponent())
        for cut in [bytes.count / 2, bytes.count] {
          try file.write(bytes.prefix(cut))
          let date = Date(timeIntervalSince1970: isFuture ? 2_200_000_000 : 900_000_000)
          try FileManager.default.setAttributes(
            [.modificationDate: date], ofItemAtPath: file.string)
          // The pace of a slow sender; how long it takes decides nothing.
          usleep(30_000)
        }
      }
    }

    /// The folder of results of a capture whose name cannot be used as it is.
    func oddName() throws -> String? {
      guard FileSystem.isFolder(scene.output) else { return nil }
      return try FileSystem.names(in: scene.output).first {
        $0.contains("script") && FileSystem.isFolder(scene.output.appending(name: $0))
      }
    }
  }

  @Test(
    "Two dozen captures of all families, of which some are damaged, hostile, gone or never whole")
  func night() throws {
    let night = try Night()
    let scene = night.scene
    let metrics = scene.folder.path.appending("scanmill.prom")
    func start() throws -> Running {
      try scene.start("--attempts 2 --settle 6s --metrics \(metrics) -j 2")
    }
    var watcher = try start()
    // Asks again and again, until the morning.
    let witness = Agreement.Witness(try Agreement(output: scene.output, metrics: metrics))

    // The evening: whole ones, at several depths, and names that nobody would choose.
    for (number, family) in Self.families.enumerated() {
      for index in 0..<2 {
        let id = "\(family)-\(index)"
        let made = try scene.make(id, family: family)
        try night.move(made, to: "2026-11-20/user\(number)/\(id)")
        night.expect(id, "done")
      }
    }
    let hostile = "<script>alert(1)<script> \"x\" 'y' & \u{202E}z"
    try night.move(try scene.make("plain", family: "vi-slam"), to: hostile)

    // In pieces.
    for (index, family) in ["scannet", "multiscan", "strabo"].enumerated() {
      let id = "slow-\(family)"
      try night.trickle(
        try scene.make(id, family: family), to: "late/\(id)", isFuture: index % 2 == 0)
      night.expect(id, "done")
    }

    // Killed in the middle of it.
    try scene.wait("some captures") { scene.ran >= 4 }
    try scene.wait("the odd name") { try night.oddName() != nil }
    night.expect(try #require(try night.oddName()), "done")
    watcher.signal(SIGKILL)
    #expect(try watcher.finish().status == -SIGKILL)
    let ranBefore = scene.ran
    #expect(ranBefore >= 4)
    watcher = try start()

    // Two of one id.
    try night.move(try scene.make("twin"), to: "ann/twin")
    try night.move(try scene.make("twin"), to: "bob/twin")
    night.expect("twin", "done")
    night.expect("twin~2", "done")
    // Damaged: a depth stream that is none, an IMU log that ends early.
    let unreadable = try scene.make("unreadable")
    try unreadable.appending("unreadable.depth").write(Data(repeating: 9, count: 5_000))
    try night.move(unreadable, to: "unreadable")
    night.expect("unreadable", "quarantined", "input")
    let cut = try scene.make("cut")
    let imu = cut.appending("cut.imu")
    let log = try imu.data()
    try imu.write(log.prefix(log.count - 7))
    try night.move(cut, to: "cut")
    night.expect("cut", "done")
    // Never whole.
    let lacking = try scene.make("lacking")
    try FileSystem.remove(lacking.appending("lacking.camera"))
    try night.move(lacking, to: "lacking")
    night.expect("lacking", "incomplete")
    try night.move(try scene.make("moving"), to: "moving")
    try scene.staging.appending("moving").appending("moving.h264.part").write("x")
    night.expect("moving", "arriving")
    // Programs that fail, each in its way.
    for id in ["crash", "hang", "fail"] {
      try night.move(try scene.make(id), to: id)
      night.expect(id, "quarantined", "program")
    }
    try night.move(try scene.make("gone"), to: "gone")
    night.expect("gone", "failed", "machine")
    // No capture.
    try FileSystem.makeFolder(scene.staging.appending("notes"))
    try scene.staging.appending("notes").appending("todo.txt").write("x")

    // One is replaced by another recording, one disappears while it is read.
    let begun = scene.folder.path.appending("begun")
    func hasBegun(_ id: String) -> Bool {
      ((try? begun.text()) ?? "").contains("\(id)\n")
    }
    try scene.wait("the one that goes") { hasBegun("gone") }
    try scene.staging.appending("gone").move(to: scene.folder.path.appending("away"))
    try scene.wait("the first") { scene.isDone("scannet-0", "mark") }
    let other = try scene.make("scannet-0", frames: 7)
    let first = scene.staging.appending("2026-11-20").appending("user0").appending("scannet-0")
    for name in try FileSystem.names(in: other) {
      // Each in one step, so that nothing in between looks like a recording.
      let (made, place) = (other.appending(name).string, first.appending(name).string)
      #expect(rename(made, place) == 0)
    }

    try scene.wait("the morning") {
      let waits = scene.waiting
      return waits["lacking"] == "incomplete" && waits["moving"] == "arriving" && waits.count <= 3
        && !waits.values.contains("running") && !waits.values.contains("queued")
        && night.truth.allSatisfy { id, truth in
          truth.state == "quarantined"
            ? scene.triage(id)?["isQuarantined"] as? Bool == true
            : !truth.state.hasPrefix("done") || scene.isDone(id, "mark")
        }
    }
    let seen = witness.finish()
    #expect(seen.looks > 5)
    #expect(seen.problems.isEmpty, "\(seen.problems.prefix(3)) of \(seen.looks) looks")
    #expect(try watcher.stop().status == 143)

    // Every finished stage ran once; the one that was replaced twice; one that the kill cut off may have
    // been carried out without being published.
    let ran = try scene.folder.path.appending("ran").text().lines.map(String.init)
    let counts = Dictionary(grouping: ran) { $0 }.mapValues(\.count)
    let again = counts.filter { $0.value > ($0.key == "scannet-0" || $0.key == "twin" ? 2 : 1) }
    #expect(again.count <= 2, "\(again)")
    for id in ["scannet-0", "twin"] {
      #expect((2...3).contains(counts[id] ?? 0), "\(id): \(counts)")
    }
    try checkTold(night, metrics)
  }

  /// Line ends outside of quotes: messages have several lines.
  private static func rows(_ csv: String) -> Int {
    var isQuoted = false
    return csv.utf8.count { byte in
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      return byte == UInt8(ascii: "\n") && !isQuoted
    }
  }

  private func checkTold(_ night: Night, _ metrics: FilePath) throws {
    let scene = night.scene
    let output = scene.output.string
    let totals = Dictionary(grouping: night.truth.values, by: \.state).mapValues(\.count)

    let status = try Program.run("status \(output) --json").json()
    let rows = try status.objects("captures")
    var told: [String: Truth] = [:]
    for row in rows {
      let id = try #require(row["id"] as? String)
      told[id] = Truth(
        state: try #require(row["state"] as? String), cause: row["cause"] as? String)
    }
    #expect(told == night.truth)

    let report = try Program.run("report \(output) --since 24h --format json").json()
    let sums = try report.object("totals")
    let states = try #require(sums["states"] as? [String: Int])
    #expect(states.filter { $0.value > 0 } == totals)
    #expect(sums["captures"] as? Int == night.truth.count)
    #expect(sums["unrecognized"] as? Int == 1)
    let captures = try report.objects("captures")
    #expect(captures.count == night.truth.count)
    for capture in captures {
      let id = try #require(capture["id"] as? String)
      let failures = try capture.objects("failures")
      guard let cause = night.truth[id]?.cause else {
        #expect(failures.isEmpty, "\(id)")
        continue
      }
      #expect(failures.first?["cause"] as? String == cause, "\(id)")
      #expect((failures.first?["message"] as? String)?.isEmpty == false, "\(id)")
    }

    // The rows as CSV, whatever stands in a name.
    let table = try Program.run("status \(output) --csv")
    #expect(
      table.output.hasPrefix(
        "id,state,needsPerson,reasons,family,device,scene,recordedAt,attempts,"))
    #expect(Self.rows(table.output) == night.truth.count + 1)

    let text = try metrics.text()
    for state in ["done", "quarantined", "incomplete", "arriving", "failed"] {
      #expect(
        text.contains("scanmill_captures{state=\"\(state)\"} \(totals[state] ?? 0)\n"), "\(state)")
    }
    #expect(text.contains("scanmill_unrecognized 1\n"))

    try Program.run("report \(output) --since 24h").succeeds()
    let html = try scene.output.appending("index.html").text()
    let ready = try #require(sums["ready"] as? Int)
    #expect(html.contains("\(ready) of \(night.truth.count) captures are ready"))
    #expect(html.matches(of: /<tr data-id="/).count == night.truth.count)
    for (state, count) in totals {
      #expect(
        html.components(separatedBy: "data-state=\"\(state)\"").count - 1 >= count, "\(state)")
    }
    #expect(!html.contains("<script>alert"))
    for (id, truth) in night.truth where truth.state.hasPrefix("done") || truth.cause == "program" {
      let file = scene.output.appending(name: id).appending("report.html")
      #expect(FileSystem.exists(file), "\(id)")
    }
  }
}
