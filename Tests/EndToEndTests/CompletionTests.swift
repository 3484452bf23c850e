import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("Completions", .runsPrograms)
struct CompletionTests {
  /// What is typed, what must be offered, what must not.
  private static let table: [(line: String, offered: [String], withheld: [String])] = [
    (
      "scanmill ", ["run", "watch", "inspect", "synthesize"], ["worker", "look", "generate-manual"]
    ),
    ("scanmill re", ["report"], ["run"]),
    ("scanmill run cap", ["captures"], ["other.txt"]),
    ("scanmill run x --out", ["--output"], []),
    ("scanmill run x --output o", ["out"], ["other.txt"]),
    ("scanmill run x --only ", ["color", "aligned", "tables"], ["depth-frames", "align-depth"]),
    ("scanmill run x --pipeline preview --until ", ["previews"], ["tables"]),
    ("scanmill run x --pipeline own.yaml --only ", ["mine"], ["color"]),
    ("scanmill run x --pipeline p", ["preview", "point-cloud"], ["default"]),
    ("scanmill run x --pipeline o", ["own.yaml"], ["other.txt"]),
    ("scanmill run x --set imu.w", ["imu.window="], ["imu.mode="]),
    ("scanmill run x --export nerfstudio,co", ["nerfstudio,colmap"], []),
    ("scanmill run x --family sc", ["scannet"], ["strabo"]),
    ("scanmill run x --progress ", ["auto", "plain", "none"], []),
    ("scanmill explain frame-g", ["frame-gap"], []),
    ("scanmill status --state qua", ["quarantined"], []),
    ("scanmill status --quality good,p", ["good,poor"], ["good,usable"]),
    ("scanmill list stages align-", ["align-depth", "align-color"], ["preview"]),
    ("scanmill list parameters im", ["imu"], ["color"]),
    ("scanmill synthesize sc", ["scannet"], ["strabo"]),
  ]

  private static let shells = ["bash", "zsh", "fish"].filter {
    PythonScript.isPresent && ForeignPrograms.has($0, else: "completions are not tried in it")
  }

  @Test("Shells offer verbs, options, files, stages and parameters", arguments: shells)
  func offered(in shell: String) throws {
    let place = try TemporaryFolder()
    func make(_ name: String, _ text: String? = nil) throws {
      let path = place.path.appending(name)
      guard let text else { return try FileSystem.makeFolder(path) }
      try OutputFile.write(Array(text.utf8), to: path)
    }
    for name in ["bin", "work", "work/captures", "work/out"] { try make(name) }
    try make("work/own.yaml", "schema: 1\nstages:\n  mine: {uses: decode-color}\n")
    try make("work/other.txt", "")
    try make("script", try Program.run("--generate-completion-script \(shell)").output)
    try make("lines", Self.table.map { $0.line + "\n" }.joined())
    try place.path.appending("bin/scanmill").link(to: Program.path.string)
    let script = Fixtures.projectRoot.appending("Tests/Completions/complete.py")
    let result = try PythonScript.run(
      "/bin/sh",
      [
        "-c", "exec python3 \"$0\" \"$@\" <../lines", script.string, shell,
        place.path.appending("script").string, place.path.appending("bin").string, ".",
      ], nil, place.path.appending("work")
    ).succeeds()
    let answers = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: [String]])
    for (line, offered, withheld) in Self.table {
      // Some shells show that a folder is one.
      let answer = Set((answers[line] ?? []).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 })
      #expect(answer.isSuperset(of: offered), "\(shell): \(line)→ \(answer.sorted())")
      #expect(answer.isDisjoint(with: withheld), "\(shell): \(line)→ \(answer.sorted())")
    }
  }

  @Test("A line that names a broken pipeline is completed by nothing, and says nothing")
  func broken() throws {
    let result = try Program.run(
      ["---completion", "run", "--", "--only", "5", "0"]
        + ["scanmill", "run", "x", "--pipeline", "nowhere.yaml", "--only", ""]
    ).succeeds()
    #expect(result.output.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty)
    #expect(result.errors.isEmpty)
  }
}

@Suite("The command line", .runsPrograms)
struct CommandLineTests {
  @Test("A dry run writes nothing")
  func dryRun() throws {
    let folder = try TemporaryFolder()
    let output = folder.path.appending("out")
    let sample = Fixtures.projectRoot.appending("sample-data").string
    let result = try Program.run("run \(sample) --output \(output) -n").succeeds()
    #expect(result.output.contains("never-built"))
    #expect(!FileSystem.exists(output))
  }

  @Test("The truth of the sample data is what `synthesize` writes today")
  func sampleTruth() throws {
    let samples = Fixtures.projectRoot.appending("sample-data")
    let folder = try TemporaryFolder()
    for name in try FileSystem.names(in: samples) where name.hasSuffix(".truth") {
      let truth = try samples.appending(name).appending("truth.json").json()
      let family = try #require(truth["family"] as? String)
      let seed = try #require(truth["seed"] as? String)
      try Program.synthesize(
        """
        \(family) --frames 2 --width 160 --height 120 --seed \(seed) --id made \
        \(family == "scannet" ? Scene.smallDepth : [])
        """, to: folder.path.appending(family))
      let made = try folder.path.appending(family).appending("made.truth").appending("truth.json")
        .json()
      #expect(Set(truth.keys) == Set(made.keys), "\(family)")
      // The walls depend on the seed alone.
      for key in ["low", "high"] {
        let (kept, now) = (try truth.object("room")[key], try made.object("room")[key])
        #expect(kept as? [Double] == now as? [Double] && kept != nil, "\(family): \(key)")
      }
    }
  }

