import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

/// Workers come from a process that is forked off early, or, where that is not possible, from the program
/// executed again: as with a word to the runtime about crashes.
@Suite("Workers from a prepared process")
struct PreparedWorkerTests {
  /// Starts the program so that it executes its workers.
  private static func executing(_ arguments: [String]) throws -> Running {
    try Running(
      "/usr/bin/env", ["SWIFT_BACKTRACE=enable=no", Program.path.string] + arguments, in: nil)
  }

  /// Writes what can be seen of the worker from outside, and of what a program that it starts is given.
  private static let look = """
    worker=$(sed 's/.*) [A-Z] //; s/ .*//' /proc/$PPID/stat)
    tr '\\0' '\\n' < /proc/$worker/environ | grep -c ^SWIFT_BACKTRACE > $1/way
    exec > $1/seen
    cat /proc/$worker/limits /proc/$worker/oom_score_adj
    grep -E '^(Sig(Blk|Ign|Cgt)|Cap|NoNew|Umask|Uid|Groups)' /proc/$worker/status
    sed 's/.*) [A-Z] //' /proc/$worker/stat | awk -v worker=$worker '{print ($2 == worker), $5, $17}'
    tr '\\0' '\\n' < /proc/$worker/cmdline | sed -n 2p
    readlink /proc/$worker/exe /proc/$worker/cwd
    cat /proc/$worker/comm
    ls -l /proc/$worker/fd | grep -oE '(pipe|socket|null|stderr|stdout)' | sort | uniq -c
    env | grep -v '^_=' | sort
    ulimit -a
    """

  @Test(
    "Limits, signals, group, descriptors, environment and names are those of an executed worker",
    arguments: [["run"], ["watch", "--once", "--settle", "0s", "--nice"]])
  func sameFromOutside(verb: [String]) throws {
    let scene = try Scene("a", frames: 2)
    let script = scene.folder.path.appending("look.sh")
    try Data(Self.look.utf8).write(to: URL(filePath: script.string))
    let pipeline = try scene.pipeline(
      "  look: {uses: command, with: {command: [sh, \(script), \"{output}\"]}}")
    let (forked, executed) = ("forked", "executed")
    for way in [forked, executed] {
      let arguments =
        verb.prefix(1) + [scene.input.string] + verb.dropFirst() + [
          "--pipeline", pipeline, "--memory", "2GB", "--output",
          scene.folder.path.appending(way).string,
        ]
      let running =
        try way == forked ? Program.start(Array(arguments)) : Self.executing(Array(arguments))
      let result = try running.finish()
      try #require(result.status == 0, "\(result.errors)")
    }
    func seen(_ way: String, _ name: String) throws -> [String] {
      let file = scene.folder.path.appending(way).appending("a/look").appending(name)
      return try String(contentsOfFile: file.string, encoding: .utf8).split(separator: "\n")
        .map { String($0).replacing(way, with: "") }
    }
    #expect(try seen(forked, "way") == ["0"] && seen(executed, "way") == ["1"])
    #expect(try seen(forked, "seen").count > 30)
    #expect(try seen(forked, "seen") == seen(executed, "seen"))
  }

  @Test(
    "Without the prepared process workers are executed, with the same results",
    arguments: [SIGKILL, SIGSEGV], [true, false])
  func killed(signal: Int32, isBeforeFirst: Bool) throws {
    let scene = try Scene("a", "b", "c", frames: 2)
    let pipeline = try scene.pipeline("  color: {uses: decode-color}")
    #expect(try scene.run("--pipeline", pipeline, "-j", "1", to: "whole").status == 0)
    let running = try scene.start("--pipeline", pipeline, "-j", "1")
    let id = running.process.processIdentifier
    try scene.wait("the prepared process") { Processes.spare(of: id) != nil }
    if !isBeforeFirst { try scene.wait("a worker") { !Processes.children(of: id).isEmpty } }
    let spare = try #require(Processes.spare(of: id))
    kill(spare, signal)
    let result = try running.finish()
    #expect(result.status == 0)
    #expect(result.output == "a done 1/1\nb done 1/1\nc done 1/1\n")
    #expect(try scene.digests() == scene.digests("whole"))
    #expect(scene.leftovers().isEmpty)
  }

  @Test(
    "The prepared process ends with the run, also when that is killed", arguments: [true, false])
  func end(isKilled: Bool) throws {
    let scene = try Scene("a", frames: 2)
    let pipeline = try scene.pipeline("  slow: {uses: command, with: {command: [sleep, \"3\"]}}")
    let running = try scene.start("--pipeline", pipeline)
    let id = running.process.processIdentifier
    try scene.wait("the prepared process") { Processes.spare(of: id) != nil }
    let spare = try #require(Processes.spare(of: id))
    if isKilled { kill(id, SIGKILL) }
    _ = try running.finish()
    try scene.wait("its end") { kill(spare, 0) != 0 }
  }

  @Test("A library of FFmpeg that cannot be loaded is named before anything is begun")
  func noLibrary() throws {
    let scene = try Scene("a", frames: 1)
    let libraries = scene.folder.path.appending("lib")
    try FileSystem.makeFolder(libraries)
    let target = try #require(
      try Program.run(["--version"]).output.split(separator: "\n").first {
        $0.hasPrefix("libavcodec")
      }?.split(separator: " ").last?.split(separator: ".").first)
    let name = "libavcodec.so.\(target)"
    try Data("no library".utf8).write(to: URL(filePath: libraries.appending(name).string))
    let result = try Running(
      "/usr/bin/env",
      ["LD_LIBRARY_PATH=\(libraries)", Program.path.string] + scene.arguments([]), in: nil
    ).finish()
    #expect(result.status == 1)
    #expect(result.errors.contains("\(name) cannot be loaded: "))
    #expect(!FileSystem.exists(scene.output))
  }
}
