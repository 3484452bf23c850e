import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Standard output that cannot be written, and descriptors that are closed", .runsPrograms)
struct StandardStreamTests {
  /// Runs the program in a shell; `%` stands for it.
  private static func shell(_ script: String) throws -> Program.Result {
    try Running(
      "/bin/sh", ["-c", script.replacing("%", with: "'\(Program.path)'")], in: nil
    ).finish()
  }

  @Test(
    "A result that does not fit is exit 73 and says so; so is one on a closed standard output",
    arguments: [
      "list stages", "list stages --json", "graph", "--version", "--help",
    ], [">/dev/full", ">&-"])
  func full(verb: String, output: String) throws {
    let result = try Self.shell("% \(verb) \(output)")
    #expect(result.status == 73)
    #expect(result.errors.contains("error: standard output: "))
  }

  @Test("A run whose summary does not fit has done its work and is exit 73")
  func run() throws {
    let scene = try Scene("a")
    for json in ["", "--json"] {
      let result = try Self.shell(
        "% run \(scene.input) --output \(scene.output) \(json) >/dev/full")
      #expect(result.status == 73)
      #expect(FileSystem.exists(scene.output.appending("a/tables/artifact.json")))
    }
  }

  @Test("A pipe that nobody reads is silent and changes no exit code")
  func pipe() throws {
    let result = try Self.shell(
      "{ % list stages --json; echo code $? >&2; } | true; { % graph nonsense; echo code $? >&2; } | true"
    )
    #expect(!result.errors.contains("standard output"))
    #expect(result.errors.contains("code 0\n"))
    #expect(!result.errors.contains("code 141"))
  }

  @Test("With standard descriptors closed no text lands in a file of the run")
  func closed() throws {
    let scene = try Scene("a")
    let result = try Self.shell(
      "% run \(scene.input) --output \(scene.output) -v <&- >&- 2>&-; echo code $?")
    #expect(result.output == "code 73\n")
    let runs = scene.output.appending("runs")
    let run = try #require(try FileSystem.names(in: runs).first)
    let events = try runs.appending(run).appending("events.jsonl").text()
    for line in events.lines {
      #expect(line.hasPrefix("{") && line.hasSuffix("}"), "\(line)")
    }
    #expect(FileSystem.exists(scene.output.appending("a/tables/artifact.json")))
  }

  @Test("With -v stages with nothing to do are told in every form")
  func verbose() throws {
    let scene = try Scene("a")
    try Program.run(scene.arguments([])).succeeds()
    for form in [[], ["--progress", "none"], ["--log-format", "text"], ["--log-format", "json"]] {
      let told = try Program.run(scene.arguments(["-v"] + form)).succeeds().errors
      #expect(told.contains(#/tables.*up.to.date|up.to.date.*tables/#), "\(form): \(told)")
      if form.last == "json" {
        #expect(told.lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") }, "\(told)")
      }
    }
  }

  @Test(
    "A log that nobody reads stops no run",
    arguments: ["", "--log-format text", "--log-format json", "-v"])
  func unreadErrors(_ options: String) throws {
    let scene = try Scene("a")
    let pipe = try FullPipe(at: scene.folder.path.appending("errors"))
    defer { withExtendedLifetime(pipe) {} }
    let result = try Self.shell(
      "% run \(scene.input) --output \(scene.output) \(options) 2>\(pipe.path); echo code $?")
    #expect(result.output.hasSuffix("code 0\n"))
    #expect(FileSystem.exists(scene.output.appending("a/tables/artifact.json")))
  }

  @Test("A log that nobody reads keeps no watcher from its work, nor from its end")
  func unreadWatcher() throws {
    let scene = try WatchScene()
    try scene.put("a")
    let pipe = try FullPipe(at: scene.folder.path.appending("errors"))
    defer { withExtendedLifetime(pipe) {} }
    let watcher = try Running(
      "/bin/sh",
      ["-c", "exec \"$0\" \"$@\" 2>\(pipe.path)", Program.path.string] + scene.words())
    Waiting.until("a capture that is processed") {
      FileSystem.exists(scene.output.appending("a/count/artifact.json"))
    }
    watcher.process.terminate()
    #expect(try watcher.finish().status == 143)
  }
}
