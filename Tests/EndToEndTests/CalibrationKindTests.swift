import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Calibrations of other captures", .runsPrograms)
struct CalibrationKindTests {
  /// `s` has two cameras, `k` and `m` have one each; all pictures have one shape.
  private struct Place {
    let folder: TemporaryFolder
    var input: FilePath { folder.path.appending("in") }

    init() throws {
      folder = try TemporaryFolder()
      for (id, family) in [("s", "scannet"), ("k", "arkit-scanner"), ("m", "multiscan")] {
        try Program.synthesize(
          "\(family) --frames 3 --seed 5 --width 160 --height 120 --id \(id)", to: input)
      }
    }

    /// The calibration of a capture as a file, with more keys; its path.
    func lab(_ id: String, as name: String, _ more: [String: Any] = [:], fx: Double = 1) throws
      -> String
    {
      let inspection = try Program.run("inspect \(input.appending(id)) --quick --json")
      var alignment = try inspection.json().object("alignment")
      alignment.merge(more) { $1 }
      if var camera = alignment["colorIntrinsics"] as? [String: Any],
        let was = camera["fx"] as? Double
      {
        camera["fx"] = was * fx
        alignment["colorIntrinsics"] = camera
      }
      let file = folder.path.appending(name)
      try FileSystem.makeFolder(file.removingLastComponent())
      try file.write(json: alignment)
      return file.string
    }

    /// What is said of `aligned`, by capture: its outcome, and its message.
    func run(_ more: String..., stage: String = "aligned") throws -> (
      status: Int32, stages: [String: (outcome: String, message: String)], result: Program.Result
    ) {
      let result = try Program.run("run \(input) -o \(folder.path.appending("out")) --json \(more)")
      var found: [String: (outcome: String, message: String)] = [:]
      for capture in try result.json().objects("captures") {
        let stages = capture["stages"] as? [[String: Any]] ?? []
        guard let id = capture["id"] as? String,
          let told = stages.first(where: { $0["stage"] as? String == stage })
        else { continue }
        found[id] = (told["outcome"] as? String ?? "", told["message"] as? String ?? "")
      }
      return (result.status, found, result)
    }
  }

  private static let words = "does not apply to this capture: it is of"

