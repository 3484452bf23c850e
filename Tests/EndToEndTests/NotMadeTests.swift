import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("What is asked for by name and cannot be made", .runsPrograms)
struct NotMadeTests {
  /// A way to ask, what of it cannot be made, and the beginning of the reason.
  struct Case: Sendable, CustomTestStringConvertible {
    let words: [String]
    let stage: String
    let reason: String
    /// Whether something else that was named is made.
    let isMadeInPart: Bool

    init(_ words: String, _ stage: String, _ reason: String, isMadeInPart: Bool = false) {
      self.words = words.split(separator: " ").map(String.init)
      (self.stage, self.reason, self.isMadeInPart) = (stage, reason, isMadeInPart)
    }

    var testDescription: String { words.joined(separator: " ") }
  }

  static let cases = [
    Case("--export sens", "export-sens", "no depth"),
    Case("--export tum,colmap", "export-colmap", "no poses", isMadeInPart: true),
    Case("--export tum --set export-tum.first=100", "export-tum", "no frame is left"),
    Case("--pipeline exports --until export-colmap", "export-colmap", "no poses"),
    Case("--pipeline exports --only export-colmap", "export-colmap", "no poses"),
    Case(
      "--pipeline exports --set export-colmap.every=2 --until export-gpx --until tables",
      "export-gpx", "no position", isMadeInPart: true),
    // Nobody named what a pipeline of one's own lists beside other stages.
    Case("--pipeline formats.yaml", "splats", "no poses", isMadeInPart: true),
    Case("--pipeline formats.yaml --until splats", "splats", "no poses"),
    // What a stage of one's own says that it requires, before that its inputs are not possible.
    Case("--pipeline mesh --until mesh", "mesh", "no poses"),
    Case("--until aligned", "aligned", "the family records no depth"),
  ]

  private static func scene() throws -> ExportScene {
    let scene = try ExportScene("vi-slam", frames: 4)
    let pipeline = """
      schema: 1
      stages:
        color: {uses: decode-color}
        tables: {uses: export-tables, optional: [color]}
        splats: {uses: export-colmap, needs: {color: color}}
      """
    try scene.folder.path.appending("formats.yaml").write(pipeline)
    return scene
  }

  private static func run(_ scene: ExportScene, _ words: [String]) throws -> Program.Result {
    let arguments = ["run", scene.input.string, "--output", scene.output.string] + words
    return try Program.run(arguments, in: scene.folder.path)
  }

  @Test(
    "One line with the reason at the end of the run, in the line for scripts and in status",
    arguments: cases)
  func everywhere(_ example: Case) throws {
    let scene = try Self.scene()
    // The second time from what was noted.
    let outcomes =
      example.isMadeInPart ? ["made", "up-to-date"] : ["not-possible", "not-possible"]
    for outcome in outcomes {
      let run = try Self.run(scene, example.words)
      #expect(run.status == (example.isMadeInPart ? 0 : 1), "\(run.errors)")
      let lines = run.errors.lines.filter {
        $0.hasPrefix("not made: \(example.stage), \(example.reason)")
      }
      #expect(lines.count == 1, "\(run.errors)")
      #expect(lines.first?.hasSuffix(": a") == true, "\(run.errors)")
      let line = run.output.lines.first { $0.hasPrefix("a \(outcome) ") } ?? ""
      #expect(line.contains(" not-made="), "\(run.output)")
      #expect(line.contains("\(example.stage): \(example.reason)"), "\(run.output)")
      #expect(!run.errors.contains("everything is up to date"), "\(run.errors)")
    }
    let plan = try Self.run(scene, example.words + ["-n"])
    let kind = example.isMadeInPart ? "up-to-date" : "not possible"
    #expect(plan.output.contains("1 capture: 1 \(kind)\n"), "\(plan.output)")
    let status = try Program.run("status \(scene.output)")
    #expect(
      status.output.lines.count { $0.hasPrefix("not made: \(example.stage), ") } == 1,
      "\(status.output)")
    #expect(
      status.unwrapped.contains("not made: \(example.stage), \(example.reason)"),
      "\(status.output)")
    let record = try Program.run("status \(scene.output) --json")
    #expect(record.output.contains(#""askedByName" : true"#), "\(record.output)")
  }

  @Test("Quiet runs stay quiet, and what nobody named is passed over")
  func quiet() throws {
    let scene = try Self.scene()
    let quiet = try Self.run(scene, ["--export", "colmap,tum", "-q"])
    #expect(quiet.status == 0 && quiet.errors == "", "\(quiet.errors)")
    #expect(quiet.output == "", "\(quiet.output)")
    // An exit code of 1 has its reason.
    let none = try Self.run(scene, ["--export", "colmap", "-q"])
    #expect(none.status == 1 && none.errors.contains("no poses"), "\(none.errors)")
    let other = try Self.scene()
    let all = try Self.run(other, ["--pipeline", "exports", "--until", "tables"])
    #expect(!all.errors.contains("not made"), "\(all.errors)")
    #expect(all.output == "a made 2/2\n", "\(all.output)")
    let status = try Program.run("status \(other.output)")
    #expect(!status.output.contains("not made"), "\(status.output)")
  }

  @Test("A file of cameras that cannot be read fails what needs it, and what was made before stays")
  func unreadableCameras() throws {
    let scene = try ExportScene("arkit-scanner", frames: 4)
    try Self.run(scene, ["--export", "ply"]).succeeds()
    let before = try scene.files(of: "aligned")
    try scene.input.appending("intri.json").write("{")
    let run = try Self.run(scene, ["--export", "ply"])
    #expect(run.status == 1 && !run.errors.contains("not made"), "\(run.errors)")
    for stage in ["aligned", "export-ply"] {
      #expect(run.errors.contains("\(stage): failed: "), "\(run.errors)")
    }
    #expect(try scene.files(of: "aligned") == before)
  }

  @Test("0/0 does not stand alone, in JSON neither")
  func nothing() throws {
    let scene = try Self.scene()
    let run = try Self.run(scene, ["--until", "export-colmap"])
    #expect(
      run.output == """
        a not-possible 0/0 not-made=export-colmap note="export-colmap: no poses: the family records no poses"

        """)
    let json = try Self.run(scene, ["--until", "export-colmap", "--json"]).json()
    let captures = try json.objects("captures")
    let message = captures.first?["message"] as? String
    #expect(message?.hasPrefix("nothing to do: export-colmap is not possible") == true)
    let report = try Program.run("report \(scene.output) --format json")
    #expect(report.output.contains("no poses: the family records no poses"))
    let made = try FileSystem.names(in: scene.capture)
      .filter { !$0.hasPrefix(".") && $0 != "capture.json" }
    #expect(made == [], "what only this format would need is not made")
  }
}
