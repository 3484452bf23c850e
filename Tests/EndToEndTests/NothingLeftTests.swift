import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Runs in which a stage throws away everything it read", .runsPrograms)
struct NothingLeftRunTests {
  /// What is set, and the stage whose artifact says so; `nil`: a stage that has no artifact then.
  struct Case: CustomTestStringConvertible, Sendable {
    var family: String
    var settings: [String]
    var export: String?
    var artifact: String?
    var subject: String
    var words: [String]

    var testDescription: String { "\(family): \(settings.joined(separator: " "))" }

    init(
      _ family: String, _ settings: [String], export: String? = nil, in artifact: String? = nil,
      _ subject: String, _ words: String...
    ) {
      (self.family, self.settings, self.export) = (family, settings, export)
      (self.artifact, self.subject, self.words) = (artifact, subject, words)
    }
  }

  static let cases = [
    Case("scannet", ["depth.range=300m..4000m"], "depth", "measured pixels", "range=300m..4000m"),
    Case(
      "multiscan", ["depth.minimumConfidence=3", "depth.flyingPixels=true"], "depth",
      "minimumConfidence=3, flyingPixels=true"),
    Case("multiscan", ["depth.range=60m..65m"], "depth", "range=60m..65m"),
    Case(
      "scannet", ["aligned.minimumDepth=60m"], in: "aligned", "aligned", "minimumDepth=60m"),
    Case(
      "scannet", ["color.first=100"], "color",
      "no frame is left: color.first is 100, the capture has 4 frames"),
    Case(
      "strabo", ["color.every=3", "color.first=7"], "color", "color.every is 3 and color.first is 7"
    ),
    Case("vi-slam", ["imu.window=0ns"], in: "imu", "imu", "window=0ns, mode=symmetric"),
    Case(
      "arkit-scanner", ["export-ply.maximumDistance=1mm", "export-ply.every=1"], export: "ply",
      "export-ply", "maximumDistance=1mm"),
    Case(
      "arkit-scanner", ["export-mcap.first=100"], export: "mcap", in: "export-mcap", "export-mcap",
      "4 not-selected", "export-mcap.first is 100"),
    Case(
      "arkit-scanner", ["export-colmap.first=100"], export: "colmap", "export-colmap",
      "export-colmap.first is 100, the capture has 4 frames"),
  ]

  private static func found(
    _ warnings: Any?, of subject: String, _ at: String,
    location: SourceLocation = #_sourceLocation
  ) -> [String: Any]? {
    let all = (warnings as? [[String: Any]] ?? []).filter {
      $0["code"] as? String == "nothing-left" && $0["subject"] as? String == subject
    }
    #expect(all.count == 1, "\(at): \(warnings ?? "no warnings")", sourceLocation: location)
    return all.first
  }

