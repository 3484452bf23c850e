@testable import Media
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// `scanmill view` through the built binary.
@Suite("A quick look", .runsPrograms)
struct ViewTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> FilePath { folder.path.pushing(FilePath(name)) }

  @discardableResult
  private func synthesize(_ family: String, _ more: [String] = [], id: String = "a") throws
    -> FilePath
  {
    let small =
      switch family {
      case "strabo": [] as [String]
      case "scannet": ["--width", "320", "--height", "240"] + Scene.smallDepth
      default: ["--width", "320", "--height", "240"]
      }
    try Program.synthesize("\(family) --frames 12 --id \(id) \(small) \(more)", to: path("in"))
    return path("in").appending(id)
  }

  private func view(_ words: String..., in place: String = "") throws -> Program.Result {
    try Program.run("view \(words)", in: path(place))
  }

  /// Bytes and paths of everything below a folder.
  private func contents(of place: FilePath) throws -> [String: Data] {
    try place.filesBelow().reduce(into: [:]) { found, name in
      found[name] = try place.pushing(FilePath(name)).data()
    }
  }

  static let families = [
    ("scannet", ["overlay", "depth", "imu"]), ("arkit-scanner", ["overlay", "depth", "imu"]),
    ("multiscan", ["overlay", "depth"]), ("vi-slam", ["color", "imu"]), ("strabo", ["color"]),
  ]

  @Test(
    "Every family, from the capture and from its output; the capture stays as it is",
    arguments: families)
  func family(family: String, parts: [String]) throws {
    let capture = try synthesize(family)
    let before = try contents(of: capture)
    let looked = try view(capture.string, "-o", "look.png", "--json").json()
    #expect(looked["parts"] as? [String] == parts)
    #expect(looked["captures"] as? [String] == ["a"])
    #expect(looked["notes"] as? [String] == [])
    #expect((looked["frames"] as? [Int] ?? []).count == (parts.contains("depth") ? 3 : 6))
    let picture = try PNGReader.color(at: path("look.png"))
    #expect(picture.width == 1288 && picture.height > 200)
    // The view is written once more, over the first.
    let first = try path("look.png").data()
    let again = try view(capture.string, "-o", "look.png")
    #expect(again.status == 0 && again.output == "look.png\n")
    #expect(try path("look.png").data() == first)
    #expect(try contents(of: capture) == before)

    try Program.run("run \(capture) --output \(path("out"))").succeeds()
    let made = try FileSystem.names(in: path("out/a/preview"))
    #expect(made.contains("imu.png") == parts.contains("imu"))
    #expect(made.contains("sheet.png") != parts.contains("depth"))
    #expect(made.contains("000000.png") == parts.contains("depth"))
    let published = try view(path("out/a").string, "-o", "out.png", "--json").json()
    #expect(published["parts"] as? [String] == parts)
    let whole = try view(path("out").string, "-o", "all.jpg", "--json").json()
    #expect(whole["parts"] as? [String] == ["overview"])
    #expect(try StillImage.read(path("all.jpg")).picture.width == 1288)
  }

  @Test(
    "Damaged captures: what is there is shown, what is not is said, and nothing crashes",
    arguments: Rounds.every(
      2,
      of: [
        ("scannet", "killed-app", ["overlay", "depth", "imu"]),
        ("scannet", "missing-color", ["depth", "imu"]),
        ("scannet", "cut-in-payload", ["overlay", "depth", "imu"]),
        ("arkit-scanner", "missing-video", ["depth", "imu"]),
        ("arkit-scanner", "killed-app", ["depth"]),
        ("multiscan", "missing-depth", ["color"]),
        ("multiscan", "cut-depth", ["overlay", "depth"]),
        ("vi-slam", "missing-video", ["imu"]), ("strabo", "left-turn", ["color"]),
        ("strabo", "half-turn", ["color"]),
      ]))
  func damaged(family: String, fault: String, parts: [String]) throws {
    let capture = try synthesize(family, ["--fault", fault])
    let result = try view(capture.string, "-o", "look.png", "--json").succeeds()
    #expect(try result.json()["parts"] as? [String] == parts)
    #expect(try PNGReader.color(at: path("look.png")).width == 1288)
  }

  @Test("Where nothing can be shown the sheet says why, and the exit code is 1")
  func nothing() throws {
    let capture = try synthesize("strabo", ["--fault", "empty-media"])
    let result = try view(capture.string, "-o", "look.png")
    #expect(result.status == 1)
    #expect(result.errors.contains("nothing could be shown; look.png says why"))
    #expect(FileSystem.exists(path("look.png")))
  }

  @Test(
    "By default the picture goes beside the user, never into a capture or an output, never over another file"
  )
  func place() throws {
    let capture = try synthesize("vi-slam")
    try FileSystem.makeFolder(path("desk"))
    #expect(try view(capture.string, in: "desk").output == "a.view.png\n")
    #expect(try view(capture.string, in: "desk").output == "a.view.png\n")
    try OutputFile.write(Array("mine".utf8), to: path("desk/a.view.png"))
    #expect(try view(capture.string, in: "desk").output == "a.view-2.png\n")
    #expect(try contents(of: path("desk"))["a.view.png"] == Data("mine".utf8))
    // Inside of a capture: the folder for temporary files.
    try FileSystem.makeFolder(path("tmp"))
    let inside = try Program.run("view .", in: capture, environment: ["TMPDIR": path("tmp").string])
      .succeeds()
    #expect(inside.output == path("tmp").appending("a.view.png").string + "\n")
    #expect(!FileSystem.exists(capture.appending("a.view.png")))
  }

  @Test("A file of somebody else is refused, and so are a capture and other kinds of files")
  func refusals() throws {
    let capture = try synthesize("vi-slam")
    try OutputFile.write(Array("mine".utf8), to: path("notes.png"))
    let foreign = try view(capture.string, "-o", "notes.png")
    #expect(foreign.status == 73 && foreign.errors.contains("was not written by 'scanmill view'"))
    try path("link.png").link(to: path("notes.png").string)
    #expect(try view(capture.string, "-o", "link.png").status == 73)
    #expect(try contents(of: folder.path)["notes.png"] == Data("mine".utf8))
    let inside = try view(capture.string, "-o", capture.appending("look.png").string)
    #expect(inside.status == 64 && inside.errors.contains("lies in the capture"))
    for words in [["-o", "look.gif"], ["-o", "look"], ["--frames", "0"]] {
      #expect(try Program.run("view \(capture) \(words)", in: folder.path).status == 64)
    }
    #expect(try view(capture.string, "-o", "no/such/look.png").status == 73)
    #expect(try view("no-such-capture").status == 65)
    try view(path("in").string).succeeds()
    try synthesize("vi-slam", id: "b")
    let several = try view(path("in").string)
    #expect(several.status == 65 && several.errors.contains("holds 2 captures: name one of them"))
    #expect(try view().status == 64)
  }

  @Test("A calibration file that is absent or incomplete is an error, and nothing is drawn")
  func calibration() throws {
    let capture = try synthesize("arkit-scanner")
    try view(capture.string, "-o", "own.png").succeeds()
    try OutputFile.write(Array("{\"registered\":true}".utf8), to: path("part.json"))
    for (name, problem) in [
      ("none.json", "no such file"), ("part.json", "colorIntrinsics: is missing"),
    ] {
      let refused = try view(
        capture.string, "-o", "no.png", "--calibration", path(name).string)
      #expect(refused.status == 64 && refused.errors.contains(problem), "\(refused.errors)")
      #expect(!FileSystem.exists(path("no.png")))
    }
  }

  @Test("Help has an example and the exit codes")
  func help() throws {
    let help = try Program.run("view --help").succeeds()
    #expect(help.output.contains("EXAMPLE:"))
    #expect(
      help.output.hasSuffix(
        "EXIT CODES:\n  0 done, 1 something failed, 64 wrong command line; all: scanmill --help\n"))
    #expect(!help.output.contains("143"))
    // The table is there where the line leads.
    let all = try Program.run(["--help"]).output
    for code in ["0", "1", "64", "65", "70", "73", "75", "78", "130", "143"] {
      #expect(all.contains("\n  \(code) "), "\(code)")
    }
  }
}