  @Test("A drawing has the connections that settings ask for, and no others")
  func drawnWithSettings() throws {
    let plain = try Program.run(["graph"])
    let same = try Program.run("graph --set color.quality=90 --set color.format=jpeg")
    #expect(plain.status == 0 && same.output == plain.output)
    func aligned(_ text: String) -> Substring? {
      text.lines.first { $0.hasPrefix("aligned ") }
    }
    #expect(aligned(plain.output)?.contains("color") == false)
    let picked = try Program.run("graph --set color.count=60")
    #expect(
      aligned(picked.output)?.contains("needs depth-frames, color") == true, "\(picked.output)")
    #expect(try Program.run("graph --set color.pick").status == 64)
    #expect(try Program.run("graph --set color.pik=sharpest").status == 64)
  }

  @Test(
    "Every pipeline that comes with the program can be drawn",
    arguments: [
      ("default", "thumbnail"), ("preview", "preview"), ("point-cloud", "export-ply"),
      ("benchmark", "align-depth"),
    ])
  func pipelines(_ name: String, holds kind: String) throws {
    for format in ["text", "dot", "mermaid"] {
      let result = try Program.run("graph \(name) --format \(format)").succeeds()
      #expect(result.output.contains(kind))
    }
  }
}

/// Pages whose commands work one after the other in a folder that holds `sample-data/`.
@Suite("The README, and pages with commands like it", .runsPrograms)
struct ReadmeTests {
  /// The commands of the `sh` blocks of a page, in order.
  static func commands(of page: String) throws -> [String] {
    let file = Fixtures.projectRoot.pushing(FilePath(page))
    var commands: [String] = []
    var isShell = false
    for line in try file.text().lines {
      if line.hasPrefix("```") {
        isShell = line == "```sh"
      } else if isShell {
        commands.append(String(line))
      }
    }
    return commands
  }

  @Test(
    "Every command works, one after the other",
    arguments: [
      ("README.md", 12), ("docs/tasks.md", 25), ("docs/looking.md", 1), ("docs/pictures.md", 2),
      ("docs/quality.md", 3),
    ])
  func everyCommand(page: String, atLeast: Int) throws {
    let commands = try Self.commands(of: page)
    #expect(commands.count >= atLeast)
    let folder = try TemporaryFolder()
    try Program.synthesizeSamples(in: folder.path)
    for command in commands {
      #expect(command.hasPrefix("scanmill "), "\(command)")
      let result = try Program.run(line: command, in: folder.path)
      #expect(result.status == 0, "\(command): \(result.errors)")
    }
  }

  @Test("A newcomer reads less than 150 lines")
  func length() throws {
    let readme = try Fixtures.projectRoot.appending("README.md").text()
    #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count < 150)
  }
}

@Suite("Licenses", .runsPrograms)
struct LicenseTests {
  /// The names in the first column of the tables of docs/licenses.md, by section.
  private static func named(_ section: String) throws -> Set<String> {
    let file = Fixtures.projectRoot.appending("docs/licenses.md")
    var names: Set<String> = []
    var isHere = false
    for line in try file.text().lines {
      if line.hasPrefix("## ") { isHere = line == "## \(section)" }
      if isHere, line.hasPrefix("| `") {
        names.insert(String(line.dropFirst("| `".count).prefix { $0 != "`" }))
      }
    }
    return names
  }

  @Test("The page names exactly the Swift packages that the build resolves")
  func packages() throws {
    // Not Package.resolved: `make demo` writes it for the program alone, and later builds leave it so.
    let state = try Fixtures.projectRoot.appending(".build/workspace-state.json").json()
    let dependencies = state["object", "dependencies"] as? [[String: Any]]
    let pins = (dependencies ?? []).compactMap {
      $0["packageRef", "identity"] as? String
    }
    #expect(!pins.isEmpty)
    let inFiles = try Self.named("In the file of the installed program")
    let fetched = try Self.named("Fetched and in no file")
    #expect(inFiles.isDisjoint(with: fetched))
    #expect(inFiles.union(fetched) == Set(pins))
  }

  @Test("The page names exactly the libraries that the program needs or loads")
  func libraries() throws {
    // `scanmill-send` is a program of its own, beside it.
    let sender = Program.path.removingLastComponent().appending("scanmill-send")
    let output = try [Program.path, sender].map {
      try Running("/usr/bin/env", ["readelf", "-d", $0.string], in: nil).finish().output
    }.joined()
    let linked = output.matches(of: /\(NEEDED\).*\[(.+?)\.so/).map { String($0.output.1) }
    #expect(linked.count > 8)
    // Libraries of the toolchain: in the installed program they are in its file.
    let runtime = [
      "libswift", "libFoundation", "libdispatch", "libBlocksRuntime", "lib_Foundation",
    ]
    var needed = Set(
      linked.filter { name in !runtime.contains { name.hasPrefix($0) } }
        .map { $0.hasPrefix("ld-linux") ? "ld-linux" : $0 })
    for module in ["CFFmpeg", "CZimg", "CHDF5"] {
      let functions = Fixtures.projectRoot.appending("Sources/\(module)/functions.h")
      let list = try functions.text()
      let macros = list.lines.filter { $0.hasPrefix("F(") }
      #expect(!macros.isEmpty)
      needed.formUnion(macros.map { "lib" + $0.dropFirst("F(".count).prefix { $0 != "," } })
    }
    // Loaded without a module of C (LoadedLibrary).
    needed.formUnion(["libsqlite3", "libxml2"])
    // The runtime of Swift needs these two: in the installed program it is in the file, here it is apart.
    needed.formUnion(["libstdc++", "libgcc_s"])
    let named = try Self.named("Libraries of the system")
    #expect(named == needed, "\(named.symmetricDifference(needed).sorted())")
  }
}
