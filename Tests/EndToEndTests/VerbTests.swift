@testable import Captures
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Status, explain and clean", .runsPrograms)
struct VerbTests {
  private let folder: TemporaryFolder
  private var output: String { folder.path.appending("out").string }

  init() throws {
    folder = try TemporaryFolder()
    let input = folder.path.appending("in").string
    try Program.synthesize(
      "scannet --frames 5 --width 324 --height 242 \(Scene.smallDepth) --id scan", to: input)
    try #require(try Program.run("run \(input) --output \(output)").status == 0)
  }

  @Test("Status tells what is stale by the pipeline and settings of the last run")
  func status() throws {
    let done = try Program.run("status \(output)")
    #expect(
      done.output == "1 capture: 1 ready\n\n1 capture done, nothing to do (--all lists them)\n")
    let matrix = try Program.run("status \(output) --all").output
    #expect(matrix.contains("capture  state  color"), "\(matrix)")
    #expect(matrix.lines.allSatisfy { $0.count <= 80 }, "\(matrix)")
    #expect(try Program.run(["status"], in: FilePath(output)).output == done.output)
    try FileSystem.remove(folder.path.appending("out/scan/color/000002.png"))
    let stale = try Program.run("status \(output) --json").json()
    let capture = try stale.capture()
    let stages = try capture.objects("stages")
    let color = try #require(stages.first { $0["stage"] as? String == "color" })
    #expect(color["state"] as? String == "stale")
    #expect(color["reason"] as? String == "outputs-missing")
    #expect(stale["schema"] as? Int == 1 && capture["id"] as? String == "scan")
    #expect(
      try Program.run("status \(output) --set imu.window=20ms").unwrapped
        .contains("imu stale: parameters, window: 50ms -> 20ms"))
  }

  @Test("What the next capture of a family needs is known from the one before, with a time")
  func needs() throws {
    let input = folder.path.appending("in").string
    try Program.synthesize(
      "scannet --frames 5 --width 324 --height 242 \(Scene.smallDepth) --id next --seed 2",
      to: input)
    let plan = try Program.run("run \(input) --output \(output) -n --id next").output
    #expect(plan.contains(#/needs about [\d.]+ .B \(.* free\), about 1 s/#), "\(plan)")
  }

  @Test("Stages are listed with commas wherever one may be named")
  func lists() throws {
    let input = folder.path.appending("in").string
    func plan(_ words: String...) throws -> [String] {
      let json = try Program.run("run \(input) -o \(output) -n --json \(words)").json()
      let stages = (json["captures"] as? [[String: Any]])?.first?["stages"] as? [[String: Any]]
      return try #require(stages).compactMap { $0["stage"] as? String }
    }
    #expect(try plan("--only", "color,imu") == ["color", "imu"])
    #expect(try plan("--only", "color", "--only", "imu,color") == ["color", "imu"])
    #expect(try plan("--until", "depth,imu") == ["depth", "imu"])
    let forced = try Program.run("run \(input) -o \(output) -n -R color,imu --json").output
    #expect(forced.components(separatedBy: "\"forced\"").count == 3, "\(forced)")
    for words in [["--only", "color,imux"], ["--until", "color,"], ["-R", ",imu"]] {
      let refused = try Program.run("run \(input) -o \(output) \(words)")
      #expect(refused.status == 64 && refused.errors.contains("no stage '"), "\(refused.errors)")
    }
    let explained = try Program.run("explain scan color,imu -o \(output)").output
    #expect(explained.contains("scan/color (") && explained.contains("\n\nscan/imu ("))
    // A misspelled stage beside another one: nothing is removed.
    let misspelled = try Program.run("clean \(output) --stage color,imux --yes")
    #expect(misspelled.status == 64 && misspelled.errors.contains("no stage 'imux' here"))
    #expect(FileSystem.isFolder(folder.path.appending("out/scan/color")))
    try Program.run("clean \(output) --stage color,imu --yes").succeeds()
    for stage in ["color", "imu"] {
      #expect(!FileSystem.exists(folder.path.appending("out/scan/\(stage)")), "\(stage)")
    }
    // What was asked for is remembered with all of its names.
    try Program.run("run \(input) -o \(output) --only color,imu").succeeds()
    let status = try Program.run("status \(output) --json").json()
    #expect((status["captures"] as? [[String: Any]])?.first?["state"] as? String == "done")
  }

  @Test("A twin says whose twin it is, and a capture that lacks files in which folder they belong")
  func twins() throws {
    let input = folder.path.appending("in")
    try FileSystem.makeFolder(input.appending("z"))
    try Program.synthesize(
      "scannet --frames 2 --width 324 --height 242 \(Scene.smallDepth) --id scan",
      to: input.appending("z"))
    try FileSystem.remove(input.appending("z/scan/scan.imu"))
    let run = try Program.run("run \(input) --output \(output)")
    #expect(run.output.contains("twin-of=scan"), "\(run.output)")
    let place = input.appending("z/scan")
    #expect(
      try Program.run("status \(output)").output.contains("1 capture with the id of another one"))
    let text = try Program.run("status \(output) --all").unwrapped
    #expect(
      text.contains(
        "same id as scan: this one is \(place), scan is \(input.appending("scan"))"),
      "\(text)")
    #expect(text.contains("Copy the .imu file from the device to \(place)"), "\(text)")
    let captures = try Program.run("status \(output) --json").json()["captures"]
    let ids = (captures as? [[String: Any]] ?? []).compactMap { $0["twinOf"] as? String }
    #expect(ids == ["scan"])
  }

  @Test("A watcher that ends says, as a run does, why it makes again what was done")
  func watchReason() throws {
    let input = folder.path.appending("in").string
    let words = ["--output", output, "--set", "imu.window=20ms"]
    let watched = try Program.run("watch \(input) --once --settle 1s \(words)")
    #expect(
      watched.errors.contains("imu.window 50ms → 20ms: replaces 5 frames in 1 capture"),
      "\(watched.errors)")
    let again = try Program.run("watch \(input) --once --settle 1s \(words)")
    #expect(!again.errors.contains("imu.window"), "\(again.errors)")
  }

  @Test("Explain compares everything, by path and by id")
  func explain() throws {
    let byID = try Program.run("explain scan color --output \(output)")
    #expect(byID.status == 0 && byID.output.contains("is up to date"))
    let place = folder.path.appending("in/scan").string
    #expect(
      try Program.run("explain \(place) color --output \(output)").output == byID.output)
    let changed = try Program.run("explain scan imu --output \(output) --set imu.window=20ms")
    #expect(changed.output.contains("would run: parameters"))
    #expect(changed.output.contains("* window") && changed.output.contains("50ms -> 20ms"))
    let json = try Program.run("explain scan imu --output \(output) --json").json()
    #expect(json["action"] as? String == "up-to-date")
    // Without a stage: all of them, by place, by id, and as a folder of the output.
    let all = try Program.run("explain scan --output \(output)")
    #expect(all.status == 0 && all.output.contains("\n  imu "), "\(all.errors)")
    #expect(!all.output.contains("depth-frames"))
    #expect(try Program.run("explain \(place) --output \(output)").output == all.output)
    #expect(try Program.run(["explain", output + "/scan"]).output == all.output)
    // An id goes before a folder of that name, here one with another capture.
    let elsewhere = folder.path.appending("elsewhere")
    try Program.synthesize(
      "scannet --frames 2 --width 324 --height 242 \(Scene.smallDepth) --id other", to: elsewhere)
    try FileSystem.rename(elsewhere.appending("other"), to: elsewhere.appending("scan"))
    #expect(
      try Program.run(["explain", "scan", "--output", output], in: elsewhere).output == all.output)
    #expect(
      try Program.run(["explain", output + "/scan", "--all"]).output.contains("depth-frames"))
    let other = try Program.run(["explain", output + "/scan", "--set", "imu.window=20ms"])
    #expect(other.output.contains("parameters, window: 50ms -> 20ms"), "\(other.output)")
    #expect(other.output.contains("this command line asks for"))
    // As in a run, a setting asks for the default pipeline as well.
    let part = folder.path.appending("part").string
    try Program.run("run \(place) --only imu --output \(part)").succeeds()
    let setting = ["--set", "imu.window=20ms"]
    for words in [["run", "-n", "-v", place, "-o", part], ["explain", part + "/scan"]] {
      let told = try Program.run(words + setting).output
      #expect(
        told.contains("window: 50ms -> 20ms") && told.contains(#/color\W.*never-built/#), "\(told)")
    }
    #expect(try Program.run(["status", part, "--json"] + setting).output.contains("never-built"))
    #expect(try !Program.run(["status", part, "--json"]).output.contains("never-built"))
    // Results may hold the layout of an app, and a folder here may have the name of a capture.
    try FilePath(place).copy(to: FilePath(output + "/scan/export-x"))
    try FilePath(place).copy(to: FilePath(folder.path.string + "/scan"))
    #expect(try Program.run(["explain", "out/scan"], in: folder.path).output == all.output)
    let refused = try Program.run("inspect \(output)/scan")
    #expect(refused.status == 65 && refused.errors.contains("the results of a capture"))
    let stages = try Program.run(["explain", output + "/scan", "--json"]).json()["stages"]
    #expect((stages as? [[String: Any]])?.contains { $0["stage"] as? String == "color" } == true)
  }

  @Test("Clean lists and removes only with --yes, and never what somebody works on")
  func clean() throws {
    let imu = folder.path.appending("out/scan/imu")
    let listed = try Program.run("clean \(output) --stage imu")
    #expect(listed.status == 0 && listed.output.contains("would be removed"))
    #expect(FileSystem.exists(imu))
    do {
      let lock = try FileLock(
        at: folder.path.appending("out/scan/.scanmill/lock"), holder: "me"
      ) { _ in false }
      let held = try Program.run("clean \(output) --stage imu --yes")
      #expect(held.status == 75 && held.output.contains("locked by me"))
      withExtendedLifetime(lock) {}
    }
    #expect(FileSystem.exists(imu))
    try Program.run("clean \(output) --stage imu --yes").succeeds()
    #expect(!FileSystem.exists(imu))
    // It is missing to nobody, and a plain run makes it again and says so.
    #expect(try Program.run("status \(output)").output.hasPrefix("1 capture: 1 ready\n"))
    let input = folder.path.appending("in").string
    #expect(try Program.run("clean \(output) --yes").output == "nothing to remove\n")
    let plan = try Program.run("run \(input) -o \(output) -n --json").succeeds()
    #expect(try plan.json()["settings"] == nil)
    let run = try Program.run("run \(input) -o \(output)")
    #expect(
      run.errors.contains(#/imu was cleaned on \d+ \w+ [\d:]+: made again for 1 capture, /#),
      "\(run.errors)")
    #expect(FileSystem.exists(imu))
  }

  @Test("The beginning of an id is enough, as texts show it; one that begins several is 64")
  func prefixes() throws {
    let place = folder.path.appending("in").string
    for id in ["scan-of-a-kitchen-1", "scan-of-a-kitchen-2"] {
      try Program.synthesize(
        "scannet --frames 2 --width 324 --height 242 \(Scene.smallDepth) --id \(id)", to: place)
    }
    try #require(try Program.run("run \(place) --output \(output) --only imu").status == 0)
    for words in [
      ["status", "\(output)/scan-of-a-kitchen-1"], ["status", "\(output)/scan-of-a-kitchen-1…"],
      ["clean", "\(output)/scan-of-a-kitchen-1"], ["explain", "\(output)/scan-of-a-kitchen-2…"],
    ] {
      #expect(try Program.run(words).status == 0, "\(words)")
    }
    let short = try Program.run("explain scan-of-a-kitchen-2… imu --output \(output)")
    #expect(short.output.hasPrefix("scan-of-a-kitchen-2/imu "))
    for words in [
      ["explain", "scan-of", "imu", "--output", output], ["status", "\(output)/scan-of…"],
      ["clean", "\(output)/scan-of"],
    ] {
      let several = try Program.run(words)
      #expect(several.status == 64, "\(words)")
      #expect(
        several.errors.hasSuffix(
          "is the beginning of 2 ids:\n  scan-of-a-kitchen-1\n  scan-of-a-kitchen-2\n"))
    }
    // A whole id is itself, whatever begins with it.
    try Program.run("explain scan imu --output \(output)").succeeds()
  }

  @Test("--exit-code: 1 when something needs a person")
  func needsPerson() throws {
    let place = folder.path.appending("in")
    try Program.run("status \(output) --exit-code").succeeds()
    // What another command line would make anew needs nobody.
    try Program.run("run \(place) --output \(output) -n --exit-code").succeeds()
    let changed = ["--set", "imu.window=20ms", "--exit-code"]
    try Program.run("status \(output) \(changed)").succeeds()
    #expect(try Program.run("run \(place) --output \(output) -n \(changed)").status == 1)
    try Program.run("run \(place) --output \(output) --exit-code").succeeds()
    try Program.run("inspect \(place) --exit-code").succeeds()
    let odd = folder.path.appending("odd").string
    try Program.synthesize(
      "scannet --frames 4 --seed 1 --width 324 --height 242 \(Scene.smallDepth) --fault count-minus-1",
      to: odd)
    try Program.run("inspect \(odd)").succeeds()
    // A warning alone needs nobody.
    try Program.run("inspect \(odd) --exit-code").succeeds()
    try Program.run("inspect \(place) --strict").succeeds()
    #expect(try Program.run("inspect \(odd) --strict").status == 1)
    // What cannot be read is more than a warning.
    let dark = folder.path.appending("dark").string
    try Program.synthesize(
      "scannet --frames 4 --seed 1 --width 324 --height 242 \(Scene.smallDepth) --id dark", to: dark
    )
    try FilePath("\(dark)/dark/dark.h264").write("no video")
    try Program.run("inspect \(dark)").succeeds()
    #expect(try Program.run("inspect \(dark) --strict").status == 1)
  }

  @Test("A plan that makes nothing tells of no needs, also where files have only other times")
  func touched() throws {
    let scene = try ExportScene("arkit-scanner", frames: 4)
    try scene.run("--until color").succeeds()
    for name in try FileSystem.names(in: scene.input) {
      try Running("/usr/bin/touch", ["-d", "2031-01-01", scene.input.appending(name).string])
        .finish().succeeds()
    }
    let plan = try scene.run("--until color -n").output
    #expect(plan.contains("1 up to date") && !plan.contains("needs about"), "\(plan)")
  }
}

