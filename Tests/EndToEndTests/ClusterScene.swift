import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Small captures, and a batch system that runs them: the same tree by a local run into `local/`.
struct ClusterScene {
  let scene: Scene
  let environment: [String: String]
  /// Named in `--profile` of every run.
  let profile: String
  let pipeline: String

  /// Quick stages: one of the program's own in two steps, and a program of somebody else.
  static let stages = """
      color: {uses: decode-color}
      imu: {uses: match-imu}
      note:
        uses: command
        needs: [color]
        with: {command: [sh, -c, "sleep 0.2; echo note > {output}/note"]}
    """

  /// - Parameters:
  ///   - environment: that finds a batch system.
  ///   - stages: of the pipeline; `SCENE` stands for the scene's folder.
  ///   - more: lines of the profile's `slurm`, each `key: value`; later ones win.
  ///   - isOld: whether the captures have not changed for some seconds: what has is looked at anew by an
  ///     element of the next run.
  init(
    _ names: [String], _ environment: [String: String], stages: String = ClusterScene.stages,
    profile more: [String: String] = [:], isOld: Bool = false
  ) throws {
    scene = try Scene(names: names, frames: 2)
    if isOld { Waiting.untilAged(scene.input, seconds: 2.1) }
    self.environment = environment
    pipeline = try scene.pipeline(
      stages.replacingOccurrences(of: "SCENE", with: scene.folder.path.string))
    let values = [
      "cpus": "1", "memory": "2GB", "maxMemory": "8GB", "time": "10m", "poll": "1s",
      "patience": "30s", "group": "1",
    ].merging(more) { $1 }
    let lines = values.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)\n" }
    let path = scene.folder.path.appending("profile.yaml")
    try path.write("schema: 1\nexecutor: slurm\nslurm:\n\(lines.joined())")
    profile = path.string
  }

  func path(_ name: String) -> String { scene.folder.path.appending(name).string }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  func touch(_ name: String) {
    _ = FileManager.default.createFile(atPath: path(name), contents: nil)
  }

  func arguments(_ more: [String], to output: String) -> [String] {
    scene.arguments(["--pipeline", pipeline, "--profile", profile] + more, to: output)
  }

  /// A run of the cluster to its end.
  func run(_ more: Words = "", to output: String = "out") throws -> Program.Result {
    try Program.run(arguments(more.list, to: output), environment: environment)
  }

  func start(_ more: Words = "", to output: String = "out") throws -> Running {
    try Program.start(arguments(more.list, to: output), environment: environment)
  }

  /// A local run, for comparison.
  func local() throws -> Program.Result {
    try Program.run(scene.arguments(["--pipeline", pipeline], to: "local"))
  }

  /// Runs that have begun on the output.
  var runCount: Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: path("out/runs"))) ?? []).count
  }

  /// With a limit of time that a busy machine does not reach.
  func wait(
    at location: SourceLocation = #_sourceLocation, until condition: () throws -> Bool
  ) rethrows {
    try Waiting.until("the cluster", at: location, condition)
  }

  /// Whether any run on the output has told this.
  func hasSaid(_ words: String) -> Bool {
    let runs = scene.output.appending("runs")
    return ((try? FileSystem.names(in: runs)) ?? []).contains { run in
      let events = runs.appending(run).appending("events.jsonl").string
      guard let data = FileManager.default.contents(atPath: events) else { return false }
      return data.range(of: Data(words.utf8)) != nil
    }
  }

  /// Files of results of all runs on an output.
  func resultFiles(_ output: String = "out") -> [FilePath] {
    let runs = scene.folder.path.appending(output).appending("runs")
    return ((try? FileSystem.names(in: runs)) ?? []).sorted().flatMap { run in
      let folder = runs.appending(run).appending("slurm").appending("results")
      return ((try? FileSystem.names(in: folder)) ?? []).sorted().map { folder.appending($0) }
    }
  }

  /// How often each stage was begun by elements, as `capture/stage`.
  func begun(_ output: String = "out") throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for file in resultFiles(output) {
      let data = try file.data()
      for line in data.split(separator: UInt8(ascii: "\n")) {
        guard let object = try? JSONSerialization.jsonObject(with: line) as? [String: Any],
          let outer = object["event"] as? [String: Any]
        else { continue }
        let event = outer["_0"] as? [String: Any] ?? outer
        guard event["kind"] as? String == "started", let capture = event["capture"] as? String,
          let stage = event["stage"] as? String
        else { continue }
        counts["\(capture)/\(stage)", default: 0] += 1
      }
    }
    return counts
  }
}

extension ClusterScene {
  /// What a local run gives.
  struct LocalRun: Sendable {
    var result: Program.Result
    var digests: [String: String]
    var leftovers: [String]
  }

  func localRun() throws -> LocalRun {
    let result = try local()
    return LocalRun(
      result: result, digests: try scene.digests("local"), leftovers: scene.leftovers("local"))
  }

  /// Expects what a local run gives: code, words, bytes, and nothing done twice.
  ///
  /// - Parameters:
  ///   - known: what a local run of the same captures and stages gives; `nil`: it is run here.
  ///   - isFirst: without it elements of an earlier run may have made what is up to date for this one; so may elements that are
  ///     tried again (`isOnce` is false).
  func expectLikeLocal(
    _ result: Program.Result, as known: LocalRun? = nil, in output: String = "out",
    isOnce: Bool = true, isFirst: Bool = true, _ comment: Comment? = nil,
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let local = try known ?? localRun()
    let note: Comment = "\(comment?.rawValue ?? "") \(result.errors)"
    #expect(result.status == local.result.status, note, sourceLocation: location)
    let said =
      isFirst && isOnce ? result.output : result.output.replacing(" up-to-date ", with: " made ")
    #expect(said == local.result.output, note, sourceLocation: location)
    let digests = try scene.digests(output)
    #expect(digests == local.digests, note, sourceLocation: location)
    #expect(!digests.isEmpty, sourceLocation: location)
    // What failed keeps what it had made, here as there.
    #expect(scene.leftovers(output) == local.leftovers, sourceLocation: location)
    guard isOnce else { return }
    let twice = try begun(output).filter { $0.value > 1 }
    #expect(twice == [:], note, sourceLocation: location)
  }
}

extension FakeSlurm.Call {
  /// The value of an option of a call, such as `--mem`.
  func value(_ option: String) -> String? {
    arguments.first { $0.hasPrefix("\(option)=") }.map { String($0.dropFirst(option.count + 1)) }
  }
}

extension FakeSlurm {
  /// Expects that nothing waits or runs any more, soon: a run ends with the last word of its elements, and
  /// their processes, and what watches over those, a moment later.
  func expectEmptyQueue(at location: SourceLocation = #_sourceLocation) throws {
    try Waiting.until("an empty queue", at: location) { try queue().isEmpty }
  }
}