  @Test("One of two cameras is refused by captures of one, and the others go on; the same reversed")
  func kinds() throws {
    let place = try Place()
    let two = try place.lab("s", as: "two.json")
    let one = try place.lab("k", as: "one.json")
    #expect(try place.run().status == 0)
    let own = place.folder.path.appending("out/k/aligned/000000.png").string
    let before = FileManager.default.contents(atPath: own)
    for (file, fits, reason) in [
      (two, ["s"], "two cameras, and depth and color of the capture are one camera"),
      (one, ["k", "m"], "one camera, and depth and color of the capture are two"),
    ] {
      let (status, stages, result) = try place.run("--set", "aligned.calibration=\(file)")
      #expect(status == 1, "\(result.errors)")
      for id in ["s", "k", "m"] {
        let (outcome, message) = try #require(stages[id])
        guard !fits.contains(id) else {
          #expect(["made", "up-to-date"].contains(outcome), "\(id): \(message)")
          continue
        }
        #expect(outcome == "failed", "\(id) with \(file)")
        #expect(message.hasPrefix("\(file): \(Self.words) \(reason)"), "\(id): \(message)")
      }
      let captures = try result.json().objects("captures")
      for capture in captures where !fits.contains(capture["id"] as? String ?? "") {
        #expect(capture["cause"] as? String == "input")
        let others = (capture["stages"] as? [[String: Any]] ?? []).filter {
          !["aligned", "tables", "preview"].contains($0["stage"] as? String)
        }
        #expect(others.allSatisfy { $0["outcome"] as? String != "failed" })
      }
      // Captures with one cause are told together.
      if file == two {
        let text = try Program.run(
          """
          run \(place.input) -o \(place.folder.path.appending("out")) --set \
          aligned.calibration=\(file) -q
          """)
        #expect(text.errors.components(separatedBy: Self.words).count == 2, "\(text.errors)")
      }
    }
    #expect(FileManager.default.contents(atPath: own) == before, "what was published stays")
    #expect(
      try place.run("--set", "aligned.calibration=default").status == 0,
      "without it all is as before")
    #expect(FileManager.default.contents(atPath: own) == before)
  }

  @Test("A focal length that is 10 % off is doubted, and used")
  func focal() throws {
    let place = try Place()
    let file = try place.lab("s", as: "lab.json", fx: 1.1)
    for (stage, more) in [("aligned", []), ("export-open3d", ["--export", "open3d"])] {
      let result = try Program.run(
        """
        run \(place.input.appending("s")) -o \(place.folder.path.appending(stage)) --json \
        --set \(stage).calibration=\(file) \(more)
        """
      ).succeeds()
      let capture = try result.json().capture()
      let doubts = (capture["warnings"] as? [[String: Any]] ?? []).filter {
        $0["code"] as? String == "calibration-suspect"
      }
      #expect(doubts.compactMap { $0["subject"] as? String } == ["color"], "\(stage): \(doubts)")
      #expect((doubts.first?["message"] as? String)?.contains("+10.0 %") == true, "\(doubts)")
    }
    let look = try Program.run("inspect \(place.input.appending("s")) --calibration \(file)")
    #expect(look.output.contains("warning: fx of the calibration's color camera"), "\(look.output)")
  }

  @Test("Every stage that takes a calibration refuses one of another kind; looking says so, too")
  func everywhere() throws {
    let place = try Place()
    let two = try place.lab("s", as: "two.json")
    let params = try Program.run("list parameters exports --json").json()["parameters"]
    let names = (params as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
      // What reads failed pictures would be blocked by them.
      .filter { $0.hasSuffix(".calibration") && $0.hasPrefix("export-") }
    #expect(names.count >= 11, "\(names)")
    let result = try Program.run(
      [
        "run", place.input.appending("k").string, "-o", place.folder.path.appending("out").string,
        "--json", "--pipeline", "exports",
      ] + names.flatMap { ["--set", "\($0)=\(two)"] })
    #expect(result.status == 1)
    let stages = try ExportScene.stages(result)
    for name in names {
      let stage = try #require(stages[String(name.dropLast(".calibration".count))], "\(name)")
      #expect(stage["outcome"] as? String == "failed", "\(name): \(stage)")
      let message = stage["message"] as? String ?? ""
      #expect(message.contains(Self.words), "\(name): \(message)")
    }
    let capture = place.input.appending("k").string
    let inspected = try Program.run("inspect \(capture) --calibration \(two)")
    #expect(inspected.status == 1 && inspected.errors.contains(Self.words), "\(inspected.errors)")
    let picture = place.folder.path.appending("look.png").string
    let viewed = try Program.run("view \(capture) --calibration \(two) -o \(picture)")
    #expect(
      (viewed.output + viewed.errors).contains(Self.words), "\(viewed.output) \(viewed.errors)")
  }

  @Test("Undistortion refuses a calibration of another kind, for color and for depth")
  func undistortion() throws {
    let place = try Place()
    let two = try place.lab("s", as: "two.json")
    let names = ["color", "depth"]
    let result = try Program.run(
      ["run", place.input.appending("k").string, "-o", place.folder.path.appending("out").string]
        + ["--json"]
        + names.flatMap { ["--set", "\($0).undistort=true", "--set", "\($0).calibration=\(two)"] })
    #expect(result.status == 1, "\(result.errors)")
    let stages = try ExportScene.stages(result)
    for name in names {
      let message = stages[name]?["message"] as? String ?? ""
      #expect(stages[name]?["outcome"] as? String == "failed", "\(name)")
      #expect(message.contains(Self.words), "\(name): \(message)")
    }
  }

  @Test("An export whose calibration has another shape than the pictures fails like alignment")
  func shape() throws {
    let place = try Place()
    let camera = ["width": 200, "height": 100, "fx": 150, "fy": 150, "cx": 99.5, "cy": 49.5]
    let file = try place.lab("k", as: "wide.json", ["colorIntrinsics": camera])
    let (status, stages, _) = try place.run(
      "--id", "k", "--export", "colmap", "--set", "export-colmap.calibration=\(file)",
      stage: "export-colmap")
    #expect(status == 1)
    #expect(stages["k"]?.message.hasPrefix("size-mismatch") == true, "\(stages)")
  }
}
