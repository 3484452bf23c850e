@testable import Media
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Undistorted and smaller color pictures", .runsPrograms)
struct ColorShapeTests {
  private let folder: TemporaryFolder
  private var input: String { folder.path.appending("in").string }
  private var lab: FilePath { folder.path.appending("lab.json") }

  init() throws { folder = try TemporaryFolder() }

  private func make(_ family: String, frames: Int = 4, _ more: String...) throws {
    let depth = family == "scannet" ? Scene.smallDepth : []
    try Program.synthesize(
      "\(family) --frames \(frames) --seed 5 --width 160 --height 120 --id a \(depth) \(more)",
      to: input)
  }

  /// The capture's own calibration as a file, with a lens.
  private func makeLab() throws {
    try LabCalibration.write(lab, of: folder.path.appending("in/a"))
  }

  private func run(_ output: String, _ settings: [String] = [], _ more: String...) throws
    -> Program.Result
  {
    try Program.run(
      ["run", input, "--output", folder.path.appending(output).string, "--json"]
        + settings.flatMap { ["--set", $0] } + more)
  }

  /// A value of each stage by its name, such as its outcome.
  private func stages(_ result: Program.Result, _ key: String = "outcome") throws -> [String:
    String]
  {
    let stages = try result.json().capture().objects("stages")
    return Dictionary(
      uniqueKeysWithValues: stages.map {
        ($0["stage"] as? String ?? "?", $0[key] as? String ?? "")
      })
  }

  private func place(_ output: String) -> FilePath { folder.path.appending(output).appending("a") }

  private func record(_ output: String, _ stage: String) throws -> [String: Any] {
    try place(output).appending("\(stage)/artifact.json").json()
  }

  private func size(_ output: String, _ picture: String) throws -> [Int] {
    let head = try StillImage.header(place(output).appending(picture))
    return [head.storedWidth, head.storedHeight]
  }

