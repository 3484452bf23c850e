import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Random requests, one after the other, over captures of four families: what was asked for before stays done.
@Suite("An output accumulates, whatever is asked for in whatever order", .runsPrograms)
struct AccumulationTests {
  private enum Step: CustomStringConvertible {
    case run([String])
    case clean(String)
    case mark([String], capture: String)
    case watch

    var description: String {
      switch self {
      case .run(let words): (["run"] + words).joined(separator: " ")
      case .clean(let stage): "clean --stage \(stage)"
      case .mark(let words, let capture): "mark \(words.joined(separator: " ")) \(capture)"
      case .watch: "watch --once"
      }
    }
  }

  private struct Artifact {
    var digest: String
    var finished: String
  }

  private static let captures = [
    "scannet": "room", "arkit-scanner": "hall", "multiscan": "desk", "vi-slam": "walk",
  ]
  private static let requests = [
    [], ["--pipeline", "quality"], ["--pipeline", "time-offset"], ["--pipeline", "preview"],
    ["--pipeline", "point-cloud"], ["--export", "nerfstudio"], ["--export", "colmap,tum"],
    ["--until", "imu"], ["--only", "tables"],
  ]
  /// Settings of stages that the run does not make, with the stages whose results they are about.
  private static let idle = [
    ("color.count=3", ["color", "aligned"]), ("aligned.surface=points", ["aligned"]),
  ]
  /// The columns of `tables/frames.csv` with names of files.
  private static let named = ["color", "depth", "confidence", "aligned"]

  @Test(arguments: 0..<Rounds.of(1, soak: 2_000))
  func sequence(_ number: Int) throws {
    let folder = try TemporaryFolder()
    let (input, output) = (folder.path.appending("in").string, folder.path.appending("out").string)
    for (family, id) in Self.captures.sorted(by: { $0.key < $1.key }) {
      try Program.synthesize(
        "\(family) --frames 4 --width 64 --height 48 --truth-pictures 0 --id \(id)", to: input)
    }
    var generator = SeededGenerator(seed: UInt64(number) &* 7919 &+ 43)
    var history: [Step] = []
    // By capture and stage; what `clean` removed is among them, as it was.
    var known: [String: Artifact] = [:]
    var cleaned: Set<String> = []
    var marked: Set<String> = []
    for _ in 0..<5 {
      let step = Self.step(known, cleaned, marked, &generator)
      history.append(step)
      let told: Comment = "sequence \(number): \(history)"
      let metrics = folder.path.appending("metrics").string
      let watch = [
        "watch", input, "--output", output, "--once", "--settle", "1s", "-q", "--metrics", metrics,
      ]
      let words =
        switch step {
        case .run(let words): ["run", input, "--output", output, "-q"] + words
        case .clean(let stage): ["clean", output, "--stage", stage, "--yes"]
        case .mark(let words, let capture): ["mark"] + words + ["\(output)/\(capture)"]
        case .watch: watch
        }
      let result = try Program.run(words)
      try #require(result.status == 0, "\(told)\n\(result.output)\(result.errors)")
      let now = try Self.artifacts(output)
      switch step {
      case .clean(let stage):
        cleaned.formUnion(known.keys.filter { $0.hasSuffix("/\(stage)") })
        #expect(cleaned.isDisjoint(with: now.keys), told)
      case .watch: #expect(cleaned.isDisjoint(with: now.keys), told)
      case .mark(let words, let capture):
        if words == ["undo"] { marked.remove(capture) } else { marked.insert(capture) }
      case .run: break
      }
      for (key, before) in known {
        guard let artifact = now[key] else {
          #expect(cleaned.contains(key), "\(key) is gone, \(told)")
          continue
        }
        if Self.mayDiffer(key, after: step, known, now) { continue }
        #expect(artifact.digest == before.digest, "\(key), \(told)")
        if !cleaned.contains(key) {
          #expect(artifact.finished == before.finished, "\(key) was made twice, \(told)")
        }
      }
      cleaned.subtract(now.keys)
      known.merge(now) { _, new in new }

      if case .run = step {
        let again = try Program.run(words.filter { $0 != "-q" } + ["-n", "--exit-code"])
        #expect(again.status == 0, "\(told)\n\(again.output)\(again.errors)")
      }
      if case .watch = step {
        #expect(try Program.run(watch).status == 0, told)
        let later = try Self.artifacts(output)
        #expect(later.mapValues(\.finished) == now.mapValues(\.finished), told)
        try Self.expectWatcherAgrees(output, metrics, told)
      }
      try Self.expectNothingIsWanted(output, told)
    }
  }

