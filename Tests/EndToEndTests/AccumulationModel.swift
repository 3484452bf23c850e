import Engine
import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// A step of a sequence over the captures of an `AccumulationModel`.
enum AccumulationStep: CustomStringConvertible, Sendable {
  case run([String])
  case clean(String)
  case mark([String], capture: String)
  case watch
  /// One last request; then the output has the same files as one that nothing was asked of before.
  case compare

  var description: String {
    switch self {
    case .run(let words): (["run"] + words).joined(separator: " ")
    case .clean(let stage): "clean --stage \(stage)"
    case .mark(let words, let capture): "mark \(words.joined(separator: " ")) \(capture)"
    case .watch: "watch --once"
    case .compare: "compare"
    }
  }
}

/// An output, what is known of it after each step, and what each step did that it may not do.
struct AccumulationModel {
  private struct Artifact {
    /// The digests of all files, but for those beside pictures that no stage must have.
    var files: [String: String]
    var finished: String
    /// The stages of the capture whose files the tables named when it was there last.
    var beside: Set<String> = []
  }

  static let captures = [
    "scannet": "room", "arkit-scanner": "hall", "multiscan": "desk", "vi-slam": "walk",
  ]
  private static let requests = [
    [], ["--pipeline", "quality"], ["--pipeline", "time-offset"], ["--pipeline", "preview"],
    ["--pipeline", "point-cloud"], ["--export", "nerfstudio"], ["--export", "colmap,tum"],
    ["--export", "euroc,kitti"], ["--until", "imu"], ["--until", "aligned,tables"],
    ["--until", "nerfstudio"], ["--only", "tables"],
  ]
  /// Settings of stages that the run does not make, with the stages whose results they are about.
  private static let idle = [
    ("color.count=3", ["color", "aligned"]), ("aligned.surface=points", ["aligned"]),
  ]
  /// Requests that make results again: with other values of parameters, with the default ones, by force.
  private static let changes = [
    ["--set", "depth.range=0.3m..4m"], ["--set", "depth.range=default"],
    ["--set", "color.every=2"], ["--set", "color.every=default"],
    ["--export", "nerfstudio", "--set", "export-nerfstudio.count=2"],
    ["--export", "nerfstudio", "--set", "export-nerfstudio.count=default"],
    ["--until", "imu", "--set", "imu.window=default"], ["-R", "imu"], ["-R", "aligned,tables"],
  ]
  /// The last request, to which come the default values of all parameters that were set.
  private static let last = ["--export", "nerfstudio,tum"]
  /// The columns of `tables/frames.csv` with names of files.
  private static let named: Set = ["color", "depth", "confidence", "aligned"]

  private let folder: TemporaryFolder
  /// Whether runs start workers; otherwise they do the same in their own process, for half of the cost.
  private let hasWorkers: Bool
  /// No noon passes between two steps: the page and the report begin with the same night.
  private let environment: [String: String]
  // By capture and stage; what `clean` removed is among them, as it was.
  private var known: [String: Artifact] = [:]
  private var cleaned: Set<String> = []
  private var marked: Set<String> = []
  /// Parameters that were set.
  private var set: Set<String> = []
  /// Empty as long as every step did what it may do.
  private(set) var problems: [String] = []

  init(hasWorkers: Bool) throws {
    self.hasWorkers = hasWorkers
    environment = try Agreement.evening()
    folder = try TemporaryFolder()
    for (family, id) in Self.captures.sorted(by: { $0.key < $1.key }) {
      try Program.synthesize(
        "\(family) --frames 4 --width 64 --height 48 --id \(id)", to: input)
    }
  }

  private var input: String { folder.path.appending("in").string }
  private var output: String { folder.path.appending("out").string }

