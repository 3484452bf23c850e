import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// Outputs that overlap captures, through the built binary: refused before anything is made.
@Suite(.runsPrograms) struct OutputRefusalTests {
  private let folder: TemporaryFolder
  private var place: FilePath { folder.path.appending("x") }

  init() throws {
    folder = try TemporaryFolder()
    for (id, family) in [("a", "strabo"), ("b", "scannet")] {
      try Program.synthesize("\(family) --frames 3 --width 160 --height 120 --id \(id)", to: place)
    }
  }

  private func run(_ input: String, _ output: String, _ more: String...) throws -> Program.Result {
    try Program.run(
      [
        "run", folder.path.pushing(FilePath(input)).string, "--output",
        output.isEmpty ? "" : folder.path.pushing(FilePath(output)).string,
      ] + more)
  }

  @Test(arguments: [
    ("x", "x"), ("x/a", "x/a"), ("x/a", "x/a/results/deep"), ("x/b", "x/b"), ("x/b", "x/b/out"),
    ("x/a", "x/b/out"), ("x/a", "x"), ("x", ""),
  ])
  func `an output that is a capture, lies in one or holds one is refused`(
    input: String, output: String
  ) throws {
    let before = try folder.path.namesBelow()
    for dryRun in [[], ["-n"]] {
      let result = try Program.run(
        [
          "run", folder.path.pushing(FilePath(input)).string, "--output",
          output.isEmpty ? "" : folder.path.pushing(FilePath(output)).string,
        ] + dryRun)
      #expect(result.status == 64, "\(result.errors)")
      #expect(result.errors.contains("--output"))
    }
    #expect(try folder.path.namesBelow() == before)
  }

  @Test func `an output that is the folder of results, or lies in one, is refused`() throws {
    try run("x/a", "out", "--only", "tables").succeeds()
    let before = try folder.path.namesBelow()
    for (input, output) in [("x/b", "out/a"), ("x/b", "out/a/more"), ("x/a", "out/a/tables/deep")] {
      let result = try run(input, output)
      #expect(result.status == 64, "\(result.errors)")
      #expect(result.errors.contains("the output that they belong to, "), "\(result.errors)")
      let watched = try Program.run(
        "watch \(place) -o \(folder.path.pushing(FilePath(output))) --once --settle 0s")
      #expect(
        watched.status == 64 && watched.errors.contains("the output that they belong to, "),
        "\(watched.errors)")
    }
    #expect(try folder.path.namesBelow() == before)
  }

  @Test func `somebody else's capture where results would go is refused`() throws {
    try FileSystem.makeFolder(folder.path.appending("other"))
    try FileSystem.rename(place.appending("b"), to: folder.path.appending("b"))
    try FileSystem.rename(place.appending("a"), to: place.appending("b"))
    let before = try folder.path.namesBelow()
    #expect(try run("b", "x").status == 64)
    #expect(try folder.path.namesBelow() == before)
  }

  @Test func `an output inside the searched tree is left out of the search`() throws {
    for _ in 0..<2 {
      let result = try run("x", "x/out").succeeds()
      #expect(result.output.lines.count == 2)
    }
    // Also when results go elsewhere.
    #expect(try run("x", "elsewhere").output.lines.count == 2)
  }

  @Test func `a capture whose folder is of others needs a person in every view`() throws {
    try FileSystem.makeFolder(folder.path.appending("out/a"))
    try folder.path.appending("out/a/notes.txt").write("mine")
    let output = folder.path.appending("out")
    #expect(try run("x/a", "out").status == 73)
    let plan = try run("x/a", "out", "-n")
    #expect(plan.status == 73, "\(plan.output)\(plan.errors)")
    #expect(
      plan.output.contains("a: cannot be written: ") && plan.output.contains("1 capture: 1 blocked")
        && !plan.output.contains("cannot be read"), "\(plan.output)")
    for verb in ["status", "report"] {
      let told = try Program.run("\(verb) \(output) --json --exit-code")
      #expect(told.status == 1, "\(verb): \(told.errors)")
      #expect(try told.json().captures()["a"]?["state"] as? String == "failed", "\(verb)")
    }
    // Of a place that is gone nothing needs a person.
    try FileSystem.rename(place.appending("a"), to: folder.path.appending("a"))
    #expect(try Program.run("status \(output) --exit-code").status == 0)
    try FileSystem.rename(folder.path.appending("a"), to: place.appending("a"))
    try FileSystem.remove(output.appending("a"))
    try run("x/a", "out", "--until", "tables").succeeds()
    #expect(try Program.run("status \(output) --exit-code").status == 0)
  }
}