  @Test(
    "A size reruns exactly what lies on the color grid, and taking it back gives the bytes of before"
  )
  func reruns() throws {
    try make("scannet")
    try run("out").succeeds()
    let names = ["color", "aligned", "depth", "imu", "tables"]
    let before = try names.map { try #require(record("out", $0)["outputDigest"] as? String) }
    let fingerprints = try names.map { try #require(record("out", $0)["fingerprint"] as? String) }
    let smaller = try stages(run("out", ["color.size=50%"]))
    #expect(
      Set(smaller.filter { $0.value == "made" }.keys)
        == ["color", "aligned", "tables", "preview"])
    #expect(try size("out", "color/000000.png") == [80, 60])
    #expect(try size("out", "aligned/000000.png") == [80, 60])
    let same = try stages(run("out", ["color.size=80"]))
    #expect(same["color"] == "made" && same["tables"] == "up-to-date", "the same pictures: \(same)")
    try run("out", ["color.size=default"]).succeeds()
    #expect(try names.map { try #require(record("out", $0)["outputDigest"] as? String) } == before)
    #expect(
      try names.map { try #require(record("out", $0)["fingerprint"] as? String) } == fingerprints)
  }

  @Test(
    "Pictures, aligned depth, tables and the camera of aligned have one size and one camera",
    arguments: Rounds.every(
      2,
      of: [
        ("scannet", "50%", 80, 60), ("arkit-scanner", "100", 100, 75),
        ("multiscan", "33x90", 33, 25), ("arkit-scanner", "400", 160, 120),
      ]))
  func sizes(_ family: String, _ size: String, _ width: Int, _ height: Int) throws {
    try make(family, frames: 2)
    try run("out", ["color.size=\(size)"]).succeeds()
    try run("plain").succeeds()
    #expect(try self.size("out", "color/000001.png") == [width, height])
    let table = try Table(place("out").appending("tables/intrinsics.csv"))
    let plain = try Table(place("plain").appending("tables/intrinsics.csv"))
    try #require(!table.rows.isEmpty && table.rows.count == plain.rows.count)
    #expect(Set(table["width"]) == ["\(width)"] && Set(table["height"]) == ["\(height)"])
    for (row, was) in zip(table.rows, plain.rows) {
      let (new, old) = (row.compactMap(Double.init), was.compactMap(Double.init))
      try #require(new.count == 7 && old.count == 7)
      let (sx, sy) = (Double(width) / old[1], Double(height) / old[2])
      #expect(abs(new[3] - old[3] * sx) < 1e-9 && abs(new[4] - old[4] * sy) < 1e-9)
      #expect(abs(new[5] - ((old[5] + 0.5) * sx - 0.5)) < 1e-9)
      #expect(abs(new[6] - ((old[6] + 0.5) * sy - 0.5)) < 1e-9)
    }
    guard FileSystem.exists(place("out").appending("aligned/000001.png")) else { return }
    #expect(try self.size("out", "aligned/000001.png") == [width, height])
    let camera = try #require(
      (record("out", "aligned")["parameters"] as? [String: Any])?["outputIntrinsics"]
        as? [String: Any])
    #expect(camera["width"] as? Int == width && camera["height"] as? Int == height)
  }

  @Test(
    "Every export of smaller pictures has pictures, depth and cameras of that size",
    arguments: Rounds.some(of: ["arkit-scanner", "scannet"], 1))
  func exports(_ family: String) throws {
    try make(family, frames: 6, "--empty-room", "--noise", "0", "--exposure", "0")
    let plain = try stages(run("plain", [], "--pipeline", "exports"))
    let result = try run("out", ["color.size=50%"], "--pipeline", "exports").succeeds()
    let made = try stages(result)
    #expect(made == plain, "the same stages apply")
    try ExportInvariants(capture: place("out")).check()
    let exports = made.filter { $0.key.hasPrefix("export-") && $0.value == "made" }.keys.sorted()
    #expect(exports.count >= (family == "scannet" ? 9 : 10))
    var seen = 0
    for export in exports {
      for name in try pictures(of: export) {
        let size = try self.size("out", "\(export)/\(name)")
        let was = try self.size("plain", "\(export)/\(name)")
        let isOnColor = was == [160, 120]
        #expect(size == (isOnColor ? [80, 60] : was), "\(export)/\(name)")
        if isOnColor { seen += 1 }
      }
    }
    #expect(seen > 6 * 5)
    guard family != "scannet" else { return }
    let transforms = try place("out").appending("export-nerfstudio/transforms.json").json()
    #expect(transforms["w"] as? Int == 80)
  }

  private func pictures(of export: String) throws -> [String] {
    try place("out").appending(export).namesBelow().filter {
      $0.hasSuffix(".png") || $0.hasSuffix(".jpg")
    }
  }

  @Test(
    "Readers of other people find the geometry of smaller pictures right",
    .enabled(if: Readers.arePresent, "needs .build/readers"))
  func readers() throws {
    let scene = try ExportScene("arkit-scanner", frames: 24)
    try scene.run("--export colmap,open3d --until tables --set color.size=60% --json")
      .succeeds()
    let reading = try Readers.check(
      ["colmap", "open3d"], of: scene.capture, truth: scene.truth, mistakes: false)
    #expect(reading.status == 0, "\(reading.output)")
  }

  @Test(
    "Without a lens that is known undistortion is refused, for that capture and with the remedy")
  func noLens() throws {
    try make("arkit-scanner")
    let result = try run("out", ["color.undistort=true"])
    #expect(result.status == 1)
    let (outcomes, messages) = (try stages(result), try stages(result, "message"))
    for stage in ["color", "aligned"] {
      #expect(outcomes[stage] == "failed")
      let message = messages[stage] ?? ""
      #expect(message.contains("states no lens coefficients of its color camera"), "\(message)")
      #expect(message.contains("give a calibration, or leave undistort out"))
    }
    #expect(outcomes["depth"] == "made" && outcomes["tables"] == "made")
    let depth = try run("out", ["color.undistort=default", "depth.undistort=true"])
    #expect(try stages(depth)["depth"] == "failed" && stages(depth)["color"] == "made")
  }

  @Test("Settings that contradict each other are refused before anything runs")
  func contradictions() throws {
    try make("arkit-scanner")
    try makeLab()
    for settings in [
      ["color.size=0"], ["color.size=200%"], ["color.alpha=0.5"], ["color.calibration=\(lab)"],
      ["color.undistort=true", "aligned.calibration=\(lab)"], ["depth.alpha=1"],
      ["color.undistort=true", "color.alpha=2"],
    ] {
      let result = try run("out", settings)
      #expect(result.status == 64, "\(settings): \(result.status) \(result.errors)")
      #expect(!FileSystem.exists(folder.path.appending("out")))
    }
  }

  @Test(
    "Undistorted pictures are those of OpenCV, also made smaller; aligned and exports share their camera",
    arguments: Rounds.some(
      of: [("none", nil, 160, 120), ("0.5", "60%", 96, 72), ("0", "101", 101, 76)]
        as [(String, String?, Int, Int)], 2))
  func undistorted(_ alpha: String, _ size: String?, _ width: Int, _ height: Int) throws {
    try make("scannet")
    try makeLab()
    let calibration = ["color.calibration=\(lab)"]
    var shape = calibration + ["color.undistort=true", "depth.undistort=true"]
    if alpha != "none" { shape += ["color.alpha=\(alpha)", "depth.alpha=\(alpha)"] }
    if let size { shape.append("color.size=\(size)") }
    try run("plain", ["aligned.calibration=\(lab)"]).succeeds()
    try run(
      "out", shape, "--pipeline", "exports", "--until", "tables,depth,export-scannet"
    ).succeeds()
    #expect(try self.size("out", "color/000000.png") == [width, height])
    #expect(try self.size("out", "aligned/000000.png") == [width, height])
    #expect(try self.size("out", "export-scannet/color/0.jpg") == [width, height])
    let stated = try place("out").appending("export-scannet/intrinsic/intrinsic_color.txt").text()
    let table = try Table(place("out").appending("tables/intrinsics.csv"))
    let focal = try #require(table["fx"].first.flatMap(Double.init))
    #expect(stated.split(separator: " ").first.flatMap { Double($0) } == focal)
    #expect(
      try record("out", "color")["outputDigest"] as? String
        != record("plain", "color")["outputDigest"] as? String)
    guard Readers.arePresent else { return }
    let compared = try Readers.compareShape(
      plain: place("plain"), shaped: place("out"), calibration: lab, size: (width, height),
      alpha: alpha)
    #expect(compared.status == 0, "\(compared.output)")
    print(compared.output)
  }