  /// A step that can be taken now.
  func next(_ generator: inout SeededGenerator) -> AccumulationStep {
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
    case 6: return .run(Self.changes.randomElement(using: &generator) ?? [])
    default: break
    }
    return .run(Self.requests.randomElement(using: &generator) ?? [])
  }

  mutating func take(_ step: AccumulationStep) throws {
    if case .compare = step { return try compare() }
    let metrics = folder.path.appending("metrics").string
    let watch = [
      "watch", input, "--output", output, "--once", "--settle", "1s", "-q", "--metrics", metrics,
    ]
    let words: [String] =
      switch step {
      case .run(let words): ["run", input, "--output", output] + words
      case .clean(let stage): ["clean", output, "--stage", stage, "--yes"]
      case .mark(let words, let capture): ["mark"] + words + ["\(output)/\(capture)"]
      case .watch: watch
      case .compare: []
      }
    var more: [String] = []
    if case .run = step { more = hasWorkers ? ["-q"] : ["-q", "--inline"] }
    let result = try Program.run(words + more, environment: environment)
    expect(result.status == 0, "exit code \(result.status): \(result.output)\(result.errors)")
    let now = try artifacts()
    switch step {
    case .clean(let stage):
      cleaned.formUnion(known.keys.filter { $0.hasSuffix("/\(stage)") })
      expect(cleaned.isDisjoint(with: now.keys), "cleaned is there")
    case .watch: expect(cleaned.isDisjoint(with: now.keys), "cleaned was made by the watcher")
    case .mark(let words, let capture):
      if words == ["undo"] { marked.remove(capture) } else { marked.insert(capture) }
    case .run(let words):
      for (option, setting) in zip(words, words.dropFirst()) where option == "--set" {
        set.formUnion(setting.split(separator: "=").prefix(1).map(String.init))
      }
    case .compare: break
    }
    for (key, before) in known {
      guard let artifact = now[key] else {
        expect(cleaned.contains(key), "\(key) is gone")
        continue
      }
      if Self.mayDiffer(key, before, artifact, after: step) { continue }
      expect(artifact.files == before.files, "\(key) differs")
      if !cleaned.contains(key) {
        expect(artifact.finished == before.finished, "\(key) was made twice")
      }
    }
    cleaned.subtract(now.keys)
    known.merge(now) { _, new in new }

    if case .run = step, !words.contains("-R") {
      let again = try Program.run(words + ["-n", "--exit-code"], environment: environment)
      expect(again.status == 0, "the same again: \(again.output)\(again.errors)")
    }
    if case .watch = step {
      let status = try Program.run(watch, environment: environment).status
      expect(status == 0, "the watcher again: \(status)")
      expect(
        try artifacts().mapValues(\.finished) == now.mapValues(\.finished),
        "the watcher made something twice")
    }
    try expectNothingIsWanted(watcher: step.isWatch ? metrics : nil)
  }

  /// Asks for the same with the same values here and in a new output. What only this output has stays out of it.
  private mutating func compare() throws {
    for id in marked.sorted() { try take(.mark(["undo"], capture: id)) }
    try take(.run(Self.last + set.sorted().flatMap { ["--set", "\($0)=default"] }))
    let fresh = folder.path.appending("fresh").string
    let result = try Program.run(
      ["run", input, "--output", fresh, "-q", "--inline"] + Self.last, environment: environment)
    expect(result.status == 0, "exit code \(result.status) in a new output: \(result.errors)")
    let here = try artifacts()
    for (key, artifact) in try artifacts(in: fresh).sorted(by: { $0.key < $1.key }) {
      let files = here[key]?.files ?? [:]
      let names = Set(files.keys).union(artifact.files.keys).sorted()
      let differ = names.filter {
        FilePath("\(output)/\(key)/\($0)").contents != FilePath("\(fresh)/\(key)/\($0)").contents
      }
      expect(differ.isEmpty, "\(key) differs from that of a new output: \(differ)")
    }
    for id in Self.captures.values.sorted() {
      let found = try [output, fresh].map {
        try FilePath("\($0)/\(id)/capture.json").json()["warnings"] as? NSArray
      }
      expect(found[0] == found[1], "\(id) has other warnings than in a new output: \(found)")
    }
  }

  private mutating func expect(_ isRight: Bool, _ problem: @autoclosure () -> String) {
    if !isRight { problems.append(problem()) }
  }

  /// Whether another result follows from what the step asked for: another value of a parameter, or files that the
  /// tables name and that were not there.
  private static func mayDiffer(
    _ key: String, _ before: Artifact, _ now: Artifact, after step: AccumulationStep
  ) -> Bool {
    if case .run(let words) = step {
      if changes.contains(words) || words.starts(with: last) && words.contains("--set") {
        return true
      }
      if words.contains("imu.window=20ms"), key.hasSuffix("/imu") { return true }
    }
    return key.hasSuffix("/tables") && !now.beside.isSubset(of: before.beside)
  }

  private func artifacts(in folder: String? = nil) throws -> [String: Artifact] {
    let root = FilePath(folder ?? output)
    var found: [String: Artifact] = [:]
    for id in Self.captures.values where FileSystem.isFolder(root.appending(id)) {
      let stages = try FileSystem.names(in: root.appending(id)).filter { !$0.hasPrefix(".") }
      for stage in stages {
        let file = root.appending(id).appending(stage).appending("artifact.json")
        guard let data = file.contents else { continue }
        let record = try data.json()
        found["\(id)/\(stage)"] = Artifact(
          files: Dictionary(
            try record.objects("outputs").map {
              (try #require($0["path"] as? String), try #require($0["sha256"] as? String))
            }, uniquingKeysWith: { first, _ in first }
          ).filter { !ArtifactContent.colorImages.sideFiles.contains($0.key) },
          finished: try #require(record["finished"] as? String),
          beside: Self.named.intersection(stages))
      }
    }
    return found
  }

  /// No stage is missing or stale, no capture is queued, the report counts as `status` does, and so does a watcher that
  /// has just worked.
  ///
  /// - Parameter watcher: its metrics.
  private mutating func expectNothingIsWanted(watcher metrics: String?) throws {
    let status = try Program.run("status \(output) --json", environment: environment).json()
    for capture in status["captures"] as? [[String: Any]] ?? [] {
      let id = capture["id"] as? String ?? ""
      let state = capture["state"] as? String
      expect(state == "done", "\(id) is \(state ?? "")")
      for stage in capture["stages"] as? [[String: Any]] ?? [] {
        let isWanted = ["missing", "stale", "failed", "blocked"].contains(
          stage["state"] as? String ?? "")
        expect(!isWanted, "\(id): \(stage)")
      }
    }
    let report = try Program.run("report \(output) --format json", environment: environment)
      .json()
    expect(
      Self.states(report) == Self.states(status),
      "report \(Self.states(report)), status \(Self.states(status))")
    if let metrics { try expectWatcherAgrees(metrics, status, report) }
  }

  /// The page and the metrics that a watcher leaves count as the verbs do that read the output.
  private mutating func expectWatcherAgrees(
    _ metrics: String, _ status: [String: Any], _ report: [String: Any]
  ) throws {
    let written = try FilePath(metrics).text().split(separator: "\n")
    for (state, count) in Self.states(status) where count > 0 {
      expect(
        written.contains("scanmill_captures{state=\"\(state)\"} \(count)"),
        "metrics have not \(count) \(state)")
    }
    let page = try FilePath("\(output)/index.html").text()
    let totals = report["totals"] as? [String: Any]
    for key in ["captures", "ready", "needsPerson"] {
      // A number of zero is left out.
      let shown = try Regex("data-total=\"\(key)\">([0-9]+)").firstMatch(in: page)?.output[1]
        .substring
      expect(
        shown.flatMap { Int($0) } ?? 0 == totals?[key] as? Int,
        "\(key): the page has \(shown ?? "none"), the report \(totals?[key] ?? "none")")
    }
  }

  private static func states(_ document: [String: Any]) -> [String: Int] {
    document["totals", "states"] as? [String: Int] ?? [:]
  }
}