/// Names that are not UTF-8, through the built binary.
@Suite(.runsPrograms) struct OddNameTests {
  private let folder: TemporaryFolder
  private var input: FilePath { folder.path.appending("in") }

  init() throws { folder = try TemporaryFolder() }

  /// A small capture of `family` whose folder, and stem where it has one, hold byte 0xFF; its new place
  /// and the name of its results.
  private func makeOdd(_ family: String) throws -> (FilePath, name: String) {
    try Program.synthesize("\(family) --frames 4 --width 160 --height 120 --id plain", to: input)
    let plain = input.appending("plain")
    let odd = input.appending(name: PathText.text(of: Array("x".utf8) + [0xFF, 0x79]))
    let isStem = try FileSystem.names(in: plain).contains { $0.hasPrefix("plain.") }
    for name in try FileSystem.names(in: plain) where isStem && name.hasPrefix("plain") {
      let other = PathText.text(of: Array("s".utf8) + [0xFF] + Array(name.dropFirst(5).utf8))
      try FileSystem.rename(plain.appending(name), to: plain.appending(name: other))
    }
    try FileSystem.rename(plain, to: odd)
    return (odd, isStem ? "s%FF" : "x%FFy")
  }

  @Test(arguments: ["scannet", "arkit-scanner", "multiscan", "vi-slam", "strabo"])
  func `a capture with odd bytes in its names is processed like any other`(family: String) throws {
    let (_, name) = try makeOdd(family)
    let output = folder.path.appending("out")
    let arguments = ["run", input.string, "--output", output.string]
    let run = try Program.run(arguments).succeeds()
    #expect(run.output.hasPrefix("\(name) made "), "\(run.output)")
    let document = try #require(
      output.appending(name).appending("capture.json").contents)
    let object = try document.json()
    #expect(object["id"] as? String == name)
    #expect((object["path"] as? String)?.hasSuffix("/x%FFy") == true)
    // Nothing is done twice, whoever asks.
    let again = try Program.run("\(arguments) --json")
    let captures = try again.json().objects("captures")
    let stages = try captures.flatMap { try $0.objects("stages") }
    #expect(!stages.isEmpty)
    #expect(stages.allSatisfy { $0["outcome"] as? String != "made" })
    let status = try Program.run("status \(output)")
    #expect(status.status == 0 && !status.output.contains("gone"), "\(status.output)")
    let inspected = try Program.run("inspect \(input) --json").succeeds()
    #expect(try inspected.json()["id"] as? String == name)
  }

  @Test func `odd bytes in the paths of the command line arrive`() throws {
    let (_, name) = try makeOdd("strabo")
    let script = """
      exec "$0" run "$(printf '%s/x\\377y' "$1")" --output "$(printf '%s/out\\376' "$2")"
      """
    try Running(
      "/bin/sh", ["-c", script, Program.path.string, input.string, folder.path.string], in: nil
    ).finish().succeeds()
    let output = folder.path.appending(name: PathText.text(of: Array("out".utf8) + [0xFE]))
    #expect(FileSystem.exists(output.appending(name).appending("capture.json")))
  }

  @Test func `a line of text stays one line, whatever control characters names and notes have`()
    throws
  {
    try Program.synthesize("strabo --frames 2 --width 160 --height 120 --id plain", to: input)
    try FileSystem.rename(input.appending("plain"), to: input.appending("two\nlines"))
    let output = folder.path.appending("out").string
    _ = try Program.run(["run", input.string, "--output", output, "--only", "imu"])
    let picture = folder.path.appending("x.png").string
    let view = try Program.run(["view", output, "--output", picture])
    #expect(
      view.errors.contains("note: two\\u{A}lines: nothing that can be shown"), "\(view.errors)")
    let words = ["mark", "ignore", "two", "--output", output, "--note", "a\nb"]
    let mark = try Program.run(words).succeeds()
    #expect(mark.output.hasSuffix(": a\\u{A}b\n"), "\(mark.output)")
  }
}

