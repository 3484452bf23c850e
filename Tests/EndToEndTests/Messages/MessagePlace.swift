import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// A folder in which a command line goes wrong: `in/a`, a small capture; `done`, the output of a run of it;
/// `empty`; `file.txt`; `photos`, a folder without a capture. Commands run in it, so that messages name
/// short paths.
struct MessagePlace {
  let folder: TemporaryFolder
  var path: FilePath { folder.path }

  /// Made once, copied for each case.
  private static let model = Result {
    let folder = try TemporaryFolder()
    let made = try Program.run(
      "synthesize scannet --output in --frames 3 --seed 3 --width 324 --height 242 --id a",
      in: folder.path)
    try #require(made.status == 0, "\(made.errors)")
    let run = try Program.run("run in/a -o done --until imu", in: folder.path)
    try #require(run.status == 0, "\(run.errors)")
    return folder
  }

  init() throws {
    folder = try TemporaryFolder()
    let model = try Self.model.get().path
    for name in ["in", "done"] {
      try model.appending(name).copy(to: path.appending(name))
    }
    try FileSystem.makeFolder(path.appending("empty"))
    try FileSystem.makeFolder(path.appending("links"))
    try path.appending("links/a").link(to: "../in/a")
    try write("hello\n", "file.txt")
    try write("PK\u{3}\u{4}", "capture.zip")
    try write("x\n", "photos/IMG_1.txt")
  }

  func write(_ text: String, _ name: String) throws {
    let file = path.pushing(FilePath(name))
    try FileSystem.makeFolder(file.removingLastComponent())
    try file.write(text)
  }

  /// More at the end of a file.
  func append(_ text: String, _ name: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path.pushing(FilePath(name)).string))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  func exists(_ name: String) -> Bool { FileSystem.exists(path.pushing(FilePath(name))) }

  func remove(_ name: String) throws { try FileSystem.remove(path.pushing(FilePath(name))) }

  /// The first bytes of a file, the rest lost.
  func cut(_ name: String, to bytes: Int) {
    truncate(path.pushing(FilePath(name)).string, bytes)
  }

  /// A pipeline file of this name with these stages.
  func pipeline(_ stages: String, _ name: String = "p.yaml") throws {
    try write("schema: 1\nstages:\n\(stages)\n", name)
  }

  /// `run in/a -o out` with more words, blanks between them.
  func run(_ more: String = "") throws -> Program.Result { try program("run in/a -o out " + more) }

  func program(_ words: String) throws -> Program.Result {
    try Program.run(words.split(separator: " ").map(String.init), in: path)
  }

  /// - Parameter variables: beside those of the tests.
  func start(_ words: String, _ variables: [String: String] = [:]) throws -> Running {
    try Program.start(
      words.split(separator: " ").map(String.init), in: path,
      environment: ProcessInfo.processInfo.environment.merging(variables) { $1 })
  }
}

extension MessagePlace {
  /// Whether a run of `in/a` into `out` has begun a stage.
  func hasStarted(_ stage: String) -> Bool {
    let runs = path.appending("out/runs")
    return ((try? FileSystem.names(in: runs)) ?? []).contains {
      FileSystem.exists(runs.appending($0).appending("logs/a/\(stage).log"))
    }
  }

  func wait(_ what: String, until condition: () throws -> Bool) throws {
    try Waiting.until(what, condition)
  }
}
