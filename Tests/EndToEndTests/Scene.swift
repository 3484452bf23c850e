import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// Small ScanNet captures in `in/` and what runs of the built binary make of them.
struct Scene {
  let folder: TemporaryFolder
  var input: FilePath { folder.path.appending("in") }
  var output: FilePath { folder.path.appending("out") }

  /// Depth of fewer pixels than the app records: encoding it would take most of a run.
  static let smallDepth = ["--depth-width", "128", "--depth-height", "96"]

  /// One capture per name, each with its own seed.
  init(_ names: String..., frames: Int = 12, depth: [String] = Scene.smallDepth) throws {
    try self.init(names: names, frames: frames, depth: depth)
  }

  init(names: [String], frames: Int, depth: [String] = Scene.smallDepth) throws {
    folder = try TemporaryFolder()
    for (seed, name) in names.enumerated() {
      try Program.synthesize(
        """
        scannet --frames \(frames) --seed \(seed + 5) --width 324 --height 242 \(depth) \
        --id \(name)
        """, to: input)
    }
  }

  /// One capture `a` of any family; `words`: of `synthesize`, the family first.
  init(synthesizing words: Words) throws {
    folder = try TemporaryFolder()
    let depth = words.list.first == "scannet" ? Self.smallDepth : []
    try Program.synthesize("\(words.list) --id a \(depth)", to: input)
  }

  func file(_ name: String, of capture: String = "a") -> FilePath {
    input.appending(capture).appending(name)
  }

  /// Writes a pipeline and returns its path.
  func pipeline(_ stages: String) throws -> String {
    let path = folder.path.appending("pipeline.yaml")
    try path.write("schema: 1\nstages:\n\(stages)\n")
    return path.string
  }

  func arguments(_ more: [String], to output: String = "out") -> [String] {
    ["run", input.string, "--output", folder.path.appending(output).string] + more
  }

  func run(_ more: Words = "", to output: String = "out") throws -> Program.Result {
    try Program.run(arguments(more.list, to: output))
  }

  func start(_ more: Words = "", to output: String = "out") throws -> Running {
    try Program.start(arguments(more.list, to: output))
  }

  func digests(_ output: String = "out") throws -> [String: String] {
    try folder.path.appending(output).digests()
  }

  /// How many files an output holds, those that are not published yet included.
  func fileCount(_ output: String = "out") -> Int {
    FileManager.default.enumerator(atPath: folder.path.appending(output).string)?
      .reduce(0) { count, _ in count + 1 } ?? 0
  }

  /// Hidden folders of a capture that a finished run must not leave.
  func leftovers(_ output: String = "out") -> [String] {
    let root = folder.path.appending(output)
    return ((try? FileSystem.names(in: root)) ?? []).flatMap { capture in
      ((try? FileSystem.names(in: root.appending(capture))) ?? [])
        .filter { $0 == ".staging" || $0 == ".failed" }.map { "\(capture)/\($0)" }
    }
  }

  /// Names in a folder of the output and in its folders; empty if it is not there. For messages.
  func contents(of folder: String, in output: String = "out") -> [String] {
    let root = self.folder.path.appending("\(output)/\(folder)").string
    return (FileManager.default.subpaths(atPath: root) ?? []).sorted()
  }

  /// Waits until `condition` holds; fails when it does not.
  func wait(
    _ what: String, at location: SourceLocation = #_sourceLocation,
    until condition: () throws -> Bool
  ) throws {
    try Waiting.until(what, at: location, condition)
  }

  /// Whether a run has said that `stage` of `capture` started.
  func hasStarted(_ stage: String, of capture: String = "a", in output: String = "out") -> Bool {
    let runs = folder.path.appending(output).appending("runs")
    return ((try? FileSystem.names(in: runs)) ?? []).contains { run in
      let log = runs.appending(run).appending("logs").appending(capture).appending("\(stage).log")
      return FileSystem.exists(log)
    }
  }
}

extension FilePath {
  /// Output digest by `capture/stage` of an output; empty if it is not there.
  func digests() throws -> [String: String] {
    var digests: [String: String] = [:]
    for capture in (try? FileSystem.names(in: self)) ?? [] where capture != "runs" {
      let folder = appending(name: capture)
      guard FileSystem.isFolder(folder) else { continue }
      for stage in try FileSystem.names(in: folder) where !stage.hasPrefix(".") {
        let record = try folder.appending("\(stage)/artifact.json").contents?.json()
        digests["\(capture)/\(stage)"] = record?["outputDigest"] as? String
      }
    }
    return digests
  }
}

/// Processes of the machine, as `/proc` lists them.
enum Processes {
  /// Children of a process: the workers of a run, and such as wait for an order while captures do.
  static func children(of parent: Int32) -> [Int32] { all.filter { status($0)?.parent == parent } }

  /// Threads of a process, in the order of their numbers.
  static func threads(of process: Int32) -> [Int32] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
    return (names ?? []).compactMap { Int32($0) }.sorted()
  }

  /// Processes whose environment holds `marker`, without those that are waited for only.
  static func marked(_ marker: String) -> [Int32] {
    all.filter { id in
      guard let data = FileManager.default.contents(atPath: "/proc/\(id)/environ") else {
        return false
      }
      return data.range(of: Data(marker.utf8)) != nil && status(id)?.state != "Z"
    }
  }

  /// Expects that there are none any more, soon: what was killed takes a moment to go.
  static func expectNone(_ marker: String, at location: SourceLocation = #_sourceLocation) {
    Waiting.until("the end of what has \(marker)", at: location) { marked(marker).isEmpty }
  }

  private static var all: [Int32] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
  }

  private static func status(_ id: Int32) -> (name: String, state: String, parent: Int32)? {
    guard let data = FileManager.default.contents(atPath: "/proc/\(id)/stat") else { return nil }
    // The name, in parentheses, may hold anything.
    let text = String(decoding: data, as: UTF8.self)
    let name = text.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
    let fields = text.split(separator: ")").last?.split(separator: " ")
    guard let fields, fields.count > 1, let parent = Int32(fields[1]) else { return nil }
    return (String(name), String(fields[0]), parent)
  }
}