extension AccumulationStep {
  fileprivate var isWatch: Bool { if case .watch = self { true } else { false } }
}

/// Random requests, one after the other, over captures of four families: what was asked for before stays done.
@Suite("An output accumulates, whatever is asked for in whatever order", .runsPrograms)
struct AccumulationTests {
  private static let steps = 5
  /// One sequence of so many has workers. The others do the same in the process of the run.
  private static let withWorkers: UInt64 = 8

  /// All, or those that `SCANMILL_SEED` names: one of a failure that was told, or `FIRST-LAST`.
  private static var seeds: [UInt64] {
    let named = (ProcessInfo.processInfo.environment["SCANMILL_SEED"] ?? "").split(separator: "-")
      .compactMap { UInt64($0) }
    guard let first = named.first, let last = named.last, first <= last else {
      return Array(0..<UInt64(Rounds.of(4, soak: 2_000)))
    }
    return Array(first...last)
  }

  @Test(arguments: seeds)
  func sequence(_ seed: UInt64) throws {
    let hasWorkers = seed.isMultiple(of: Self.withWorkers)
    var generator = SeededGenerator(seed: seed &* 7919 &+ 43)
    var model = try AccumulationModel(hasWorkers: hasWorkers)
    var history: [AccumulationStep] = []
    while history.count <= Self.steps, model.problems.isEmpty {
      let step = history.count < Self.steps ? model.next(&generator) : .compare
      history.append(step)
      try model.take(step)
    }
    if model.problems.isEmpty { return }
    let (shortest, problems) = try Self.shortest(history, model.problems, hasWorkers)
    Issue.record("SCANMILL_SEED=\(seed): \(shortest)\n\(problems.joined(separator: "\n"))")
  }

  /// Leaves out one step after the other, as long as the last one, and none before it, does something wrong.
  private static func shortest(
    _ history: [AccumulationStep], _ problems: [String], _ hasWorkers: Bool
  ) throws -> ([AccumulationStep], [String]) {
    var (history, problems) = (history, problems)
    for index in history.indices.dropLast().reversed() {
      var fewer = history
      fewer.remove(at: index)
      var model = try AccumulationModel(hasWorkers: hasWorkers)
      for step in fewer.dropLast() where model.problems.isEmpty { try model.take(step) }
      guard model.problems.isEmpty, let last = fewer.last else { continue }
      try model.take(last)
      if !model.problems.isEmpty { (history, problems) = (fewer, model.problems) }
    }
    return (history, problems)
  }
}