  @Test("What is taken back is taken back in exports of earlier runs too, which nobody names again")
  func takenBack() throws {
    let scene = try ExportScene("stray-scanner", frames: 2)
    // Its color camera states no lens.
    let set = try scene.run("--export open3d --set color.undistort=true -q")
    #expect(set.status == 1 && set.errors.contains("undistort: "), "\(set.errors)")
    try scene.run("--set color.undistort=default -q").succeeds()
    // Nor does what a pipeline names itself come from an earlier run.
    let own = scene.folder.path.appending("own.yaml")
    let text = "schema: 1\nstages:\n  color: {uses: decode-color, with: {size: 50%}}\n"
    try OutputFile.write(Array(text.utf8), to: own)
    for words: Words in ["-n", "-n --pipeline \(own)"] {
      let plan = try scene.run(words)
      #expect(plan.status == 0 && !plan.output.contains("holds from"), "\(plan.output)")
    }
    let record = try scene.capture.appending("export-open3d/artifact.json").text()
    #expect(record.contains(#""colorUndistort" : false"#), "\(record)")
  }

  @Test("color.calibration is the calibration of every stage and export; another one is refused")
  func oneCalibration() throws {
    try make("scannet")
    try makeLab()
    let settings = ["color.undistort=true", "color.calibration=\(lab)", "depth.undistort=true"]
    try run("out", settings, "--export", "sens,ply,open3d", "--until", "depth").succeeds()
    for stage in ["aligned", "depth", "export-sens", "export-ply", "export-open3d"] {
      let inputs = try record("out", stage).object("inputs")
      let files = try #require(inputs["external"] as? [String: String], "\(stage)")
      #expect(files.keys.contains("calibration"), "\(stage)")
    }
    let other = folder.path.appending("other.json")
    try lab.copy(to: other)
    for stage in ["aligned", "export-sens", "export-ply"] {
      let result = try run(
        "out", settings + ["\(stage).calibration=\(other)"], "--export", "sens,ply")
      #expect(result.status == 64)
      #expect(
        result.errors.contains(
          "\(stage).calibration: color is undistorted with another calibration; give the same as "
            + "color.calibration"), "\(result.errors)")
    }
  }

  @Test("The coefficients in ScanNet's own metadata do what a calibration file with them does")
  func ownLens() throws {
    try make("scannet", frames: 2)
    try makeLab()
    let shape = ["color.undistort=true", "depth.undistort=true"]
    let names = ["color", "depth", "aligned", "export-ply"]
    let words = ["--export", "ply", "--until", "color,depth,aligned"]
    func digests(_ output: String, _ settings: [String]) throws -> [String] {
      try Program.run(
        ["run", input, "--output", folder.path.appending(output).string]
          + settings.flatMap { ["--set", $0] } + words
      ).succeeds()
      return try names.map { name in
        // Digests of pictures and points only; a README tells where the cameras are from.
        let outputs = try record(output, name).objects("outputs")
        return outputs.map { "\($0["path"] ?? "") \($0["sha256"] ?? "")" }
          .filter { $0.contains(".png ") || $0.contains(".ply ") }.joined(separator: "\n")
      }
    }
    let byFile = try digests("file", shape + ["color.calibration=\(lab)"])
    let text = folder.path.appending("in/a/a.txt")
    var metadata = try text.text()
    for camera in ["color", "depth"] {
      for (index, value) in LabCalibration.coefficients.enumerated() {
        metadata += "k\(index + 1)_\(camera) = \(value)\r\n"
      }
    }
    try text.write(metadata)
    let inspection = try Program.run("inspect \(input) --json")
    let alignment = try inspection.json().object("alignment")
    let lenses = try #require(alignment["distortion"] as? [String: [String: Double]])
    #expect(lenses["color"]?["p1"] == LabCalibration.coefficients[2])
    #expect(lenses["depth"]?["k1"] == LabCalibration.coefficients[0])
    #expect(try digests("own", shape) == byFile)
  }
}
