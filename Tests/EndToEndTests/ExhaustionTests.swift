import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Threads, descriptors and memory used up", .runsPrograms)
struct ExhaustionTests {
  private static func shell(_ script: String) throws -> Program.Result {
    try Running(
      "/bin/bash", ["-c", script.replacing("%", with: "'\(Program.path)'")], in: nil
    ).finish()
  }

  /// Two captures and what an undisturbed run makes of them, in `whole`; made once, each test has an output of its own.
  private static let scene = Result {
    let scene = try Scene("a", "b")
    let run = try scene.run(to: "whole")
    try #require(run.status == 0, "\(run.errors)")
    return scene
  }

  @Test(
    "With few descriptors, little address space, or small files only, a run ends, says so, and a later one completes",
    arguments: Rounds.every(
      2,
      of: [
        "-n 8", "-n 12", "-n 20", "-n 40", "-n 80", "-v 200000", "-v 400000", "-v 800000", "-f 8",
        "-f 64",
      ]))
  func limits(limit: String) throws {
    let scene = try Self.scene.get()
    let name = "out\(limit.filter { $0 != " " })"
    let output = scene.folder.path.appending(name)
    let result = try Self.shell(
      "ulimit \(limit); exec timeout -k 5 120 % run \(scene.input) --output \(output) -j 2")
    #expect(result.status != 124 && result.status != 137, "\(result.errors)")
    let isWhole = try scene.digests(name) == scene.digests("whole")
    #expect((result.status == 0) == isWhole, "\(limit): \(result.status) \(result.errors)")
    if result.status != 0 { #expect(!result.errors.isEmpty) }
    if limit.hasPrefix("-f") { #expect(result.status == 73, "\(result.errors)") }
    try scene.run(to: name).succeeds()
    #expect(try scene.digests(name) == scene.digests("whole"))
  }

  /// Runs a line where `/proc` is empty.
  private static func withoutProc(_ line: String) throws -> Program.Result {
    try shell("exec unshare -m sh -c 'mount -t tmpfs none /proc && \(line)'")
  }

  private static let canHideProc = (try? withoutProc("true"))?.status == 0

  @Test(
    "Without /proc a verb that needs none works, and one that needs it says so with 70",
    .enabled(if: canHideProc, "needs unshare and mount"))
  func noProc() throws {
    let scene = try Self.scene.get()
    let stages = try Self.withoutProc("\(Program.path) list stages")
    #expect(stages.status == 0 && stages.output.contains("align-depth"), "\(stages.errors)")
    let run = try Self.withoutProc(
      "\(Program.path) run \(scene.input) --output \(scene.folder.path)/noproc")
    #expect(run.status == 70 && run.errors.contains("/proc"), "\(run.errors)")
  }

  static let canChangeUser = getuid() == 0 && FileSystem.exists("/usr/bin/setpriv")

  @Test(
    "With few processes and threads a run ends by itself, and SIGTERM ends it",
    .enabled(if: canChangeUser, "needs root and setpriv"),
    arguments: Rounds.every(4, of: [1, 2, 3, 4, 6, 8, 12, 16, 24, 40]))
  func processes(count: Int) throws {
    let scene = try Scene("a")
    // The user id is that of no other process.
    let user = 70_000 + Int(getpid() % 10_000) * 40 + count
    let run = "run \(scene.input) --output \(scene.output)"
    let result = try Self.shell(
      """
      chmod -R a+rX \(scene.folder.path) && mkdir -m 777 \(scene.output)
      exec setpriv --reuid \(user) --clear-groups \\
        bash -c 'ulimit -u \(count); exec timeout -k 5 120 "$0" \(run)' %
      """)
    #expect(result.status != 124 && result.status != 137, "\(result.errors)")
    if result.status != 0 { #expect(!result.errors.isEmpty) }
  }
}
