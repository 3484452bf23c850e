import Foundation
import Storage
import SystemPackage
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Files and folders that may not be read, through the built binary as user `nobody`.
@Suite(.enabled(if: Unprivileged.isPossible, "needs to give up being root"))
struct UnreadableFileTests {
  private let folder: TemporaryFolder
  private var input: FilePath { folder.path.appending("in") }
  private var capture: FilePath { input.appending("c") }

  init() throws { folder = try TemporaryFolder() }

  private func make(_ family: String) throws {
    let made = try Program.run([
      "synthesize", family, "--output", input.string, "--frames", "3", "--id", "c",
    ])
    try #require(made.status == 0, "\(made.errors)")
  }

  private func run(_ name: String) throws -> Program.Result {
    let output = folder.path.appending(name)
    try FileSystem.makeFolder(output)
    #expect(chown(output.string, 65534, 65534) == 0)
    return try Running(
      "/usr/bin/setpriv",
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", Program.path.string, "run",
        capture.string, "--output", output.string, "--json", "-q",
      ], in: nil
    ).finish()
  }

  private func outcomes(_ result: Program.Result) throws -> [String: String] {
    let captures = try result.json()["captures"] as? [[String: Any]] ?? []
    let stages = captures.flatMap { $0["stages"] as? [[String: Any]] ?? [] }
    return Dictionary(
      stages.map { ($0["stage"] as? String ?? "", $0["outcome"] as? String ?? "") }
    ) { first, _ in first }
  }

  @Test(arguments: ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"])
  func `no file that may not be read is taken for missing`(family: String) throws {
    try make(family)
    let whole = try outcomes(run("whole"))
    #expect(!whole.isEmpty)
    for name in try FileSystem.names(in: capture) {
      let file = capture.appending(name)
      #expect(chmod(file.string, 0) == 0)
      let result = try run("without-\(name)")
      #expect(chmod(file.string, 0o755) == 0)
      let said = result.output + result.errors
      let now = (try? outcomes(result)) ?? [:]
      // Without color the pictures to look at have nothing to show; color itself fails.
      let lost = now.filter {
        $0.value == "not-applicable" && whole[$0.key] != "not-applicable"
          && !($0.key == "preview" && now["color"] == "failed")
      }
      #expect(lost.isEmpty, "\(family) without \(name)")
      // What no stage reads may be shut without harm.
      if result.status != 0 || now != whole {
        #expect(result.status == 1 || result.status == 65, "\(family) without \(name): \(said)")
        #expect(said.contains("permission denied"), "\(family) without \(name): \(said)")
        #expect(!said.contains("\(name) is missing"), "\(family) without \(name)")
      }
    }
  }

  @Test func `a folder that may not be read is no folder that is not there`() throws {
    try make("strabo")
    #expect(chmod(capture.string, 0) == 0)
    let result = try run("out")
    #expect(chmod(capture.string, 0o755) == 0)
    #expect(result.status == 65)
    #expect(result.errors.contains("permission denied"))
    #expect(!result.errors.contains("no such"))
  }

  @Test func `what could not be searched makes a run fail`() throws {
    try make("strabo")
    let shut = capture.removingLastComponent().appending("shut")
    try FileSystem.makeFolder(shut)
    #expect(chmod(shut.string, 0) == 0)
    let output = folder.path.appending("out")
    try FileSystem.makeFolder(output)
    #expect(chown(output.string, 65534, 65534) == 0)
    let result = try Running(
      "/usr/bin/setpriv",
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", Program.path.string, "run",
        input.string, "--output", output.string,
      ], in: nil
    ).finish()
    #expect(chmod(shut.string, 0o755) == 0)
    #expect(result.status == 1, "\(result.errors)")
    #expect(result.output.contains("c done"))
    #expect(result.errors.contains("permission denied"))
  }
}