/// Metrics, notes, pages and journals that cannot be written, through the built binary.
@Suite(.runsPrograms) struct UnwritableTests {
  /// Where metrics cannot go, made in `scene`'s folder.
  static let places: [(name: String, make: @Sendable (WatchScene) throws -> String)] = [
    ("no folder", { $0.folder.path.appending("none").appending("x.prom").string }),
    (
      "a folder",
      { scene in
        let place = scene.folder.path.appending("x.prom")
        try FileSystem.makeFolder(place)
        return place.string
      }
    ),
    (
      "a file in place of the folder",
      { scene in
        let file = scene.folder.path.appending("file")
        try file.write("x")
        return file.appending("x.prom").string
      }
    ),
    ("a device", { _ in "/dev/null" }), ("no such file system", { _ in "/proc/none/x.prom" }),
  ]

  @Test(arguments: places.indices)
  func `metrics that cannot be written end watch --once with 73`(_ index: Int) throws {
    let scene = try WatchScene()
    try scene.put("a")
    let file = try Self.places[index].make(scene)
    let result = try scene.once("--metrics \(file)")
    #expect(result.status == 73, "\(Self.places[index].name): \(result.errors)")
    #expect(result.errors.contains("--metrics"))
    #expect(scene.isDone("a"), "the work is done all the same")
  }

  @Test func `while watching it is told at the start, again, and when it can be written`() throws {
    let scene = try WatchScene()
    let folder = scene.folder.path.appending("later")
    let run = try scene.start("--metrics \(folder.appending("x.prom"))")
    try scene.wait("the first look") { !scene.record.isEmpty }
    try FileSystem.makeFolder(folder)
    try scene.wait("metrics") { FileSystem.exists(folder.appending("x.prom")) }
    let text = try folder.appending("x.prom").text()
    #expect(text.contains("scanmill_write_failures_total{what=\"metrics\"} "))
    #expect(!text.contains("scanmill_write_failures_total{what=\"metrics\"} 0\n"))
    let result = try run.stop()
    #expect(result.status == 143)
    #expect(result.errors.contains("there is no folder"))
    #expect(result.errors.contains("--metrics: can be written again"))
  }

  /// What lies in the output in the place of a file of ours.
  @Test(arguments: [
    ".scanmill/watch.json", ".scanmill/looks.json", "index.html", "a/report.html",
  ])
  func `notes and pages that cannot be written end watch --once with 73`(_ name: String) throws {
    let scene = try WatchScene()
    try scene.put("a")
    try scene.once().succeeds()
    let place = scene.output.appending(FilePath(name).components)
    try? FileSystem.remove(place)
    try FileSystem.makeFolder(place.appending("in-the-way"))
    try scene.put("b")
    let result = try scene.once()
    #expect(result.status == 73, "\(result.errors)")
    #expect(result.errors.contains(FilePath(name).lastComponent?.string ?? ""))
    #expect(scene.isDone("b"))
  }

  /// The command line, where the place in it cannot be written to, and the exit code.
  static let verbs: [[String]] = [
    ["view", "CAPTURE", "-o", "/proc/none/x.png"], ["view", "CAPTURE", "-o", "FILE/x.png"],
    ["view", "CAPTURE", "-o", "NONE/x.png"],
    ["synthesize", "strabo", "--frames", "2", "--output", "/proc/none"],
    ["synthesize", "strabo", "--frames", "2", "--output", "FILE/x"],
    ["run", "CAPTURE", "--output", "FILE/x"],
    ["watch", "STAGING", "--once", "--settle", "0s", "--output", "/proc/none"],
    ["watch", "STAGING", "--once", "--settle", "0s", "--output", "FILE/x"],
  ]

  @Test(arguments: verbs)
  func `what a verb writes and cannot ends with 73`(_ words: [String]) throws {
    let scene = try WatchScene()
    let capture = try scene.make("c", family: "strabo", frames: 2)
    let file = scene.folder.path.appending("file")
    try file.write("x")
    let arguments = words.map { word in
      word.replacing("CAPTURE", with: capture.string).replacing("FILE", with: file.string)
        .replacing("NONE", with: scene.folder.path.appending("none").string)
        .replacing("STAGING", with: scene.staging.string)
    }
    let result = try Program.run(arguments)
    #expect(result.status == 73, "\(words): \(result.status) \(result.errors)")
    #expect(result.errors.contains("error: "))
  }
}
