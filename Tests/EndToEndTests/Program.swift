import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// The built binary, run as a user runs it.
enum Program {
  /// Beside the test bundle, in the configuration that the tests were built in.
  static let path: FilePath = {
    #if DEBUG
      let configuration = "debug"
    #else
      let configuration = "release"
    #endif
    return Fixtures.projectRoot.appending(".build").appending(configuration).appending("scanmill")
  }()

  typealias Result = Running.Result

  /// Runs to the end.
  static func run(
    _ arguments: [String], in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Result {
    try start(arguments, in: folder, environment: environment).finish()
  }

  static func run(
    _ words: Words, in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Result {
    try run(words.list, in: folder, environment: environment)
  }

  /// Runs a line of a page, as people type it into a shell: with quotes, in which `scanmill` is the built binary.
  static func run(line: String, in folder: FilePath) throws -> Result {
    var environment = ProcessInfo.processInfo.environment
    environment["PATH"] =
      path.removingLastComponent().string + ":" + (environment["PATH"] ?? "/usr/bin:/bin")
    return try Running("/bin/sh", ["-c", line], in: folder, environment: environment).finish()
  }

  /// Starts without waiting. `environment`: `nil` for that of the tests.
  static func start(
    _ arguments: [String], in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Running {
    try Running(path, arguments, in: folder, environment: environment)
  }

  /// Starts as user `nobody`.
  static func startUnprivileged(_ words: Words) throws -> Running {
    try Running(
      "/usr/bin/setpriv",
      ["--reuid=65534", "--regid=65534", "--clear-groups", path.string] + words.list)
  }

  static func start(
    _ words: Words, in folder: FilePath? = nil, environment: [String: String]? = nil
  ) throws -> Running {
    try start(words.list, in: folder, environment: environment)
  }
}

/// Words of a command line with blanks between them. What is interpolated stays within its word, whatever blanks it
/// has; a list is words of its own.
struct Words: ExpressibleByStringInterpolation {
  let list: [String]

  init(stringLiteral text: String) {
    list = text.split(separator: " ").map(String.init)
  }

  init(stringInterpolation text: StringInterpolation) { list = text.list }

  struct StringInterpolation: StringInterpolationProtocol {
    var list: [String] = []
    /// Whether what follows belongs to the last word.
    private var isOpen = false

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ text: String) {
      for (index, part) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated()
      {
        if index > 0 { isOpen = false }
        if !part.isEmpty { add(String(part)) }
      }
    }

    mutating func appendInterpolation(_ value: some CustomStringConvertible) { add("\(value)") }

    mutating func appendInterpolation(_ words: [String]) {
      list += words
      isOpen = false
    }

    private mutating func add(_ text: String) {
      if isOpen { list[list.count - 1] += text } else { list.append(text) }
      isOpen = true
    }
  }
}

/// Documents that list captures: of runs, `status`, `report` and others.
extension [String: Any] {
  /// The first capture of a document; fails the test where there is none.
  func capture() throws -> [String: Any] { try #require(objects("captures").first) }

  /// The captures of a document by their ids.
  func captures() throws -> [String: [String: Any]] {
    let list = try objects("captures").map { ($0["id"] as? String ?? "", $0) }
    return [String: [String: Any]](list, uniquingKeysWith: { first, _ in first })
  }
}

extension Running.Result {
  /// What was printed, with lines joined that were broken because of the width of the terminal.
  var unwrapped: String { output.replacing("\n      ", with: " ") }
}

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
    (try? folder.path.appending(output).namesBelow().count) ?? 0
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
    (try? self.folder.path.appending("\(output)/\(folder)").namesBelow()) ?? []
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

extension Program {
  /// Runs `synthesize` once for all tests of the process that want the same capture, and copies it to where this one
  /// wants it: rendering takes longer than most of what tests do with a capture. Fails the test where it cannot be made.
  ///
  /// - Parameter words: of `synthesize`, the family first, without `--output`. The truth has no pictures: no test opens them.
  /// - Returns: what was printed, with the paths of the copies.
  @discardableResult
  static func synthesize(_ words: Words, to folder: some CustomStringConvertible) throws -> Result {
    let folder = FilePath("\(folder)")
    let (place, result) = try MadeCaptures.made(
      ["synthesize"] + words.list + ["--truth-pictures", "0"])
    try #require(result.status == 0, "\(result.errors)")
    try FileSystem.makeFolder(folder)
    for name in try FileSystem.names(in: place) {
      try place.appending(name).copy(to: folder.appending(name))
    }
    var copied = result
    copied.outputBytes = Array(
      result.output.replacing(place.string, with: folder.string).utf8)
    return copied
  }
}

extension Program {
  /// Makes `sample-data/` in a folder, of captures with the names of those that come with the sources, and fewer, smaller
  /// frames: for commands of pages, of which the end is looked at alone.
  static func synthesizeSamples(in folder: FilePath) throws {
    let samples = Fixtures.projectRoot.appending("sample-data")
    for name in try FileSystem.names(in: samples) where name.hasSuffix(".truth") {
      let truth = try samples.appending(name).appending("expected.json").json()
      let family = try #require(truth["family"] as? String)
      try synthesize(
        """
        \(family) --frames 8 --width 160 --height 120 --id \(name.dropLast(".truth".count)) \
        \(family == "scannet" ? Scene.smallDepth : [])
        """, to: folder.appending("sample-data"))
    }
  }
}

/// What is made when the first of several tests wants it; the others wait for it.
final class Once<Value: Sendable>: Sendable {
  private let made = Mutex<Value?>(nil)

  func value(_ make: () throws -> Value) throws -> Value {
    try made.withLock { made in
      if let made { return made }
      let value = try make()
      made = value
      return value
    }
  }
}

/// What `synthesize` has made, by its words. Read only.
private enum MadeCaptures {
  private typealias Made = Once<(place: FilePath, result: Program.Result)>

  private static let all = Mutex<[[String]: Made]>([:])

  static func made(_ words: [String]) throws -> (place: FilePath, result: Program.Result) {
    let (made, number) = all.withLock { all in
      let made = all[words] ?? Made()
      all[words] = made
      return (made, all.count)
    }
    // Others that want the same wait for it; who wants another does not.
    return try made.value {
      let place = try TemporaryFolder.ofThisProcess().appending("captures-\(number)")
      return (place, try Program.run(words + ["--output", place.string]))
    }
  }
}