@Suite("What verbs take, list and explain", .runsPrograms)
struct VerbWordTests {
  /// Nothing is made of it.
  private static let capture = Result {
    let place = try TemporaryFolder.ofThisProcess().appending("words")
    try Program.synthesize(
      "scannet --frames 5 --width 324 --height 242 \(Scene.smallDepth) --id scan", to: place)
    return place.appending("scan")
  }

  @Test(
    "An option is explained by the help of the verbs that have it, other words by the reference",
    arguments: [
      ("due", "The option --due of `watch`: When everything should be done"),
      ("keep-nights", "How many pages of earlier nights stay"),
      ("metrics", "Write metrics for Prometheus here at every look."),
      ("reserve", "The option --reserve of `watch`: Space of the output's disk"),
      ("settle", "How long nothing may change"), ("keep", "`keep: false`"),
      ("port", "The place of a stage for one of its inputs"),
      ("night", "since the last local noon"),
    ])
  func explainedWords(word: String, words: String) throws {
    let entry = try Program.run("explain \(word) --json").json()
    #expect((entry["meaning"] as? String)?.contains(words) == true, "\(entry)")
  }

  @Test("params lists the parameters of the stages that are named")
  func stageParameters() throws {
    func names(_ words: String...) throws -> Set<String> {
      let json = try Program.run("list parameters --json \(words)").json()
      let parameters = try json.objects("parameters")
      return Set(
        parameters.compactMap { ($0["name"] as? String)?.split(separator: ".")[0] }.map(String.init)
      )
    }
    #expect(try names("imu") == ["imu"])
    #expect(try names("imu", "depth") == ["imu", "depth"])
    #expect(try names("export-colmap") == ["export-colmap"])
    #expect(try names("exports", "imu,export-tum") == ["imu", "export-tum"])
    // Its inner step decodes; it is set under the name of the stage.
    #expect(
      try Program.run("list parameters depth").output.contains(
        "depth.range  default not set; two lengths"))
    // One parameter, a format by its own name, and a parameter that is not there.
    let one = try Program.run("list parameters imu.window").output
    #expect(
      one.hasPrefix("imu.window  default 50ms") && one.lines.count == 2, "\(one)")
    #expect(
      try Program.run("list parameters colmap").output
        == Program.run("list parameters export-colmap").output)
    let missing = try Program.run("list parameters imu.windw")
    #expect(missing.status == 64 && missing.output.isEmpty)
    #expect(
      missing.errors.contains(
        "stage 'imu' has no parameter 'windw', did you mean 'window'?; it has: "),
      "\(missing.errors)")
    let unknown = try Program.run("list parameters exports imux")
    #expect(unknown.status == 64 && unknown.errors.contains("no stage 'imux'"))
  }

  @Test(
    "What is gone is refused by a sentence that names what does it now",
    arguments: [
      ("params imu", "scanmill list parameters"), ("stages", "scanmill list stages"),
      ("families", "scanmill list families"), ("index out", "scanmill status --csv"),
      ("run x -o out -k", "--fail-fast"), ("run x -o out --keep-going", "--fail-fast"),
      ("run x -o out --from imu", "-R"), ("run x -o out --from=imu", "--until"),
      ("status out --exit-code --strict", "--exit-code alone"),
      ("bench --synthesize scannet", "scanmill synthesize"),
      ("bench --frames 3", "scanmill synthesize"), ("bench", "scanmill synthesize"),
      ("mark --undo out/x", "scanmill mark undo"), ("mark out/x retire", "mark retire CAPTURE"),
      ("run /dev/null -o out --pipeline color-only", "--only color"),
    ])
  func gone(words: String, now: String) throws {
    let result = try Program.run(Words(stringLiteral: words))
    #expect(result.status == (words.contains("pipeline") ? 78 : 64))
    #expect(result.errors.contains(now), "\(result.errors)")
    #expect(result.output.isEmpty)
  }

  @Test(
    "A parameter without effect beside the others is refused, whatever the order",
    arguments: [
      (["imu.search=100ms"], "imu.search: has no effect without timeOffset=auto"),
      (["imu.rotation=poses"], "without timeOffset=auto"),
      (["imu.window=20ms", "imu.mode=interpolate"], "imu.window: has no effect without mode="),
      (["color.quality=90"], "color.quality: has no effect without format=jpeg"),
      (["color.compression=compact", "color.format=jpeg"], "without format=png"),
      (["color.alpha=0"], "without undistort=true"),
      (["aligned.discontinuityRelative=0.1", "aligned.surface=points"], "without surface=mesh"),
      (["imu.margin=2s"], "imu.margin: has no effect without first or last"),
      (["export-euroc.imuMargin=2s", "export-colmap.first=1"], "without first or last"),
      (["export-colmap.intrinsics=median", "export-colmap.camera=first"], "with camera"),
      (["export-colmap.compression=compact"], "has no effect without pictures=png"),
      (["export-kitti.compression=compact"], "has no effect without pictures=png"),
      (["export-open3d.compression=compact"], "without pictures=png or masks=true"),
      (["export-nerfstudio.compression=compact"], "without pictures=png or pyramid=true"),
      (["export-euroc.compression=compact"], "has no effect without picture=color"),
      (
        ["export-colmap.exif=camera", "export-colmap.pictures=png"],
        "without pictures=same or pictures=jpeg"
      ),
      (["export-nerfstudio.points=9", "export-nerfstudio.depth=none"], "without depth=auto"),
      (["export-colmap.databaseVersion=3.9"], "has no effect without database=true"),
      (["confidence.alpha=0"], "has no effect without undistort=true"),
      (
        ["confidence.calibrationFolder=/tmp"],
        "confidence.calibrationFolder=/tmp: has no effect without undistort=true"
      ),
      (
        ["export-nerfstudio.masks=true"],
        "export-nerfstudio.masks: has no effect: 'masks' has nothing to leave out: color is not undistorted"
      ),
    ])
  func idleParameters(settings: [String], problem: String) throws {
    let place = try Self.capture.get()
    for settings in Set([settings, settings.reversed()]) {
      let result = try Program.run(
        [
          "run", place.string, "-o", "\(place)-out", "-n", "--export",
          "euroc,mcap,colmap,kitti,open3d,nerfstudio",
        ]
          + settings.flatMap { ["--set", $0] })
      #expect(result.status == 64 && result.errors.contains(problem), "\(result.errors)")
    }
  }

  @Test(
    "One that has an effect is not refused, also in only one of the formats that it is set for",
    arguments: [
      "--set imu.search=100ms --set imu.timeOffset=auto",
      "--export euroc,mcap --set imu.margin=2s --set export-euroc.first=1",
      "--export nerfstudio --set export-nerfstudio.masks=true --set color.undistort=true",
      "--export nerfstudio --set export-nerfstudio.masks=true --set masks.minimumConfidence=1",
      "--export nerfstudio --set export-nerfstudio.compression=compact --set export-nerfstudio.pyramid=true",
    ])
  func usefulParameters(words: String) throws {
    let place = try Self.capture.get()
    try Program.run(
      "run \(place) -o \(place)-out -n \(words.split(separator: " ").map(String.init))"
    )
    .succeeds()
  }

  @Test("Parameters of experts stand behind those that people use")
  func expertParameters() throws {
    let lines = try Program.run("list parameters imu").output.lines
      .filter { $0.hasPrefix("imu.") }
    #expect(lines.first?.hasPrefix("imu.window") == true)
    let isExpert = lines.map { $0.contains("(for experts)") }
    #expect(isExpert.contains(true) && isExpert.firstIndex(of: true) == isExpert.count { !$0 })
  }

  @Test("Everything that can be named is listed, and one of each by its name")
  func listed() throws {
    for (subject, one) in [
      ("stages", "align-depth"), ("parameters", "imu.window"), ("exports", "colmap"),
      ("families", "scannet"), ("codes", "frame-gap"), ("pipelines", "time-offset"),
      ("quality", "slam"),
    ] {
      let all = try Program.run("list \(subject)")
      #expect(all.status == 0 && all.output.contains(one), "\(subject): \(all.errors)")
      #expect(!all.output.contains("benchmark"))
      let named = try Program.run("list \(subject) \(one)")
      #expect(named.status == 0 && named.output.contains(one))
      #expect(try Program.run("list \(subject) \(one) --json").json()["schema"] as? Int == 1)
      #expect(try [64, 78].contains(Program.run("list \(subject) nothing").status))
    }
  }

  @Test("Explain knows words, and leads on from one that it does not know")
  func explainWords() throws {
    for word in ["needs-you", "needsPerson", "asked-for", "retire", "frame-gap", "quarantined"] {
      let result = try Program.run("explain \(word)")
      #expect(result.status == 0 && result.output.lines.count > 2, "\(word)")
    }
    for (word, hint) in [
      ("frme-gap", "did you mean 'frame-gap'?"), ("color", "color is a stage"),
      ("window", "scanmill list parameters imu.window"), ("xyzzy", "scanmill list codes"),
    ] {
      let result = try Program.run("explain \(word)")
      #expect(result.status == 64 && result.errors.contains(hint), "\(result.errors)")
      #expect(result.errors.utf8.count < 250)
    }
  }

  @Test(
    "An export that nothing makes is told with what makes it, and a misspelled one with the nearest",
    arguments: [
      (["--set", "export-nerfstudio.pick=sharpest"], "add --export nerfstudio"),
      (["--set", "export-nerfstdio.pick=sharpest"], "did you mean 'nerfstudio'?"),
      (["--until", "export-nerfstdio"], "did you mean 'nerfstudio'?"),
      (["--set", "color.count=none"], "'default' takes back what was set"),
    ])
  func unmadeExports(words: [String], told: String) throws {
    let place = try Self.capture.get()
    let result = try Program.run("run \(place) -o \(place)-out -n \(words)")
    #expect(result.status == 64 && result.errors.contains(told), "\(result.errors)")
  }

  @Test("Codes of what exports leave out, and families with their generations, in words")
  func words() throws {
    for code in [
      "no-picture", "other-size", "no-depth", "no-pose", "no-intrinsics", "no-time",
      "time-not-increasing", "outside-imu", "no-position", "not-selected",
    ] {
      #expect(try Program.run("explain \(code)").output.hasPrefix("\(code) (left-out)\n"))
    }
    let families = try Program.run("list families --json").json()
    let entries = try families.objects("families")
    #expect(
      entries.compactMap { $0["name"] as? String }
        == CaptureRegistry.builtIn.families.map(\.rawValue))
    for family in entries {
      let names = try #require(family["generations"] as? [String])
      let marks = try #require(family["marks"] as? [String: String])
      #expect(Set(marks.keys) == Set(names) && !marks.values.contains(""))
    }
  }
}
