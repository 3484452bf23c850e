import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("The pipelines that come with the program, on a capture", .runsPrograms)
struct ShippedPipelineTests {
  @Test(
    "Each makes what it says",
    arguments: [
      ("default", ["aligned", "color", "depth", "imu", "preview", "tables"]),
      ("preview", ["aligned", "previews"]),
      (
        "time-offset",
        ["aligned", "color", "depth", "imu", "preview", "tables", "time-offset"]
      ),
      ("quality", ["aligned", "color", "depth", "imu", "preview", "quality", "tables"]),
      ("point-cloud", ["clouds", "color-on-depth"]),
      ("benchmark", ["aligned", "color", "depth", "imu", "tables"]),
    ])
  func folders(name: String, stages: [String]) throws {
    let scene = try Scene("a")
    try scene.run("--pipeline \(name)").succeeds()
    let made = try FileSystem.names(in: scene.output.appending("a"))
      .filter { !$0.hasPrefix(".") && $0 != "capture.json" }
    #expect(made == stages)
    #expect(try scene.run("--pipeline \(name)").errors.contains("nothing to do"))
    if name == "point-cloud" {
      // Of intermediates a plan says nothing.
      let plan = try scene.run("--pipeline point-cloud -n -R clouds").output
      #expect(plan.contains("clouds (forced)\n") && !plan.contains("depth-frames"), "\(plan)")
    }
  }

  @Test("What one makes, no other makes again or takes back")
  func together() throws {
    let scene = try Scene("a")
    var made: [String: Data] = [:]
    for name in [
      "default", "quality", "time-offset", "point-cloud", "preview", "exports", "default",
    ] {
      let result = try scene.run("--pipeline \(name)")
      #expect(result.status == 0, "\(name): \(result.errors)")
      for (stage, record) in made {
        #expect(try Self.records(scene)[stage] == record, "\(name): \(stage)")
      }
      made = try Self.records(scene)
      #expect(made["color"] != nil && made["preview"] != nil)
    }
    #expect(try scene.run().errors.contains("nothing to do"))
  }

  /// The records of what is published, by stage: they tell when it was made.
  private static func records(_ scene: Scene) throws -> [String: Data] {
    let folder = scene.output.appending("a")
    return try FileSystem.names(in: folder).reduce(into: [:]) { records, stage in
      records[stage] = folder.appending("\(stage)/artifact.json").contents
    }
  }

  @Test("The same kind of stage twice, with other parameters, in one pipeline")
  func twice() throws {
    let scene = try Scene("a")
    let pipeline = try scene.pipeline(
      """
        near: {uses: decompress-depth, with: {range: 0m..2m}}
        far: {uses: decompress-depth, with: {range: 2m..9m}}
        near-pictures: {uses: export-images, needs: [near]}
        far-pictures: {uses: export-images, needs: [far]}
      """)
    #expect(try scene.run("--pipeline \(pipeline)").output == "a made 4/4\n")
    let digests = try scene.digests()
    #expect(digests["a/near-pictures"] != digests["a/far-pictures"])
  }

  @Test("An external program's results are published, and only its own changes run it again")
  func command() throws {
    let scene = try Scene("a")
    let script = scene.folder.path.appending("count.sh")
    func pipeline(_ suffix: String) throws -> String {
      try scene.pipeline(
        """
          color: {uses: decode-color}
          depth: {uses: export-images}
          count:
            uses: command
            needs: {pictures: color}
            with:
              command: [sh, \(script), "{input:pictures}", "{output}/count \(suffix).txt", "{{}}"]
              files: [\(script)]
        """)
    }
    try OutputFile.write(
      Array("ls $1/*.png | wc -l > \"$2\"; echo \"$3\" >> \"$2\"".utf8), to: script)
    #expect(try scene.run("--pipeline \(pipeline("a"))").output == "a made 3/3\n")
    let file = scene.output.appending("a/count/count a.txt")
    let text = try MappedFile(file).withBytes { bytes in
      bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
    #expect(text == "12\n{}\n")
    #expect(try scene.run("--pipeline \(pipeline("a"))").errors.contains("nothing to do"))
    #expect(
      try scene.run("--pipeline \(pipeline("b")) -n -v").output
        .contains("count: run, parameters"))
    // Its input, by content only.
    let every = try scene.run("--pipeline \(pipeline("a")) --set color.every=2 -n -v")
    #expect(every.output.contains("count: run, input-rebuilt"))
    #expect(every.output.contains("depth: up-to-date"))
    try OutputFile.write(Array("echo new > \"$2\"".utf8), to: script)
    #expect(
      try scene.run("--pipeline \(pipeline("a")) -n -v").output
        .contains("count: run, input-changed"))
  }

  @Test("A program that writes nothing, or into places of others, has failed")
  func badCommands() throws {
    let scene = try Scene("a")
    for (script, text) in [
      ("true", "wrote nothing into {output}"),
      ("ln -s /etc/passwd {output}/x", "is a symbolic link"),
      ("echo 1 > {output}/artifact.json", "is written by the engine"),
      ("exit 9", "program: sh exited with code 9\n"),
      ("echo one; echo two >&2; exit 9", "sh exited with code 9; its last lines:\none\ntwo\n"),
    ] {
      let pipeline = try scene.pipeline(
        "  odd: {uses: command, with: {command: [sh, -c, \"\(script)\"]}}")
      let result = try scene.run("--pipeline \(pipeline)")
      #expect(result.status == 1)
      #expect(result.errors.contains(text), "\(result.errors)")
      #expect(try scene.digests() == [:])
    }
  }
}

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
    #expect(result.status == 73)
  }
}