  @Test(
    "It is told in the artifact, the run, its repetition, status, report and capture.json",
    arguments: Rounds.every(3, of: cases))
  func told(_ example: Case) throws {
    let scene = try ExportScene(example.family, frames: 4)
    let settings = example.settings.flatMap { ["--set", $0] }
    // An export that was named and has no frame could not be made.
    let isMade = example.export == nil || example.artifact != nil
    let words = settings + (example.export.map { ["--export", $0] } ?? []) + ["--json"]
    for run in ["first", "again"] {
      let result = try scene.run("\(words)")
      #expect(result.status == (isMade ? 0 : 1), "\(run): \(result.errors)")
      let capture = try result.json().capture()
      let warning = Self.found(capture["warnings"], of: example.subject, run)
      #expect((warning?["count"] as? Int ?? 0) > 0 && warning?["severity"] as? String == "warning")
      let message = warning?["message"] as? String ?? ""
      for word in example.words { #expect(message.contains(word), "\(run): \(message)") }
    }
    _ = Self.found(
      try scene.capture.appending("capture.json").json()["warnings"], of: example.subject,
      "capture.json")
    if let artifact = example.artifact {
      _ = Self.found(
        try scene.capture.appending("\(artifact)/artifact.json").json()["warnings"],
        of: example.subject,
        "artifact.json")
    }
    let status = try Program.run("status \(scene.output) --json")
    let row = (try status.json()["captures"] as? [[String: Any]])?.first
    #expect((row?["warningCount"] as? Int ?? 0) > 0, "\(row ?? [:])")
    let report = try Program.run("report \(scene.output) --format json")
    let told = (try report.json()["captures"] as? [[String: Any]])?.first
    _ = Self.found(told?["warnings"], of: example.subject, "report")
    #expect(try scene.run("\(words) --strict").status == 1, "--strict counts it")
    #expect(try Program.run("status \(scene.output) --exit-code").status == 1)
  }

  /// What is set, and the stage that it leaves without frames.
  static let selections = [
    ("scannet", "color.first=100", "color"), ("multiscan", "depth.first=100", "depth"),
    ("multiscan", "confidence.first=100", "confidence"),
    ("scannet", "aligned.first=100", "aligned"),
    ("arkit-scanner", "export-colmap.first=100", "export-colmap"),
    ("arkit-scanner", "export-ply.maximumDistance=1mm", "export-ply"),
  ]

  @Test(
    "What was made before stays and is read, -n says why, and nothing is made anew",
    arguments: Rounds.every(3, of: selections))
  func kept(family: String, setting: String, stage: String) throws {
    let scene = try ExportScene(family, frames: 4)
    let export = stage.hasPrefix("export-") ? ["--export", String(stage.dropFirst(7))] : []
    try scene.run("\(export)").succeeds()
    let before = try scene.files(of: stage)
    #expect(!before.isEmpty)
    for isNamed in [false, true] {
      let run = try scene.run("--set \(setting) --json \(isNamed ? ["--until", stage] : [])")
      #expect(run.status == (isNamed ? 1 : 0), "\(run.errors)")
      let stages = try ExportScene.stages(run)
      #expect(stages[stage]?["outcome"] as? String == "not-possible")
      // Points are looked for in depth, which is made for that and removed.
      let others = stages.filter { ![stage, "depth-frames"].contains($0.key) }
        .mapValues { $0["outcome"] as? String ?? "" }
      #expect(others.values.allSatisfy { $0 == "up-to-date" || $0 == "not-possible" }, "\(others)")
      #expect(try scene.files(of: stage) == before)
      // It is known now, also where only the work could show it.
      for how in isNamed ? [["-n"]] : [["-n", "-v"]] {
        let plan = try scene.run("--set \(setting) \(how)").output
        // Stages that follow color tell it as well, one line each with -v.
        let told = plan.lines.filter {
          $0.contains("what was made before stays")
            && ($0.hasPrefix("  ") ? $0.hasPrefix("  \(stage):") : $0.contains(stage))
        }
        #expect(told.count == 1, "\(plan)")
      }
    }
    let name = setting.prefix { $0 != "=" }
    try scene.run("--set \(name)=default --json").succeeds()
    #expect(try scene.files(of: stage) == before)
    let row =
      (try Program.run(["report", scene.output.string, "--format", "json"]).json()["captures"]
      as? [[String: Any]])?.first
    let warnings = row?["warnings"] as? [[String: Any]] ?? []
    #expect(!warnings.contains { $0["code"] as? String == "nothing-left" })
  }

  @Test("What was made before goes where what it was made from is another by now")
  func outdated() throws {
    let scene = try ExportScene("arkit-scanner", frames: 4)
    try scene.run("").succeeds()
    let aligned = scene.capture.appending("aligned")
    #expect(FileSystem.exists(aligned))
    let words = ["--set", "aligned.first=99", "--set", "depth.range=1m..1.5m"]
    let plan = try scene.run("\(words) -n").output
    #expect(plan.contains("would be removed: aligned of 1 capture"), "\(plan)")
    #expect(!plan.contains("what was made before"), "\(plan)")
    try scene.run("\(words)").succeeds()
    #expect(!FileSystem.exists(aligned))
    let frames = try scene.capture.appending("tables/frames.csv").text()
    #expect(!frames.contains("aligned/"))
    #expect(try scene.run("\(words)").errors.contains("nothing to do"))
  }

  @Test("Filters that leave anything say nothing")
  func leftAnything() throws {
    let scene = try ExportScene("multiscan", frames: 4)
    let result = try scene.run(
      """
      --json --export ply,mcap,colmap --set depth.range=0.1m..60m --set \
      depth.minimumConfidence=0 --set depth.maximumChange=0mm --set color.last=2 --set \
      export-ply.every=1 --set export-ply.maximumDistance=60m --set export-mcap.first=3
      """
    ).succeeds()
    #expect(!result.output.contains("nothing-left"), "\(result.output)")
  }

  @Test("params shows units in defaults and ranges")
  func units() throws {
    let lines = try Program.run("list parameters exports").output.lines
      .map(
        String.init)
    func line(_ name: String) -> String { lines.first { $0.hasPrefix(name + "  ") } ?? "" }
    #expect(
      line("aligned.minimumDepth").contains("default 1mm (for experts); a length with its unit"))
    #expect(line("aligned.discontinuityAbsolute").contains("default 10mm (for experts);"))
    #expect(line("aligned.discontinuityAbsolute").hasSuffix(", 0m to 65.535m"))
    #expect(line("imu.window").contains("default 50ms;"))
    #expect(line("thumbnail.side").contains("default 300 px; a whole number, 1 to 4096 px"))
    #expect(line("export-euroc.gyroscopeNoise").hasSuffix("rad/s/√Hz"))
    let json = try Program.run("list parameters exports --json").json()
    let parameters = try json.objects("parameters")
    // What it prints can be set, and changes nothing.
    let settings = parameters.compactMap { parameter -> [String]? in
      guard let name = parameter["name"] as? String, let text = parameter["defaultText"] as? String,
        ["s", "m"].contains(parameter["unit"] as? String)
      else { return nil }
      return ["--set", "\(name)=\(text)"]
    }
    #expect(settings.count > 4)
    let scene = try Scene("a", frames: 2)
    try scene.run("--pipeline exports").succeeds()
    let again = try Program.run(
      scene.arguments(["--pipeline", "exports", "-n", "--exit-code"] + settings.flatMap(\.self)))
    #expect(again.status == 0, "\(again.output) \(again.errors)")
  }
}