  private static func step(
    _ known: [String: Artifact], _ cleaned: Set<String>, _ marked: Set<String>,
    _ generator: inout SeededGenerator
  ) -> Step {
    let stages = known.keys.filter { !cleaned.contains($0) }.compactMap {
      $0.split(separator: "/").last.map(String.init)
    }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0..<2:
      if let stage = Set(stages).sorted().randomElement(using: &generator) { return .clean(stage) }
    case 2:
      let ids = Set(known.keys.compactMap { $0.split(separator: "/").first.map(String.init) })
      guard let id = ids.sorted().randomElement(using: &generator) else { break }
      let mark = generator.chance(2) ? "ignore" : "done-as-is"
      return .mark(marked.contains(id) ? ["undo"] : [mark], capture: id)
    case 3, 4: return .watch
    case 5:
      let idle = Self.idle.filter { setting in
        !known.keys.contains { key in setting.1.contains { key.hasSuffix("/\($0)") } }
      }
      let setting = idle.randomElement(using: &generator)?.0 ?? "imu.window=20ms"
      return .run(["--until", "imu", "--set", setting])
    default: break
    }
    return .run(requests.randomElement(using: &generator) ?? [])
  }

  /// Whether another result follows from what the step asked for: another value of a parameter, or files that the
  /// tables name and that were not there.
  private static func mayDiffer(
    _ key: String, after step: Step, _ known: [String: Artifact], _ now: [String: Artifact]
  ) -> Bool {
    if case .run(let words) = step, words.contains("imu.window=20ms"), key.hasSuffix("/imu") {
      return true
    }
    guard key.hasSuffix("/tables"), let capture = key.split(separator: "/").first else {
      return false
    }
    return named.contains { now["\(capture)/\($0)"] != nil && known["\(capture)/\($0)"] == nil }
  }

  private static func artifacts(_ output: String) throws -> [String: Artifact] {
    let root = FilePath(output)
    var found: [String: Artifact] = [:]
    for id in captures.values where FileSystem.isFolder(root.appending(id)) {
      for stage in try FileSystem.names(in: root.appending(id)) where !stage.hasPrefix(".") {
        let file = root.appending(id).appending(stage).appending("artifact.json")
        guard let data = file.contents else { continue }
        let record = try data.json()
        found["\(id)/\(stage)"] = Artifact(
          digest: try #require(record["outputDigest"] as? String),
          finished: try #require(record["finished"] as? String))
      }
    }
    return found
  }

  /// No stage is missing or stale, no capture is queued, and the report counts as `status` does.
  private static func expectNothingIsWanted(_ output: String, _ told: Comment) throws {
    let status = try Program.run("status \(output) --json").json()
    for capture in status["captures"] as? [[String: Any]] ?? [] {
      let id = capture["id"] as? String ?? ""
      #expect(capture["state"] as? String == "done", "\(id), \(told)")
      for stage in capture["stages"] as? [[String: Any]] ?? [] {
        let isWanted = ["missing", "stale", "failed", "blocked"].contains(
          stage["state"] as? String ?? "")
        #expect(!isWanted, "\(id): \(stage), \(told)")
      }
    }
    let report = try Program.run("report \(output) --format json").json()
    #expect(Self.states(report) == Self.states(status), told)
  }

  /// The page and the metrics that a watcher leaves count as the verbs do that read the output.
  private static func expectWatcherAgrees(
    _ output: String, _ metrics: String, _ told: Comment
  ) throws {
    let written = try FilePath(metrics).text().split(separator: "\n")
    for (state, count) in states(try Program.run(["status", output, "--json"]).json())
    where count > 0 {
      #expect(written.contains("scanmill_captures{state=\"\(state)\"} \(count)"), told)
    }
    let page = try FilePath("\(output)/index.html").text()
    let totals =
      try Program.run(["report", output, "--format", "json"]).json()["totals"] as? [String: Any]
    for key in ["captures", "ready", "needsPerson"] {
      // A number of zero is left out.
      let shown = try Regex("data-total=\"\(key)\">([0-9]+)").firstMatch(in: page)?.output[1]
        .substring
      #expect(shown.flatMap { Int($0) } ?? 0 == totals?[key] as? Int, "\(key), \(told)")
    }
  }

  private static func states(_ document: [String: Any]) -> [String: Int] {
    (document["totals"] as? [String: Any])?["states"] as? [String: Int] ?? [:]
  }
}
