@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
@testable import Engine
import StageSupport
import TestSupport
import Testing

@testable import Stages

@Suite("One camera for all frames")
struct CommonCameraTests {
  /// cx of frame k is 7.25 + `shift` · k; three frames.
  private static func capture(shift: Double) -> GridCapture {
    var capture = GridCapture(frames: 3)
    for frame in 0..<3 { capture.cameras[frame]?.cx = 7.25 + shift * Double(frame) }
    return capture
  }

  private static func run(
    _ kind: any Stage.Type, _ settings: [String: String], shift: Double
  ) throws -> (Export, [CaptureWarning]) {
    let grid = capture(shift: shift)
    let bench = try StageBench(grid.capture)
    var inputs = [
      "color": try bench.color(grid.colors), "aligned": try bench.depthPictures(grid.depths),
    ]
    // Formats that hold JPEG get it as the pipeline gives it.
    inputs["jpeg"] = try bench.run(JPEGPictures.self, inputs: inputs).artifact
    let output = try bench.run(kind, settings, inputs: inputs)
    return (Export(output: output), output.warnings)
  }

  @Test(
    "Up to two pixels are usual; more is told, with the spread and the choice",
    arguments: [(0.5, [:], 0), (2, [:], 0), (4, [:], 2), (2, ["camera": "first"], 1)]
      as [(Double, [String: String], Int)])
  func warning(shift: Double, settings: [String: String], count: Int) throws {
    for kind in [ExportOpen3D.self, ExportScanNet.self, ExportSens.self] as [any Stage.Type] {
      let (export, warnings) = try Self.run(kind, settings, shift: shift)
      #expect(warnings.map(\.code) == (count == 0 ? [] : [.intrinsicsVary]), "\(kind.name)")
      guard let warning = warnings.first else { continue }
      #expect(warning.count == count)
      let spread = settings.isEmpty ? shift : 2 * shift
      #expect(
        warning.message.contains("the principal point is up to \(Int(spread)) pixels away"),
        "\(warning.message)")
      #expect(try export.account.intrinsicsDeviation == spread)
    }
  }

  @Test(
    "The camera is the median or that of the first frame",
    arguments: [("median", "11.25"), ("first", "7.25")])
  func choice(name: String, cx: String) throws {
    let (export, _) = try Self.run(ExportOpen3D.self, ["camera": name], shift: 4)
    #expect(try export.text("intrinsic.json").contains(cx))
    let (model, warnings) = try Self.run(ExportColmap.self, ["camera": name], shift: 4)
    let cameras = try model.text("sparse/0/cameras.txt").lines
      .filter { !$0.hasPrefix("#") }
    #expect(cameras.count == 1)
    // Counted from the corner.
    #expect(cameras.first?.contains(name == "median" ? " 11.75 " : " 7.75 ") == true)
    #expect(warnings.map(\.code) == [.intrinsicsVary])
    let (scene, _) = try Self.run(ExportNerfstudio.self, ["camera": name], shift: 4)
    let text = try scene.text("transforms.json")
    #expect(text.components(separatedBy: "fl_x").count == 2, "at the top alone")
  }

  @Test("Formats that store the camera of each frame write it, without a warning")
  func perFrame() throws {
    for (kind, name) in [
      (ExportColmap.self, "sparse/0/cameras.txt"), (ExportNerfstudio.self, "transforms.json"),
    ] as [(any Stage.Type, String)] {
      let (usual, warnings) = try Self.run(kind, [:], shift: 4)
      let (named, _) = try Self.run(kind, ["camera": "per-frame"], shift: 4)
      #expect(warnings.isEmpty)
      #expect(try usual.bytes(name) == named.bytes(name))
      for cx in ["7.75", "11.75", "15.75"] { #expect(try usual.text(name).contains(cx)) }
    }
  }

  @Test("camera goes before intrinsics, which COLMAP had first")
  func both() throws {
    let (export, _) = try Self.run(
      ExportColmap.self, ["intrinsics": "median", "camera": "per-frame"], shift: 4)
    #expect(try export.text("sparse/0/cameras.txt").contains(" 15.75 "))
  }
}
