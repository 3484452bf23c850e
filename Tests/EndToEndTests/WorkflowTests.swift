import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Other engines that run scanmill once per capture", .runsPrograms)
struct WorkflowTests {
  static let folder = Fixtures.projectRoot.appending("docs/workflows")

  /// Where a program is: among the readers' programs, or where the shell finds it. `nil`, said once, when it is
  /// nowhere or does not start.
  static func program(_ name: String, _ remedy: String) -> String? {
    let places =
      [Fixtures.projectRoot.appending(".build/readers/bin").string]
      + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    for place in places {
      let path = "\(place)/\(name)"
      guard FileManager.default.isExecutableFile(atPath: path),
        let tried = try? Running(FilePath(path), ["--version"], in: nil).finish(), tried.status == 0
      else { continue }
      return path
    }
    print("skipped: \(name) is not here (\(remedy)): docs/workflows is not tried with it")
    return nil
  }

  static let snakemake = program("snakemake", "pip install snakemake")
  static let parallel = program("parallel", "apt-get install parallel")

  /// `staging/` with three captures, two of which have one id.
  struct Staging {
    let folder: TemporaryFolder
    /// The id that two have, and that of the third.
    var twin = ""
    var single = ""

    init() throws {
      folder = try TemporaryFolder()
      for (seed, place) in [("5", "made"), ("6", "made"), ("5", "again")] {
        try Program.synthesize(
          "strabo --frames 4 --seed \(seed)", to: folder.path.appending(place))
      }
      try FileSystem.makeFolder(staging.appending("again"))
      for (place, into) in [("made", staging), ("again", staging.appending("again"))] {
        for name in try FileSystem.names(in: folder.path.appending(place))
        where !name.hasSuffix(".truth") {
          try FileSystem.rename(
            folder.path.appending(place).appending(name), to: into.appending(name))
          if place == "again" { twin = name }
        }
      }
      single =
        try FileSystem.names(in: staging).first { $0 != twin && $0 != "again" } ?? "none"
    }

    var staging: FilePath { folder.path.appending("staging") }

    /// Digests by `capture/stage`, as a run of our own gives them.
    func expected() throws -> [String: String] {
      try Program.run("run staging --output own", in: folder.path).succeeds()
      return try folder.path.appending("own").digests()
    }

    /// Folders of captures.
    func captures(_ output: String) throws -> [String] {
      try FileSystem.names(in: folder.path.appending(output)).filter {
        ![".scanmill", "runs"].contains($0)
      }
    }
  }

  @Test(
    "The Snakefile runs every capture once, and those of one id into folders of their own",
    .enabled(if: snakemake != nil, "needs snakemake"))
  func runsUnderSnakemake() throws {
    let staging = try Staging()
    let expected = try staging.expected()
    func run(_ more: String...) throws -> Program.Result {
      try Running(
        "/usr/bin/env",
        [
          "XDG_CACHE_HOME=\(staging.folder.path.appending("cache"))", Self.snakemake ?? "", "-s",
          Self.folder.appending("Snakefile").string, "--cores", "2",
        ] + more + [
          "--config", "staging=staging", "output=out", "scanmill=\(Program.path)",
        ], in: staging.folder.path
      ).finish()
    }
    try run().succeeds()
    #expect(
      try staging.captures("out") == [staging.twin, "\(staging.twin)~2", staging.single].sorted())
    #expect(try staging.folder.path.appending("out").digests() == expected)
    let runs = try FileSystem.names(in: staging.folder.path.appending("out/runs")).count
    #expect(runs == 3)
    // Nothing is left to do, also when it looks for new captures.
    try run("-R", "list").succeeds()
    #expect(try FileSystem.names(in: staging.folder.path.appending("out/runs")).count == runs)
    #expect(try staging.folder.path.appending("out").digests() == expected)
  }

  /// The line of the README, with this machine in place of several.
  static func line() throws -> String {
    let text = try folder.appending("README.md").text()
    let line = try #require(text.lines.first { $0.contains("| parallel ") })
    #expect(line.contains("--sshlogin a,b,c "))
    return line.replacingOccurrences(of: "--sshlogin a,b,c ", with: "--sshlogin 2/: ")
  }

  @Test(
    "The line for GNU parallel runs every capture, and those of one id into folders of their own",
    .enabled(if: parallel != nil, "needs GNU parallel"))
  func runsUnderParallel() throws {
    let staging = try Staging()
    let expected = try staging.expected()
    func run() throws -> Program.Result {
      let path = "PATH=\(Program.path.removingLastComponent()):$PATH; export PATH"
      return try Running(
        "/bin/sh", ["-c", "\(path); \(try Self.line())"], in: staging.folder.path
      ).finish()
    }
    for _ in 0..<2 {
      let result = try run()
      #expect(result.status == 0, "\(result.output) \(result.errors)")
      #expect(
        try staging.captures("out") == [staging.twin, "\(staging.twin)~2", staging.single].sorted())
      #expect(try staging.folder.path.appending("out").digests() == expected)
    }
  }

  @Test("A plan names path and family of every capture, also of one that is refused")
  func plan() throws {
    let scene = try Scene("a", "b")
    try FileSystem.makeFolder(scene.output.appending("b"))
    try scene.output.appending("b/mine.txt").write("x")
    let result = try Program.run("run -n --json \(scene.input) --output \(scene.output)")
    let plan = try result.json()
    let captures = try plan.objects("captures")
    #expect(captures.compactMap { $0["id"] as? String } == ["a", "b"])
    #expect(captures.compactMap { $0["family"] as? String } == ["scannet", "scannet"])
    #expect(
      captures.compactMap { $0["path"] as? String }
        == ["a", "b"].map { scene.input.appending($0).string })
    #expect(captures.map { $0["error"] != nil } == [false, true])
    #expect(result.status == 1)
  }
}
