@testable import Captures
@testable import Core
@testable import Engine
import Media
@testable import Processing
import StageSupport
@testable import Stages
import SystemPackage
import TestSupport
import Testing

@Suite("Masks of color pictures")
struct MakeMasksTests {
  private static let lens = LensDistortion(openCVOrder: [-0.3, 0.05, 0.001, -0.002])

  private static func gray(_ width: Int, _ height: Int, _ value: (Int, Int) -> UInt8) -> ColorImage
  {
    ColorImage(
      width: width, height: height,
      rgb: (0..<width * height).flatMap { pixel in
        [UInt8](repeating: value(pixel % width, pixel / width), count: 3)
      })
  }

  private static func mask(_ output: StageBench.Output, _ frame: Int) throws -> GrayImage {
    try PNGReader.gray(at: output.file(FrameFileName.name(frame)))
  }

  @Test(
    "The border of undistorted pictures is what has no source through the lens",
    arguments: [0.5, 1])
  func border(alpha: Double) throws {
    var grid = GridCapture(frames: 2)
    grid.lens = Self.lens
    grid.cameras[1]?.fx = 11
    let bench = try StageBench(grid.capture)
    let shape = PictureShape(undistorts: true, alpha: alpha, sizing: nil)
    let color = try bench.color(grid.colors, recorded: PublishedShape(shape: shape).recorded)
    let output = try bench.run(
      MakeMasks.self, ["colorUndistort": "true", "colorAlpha": "\(alpha)"],
      inputs: ["color": color])
    #expect(output.names.sorted() == ["000000.png", "000001.png"])
    for frame in 0..<2 {
      let recorded = try #require(grid.cameras[frame]).turnedClockwise(quarterTurns: 0)
      let pinhole = try #require(
        shape.camera(from: LensCamera(pinhole: recorded, distortion: Self.lens))
      ).pinhole
      let mask = try Self.mask(output, frame)
      var counts = [0: 0, 255: 0]
      for v in 0..<mask.height {
        for u in 0..<mask.width {
          let source = Self.lens.distorted(
            x: (Double(u) - pinhole.cx) / pinhole.fx, y: (Double(v) - pinhole.cy) / pinhole.fy)
          let x = source.x * recorded.fx + recorded.cx
          let y = source.y * recorded.fy + recorded.cy
          let value = Int(mask.values[v * mask.width + u])
          counts[value, default: 0] += 1
          // A pixel on the very border may be either.
          let inside = min(x, y, Double(mask.width - 1) - x, Double(mask.height - 1) - y)
          if abs(inside) > 0.01 { #expect(value == (inside > 0 ? 255 : 0), "\(frame): \(u), \(v)") }
        }
      }
      #expect(counts.keys.sorted() == [0, 255])
      #expect(counts.values.allSatisfy { $0 > 0 })
    }
  }

  @Test("Confidence below the limit is 0, on the grid of the upright picture", arguments: 0..<4)
  func confidence(turns: Int) throws {
    let grid = GridCapture(frames: 3)
    var capture = grid.capture
    let isSideways = turns % 2 != 0
    let (width, height) = isSideways ? (12, 16) : (16, 12)
    var color = try #require(capture.color.value)
    (color.description.width, color.description.height) = (width, height)
    color.clockwiseQuarterTurns = turns
    capture.color = .present(color)
    let bench = try StageBench(capture)
    // 10x9 cells of the stored 16x12 pixels; frame 1 has none.
    let cells = Self.gray(10, 9) { x, y in UInt8((x + 2 * y) % 3) }
    let confidence = try bench.run(
      GrayPictures.self, as: "confidence",
      inputs: ["color": try bench.color([cells, nil, cells], as: "cells")]
    ).artifact
    let pictures = try bench.color(
      (0..<3).map { _ in Self.gray(width, height) { _, _ in 9 } })
    let output = try bench.run(
      MakeMasks.self, ["minimumConfidence": "2"],
      inputs: ["color": pictures, "confidence": confidence])
    let mask = try Self.mask(output, 0)
    for y in 0..<12 {
      for x in 0..<16 {
        let (u, v) = [(x, y), (11 - y, x), (15 - x, 11 - y), (y, 15 - x)][turns]
        let cell = (x: Int((Double(x) + 0.5) / 1.6), y: Int((Double(y) + 0.5) * 0.75))
        let isSure = (cell.x + 2 * cell.y) % 3 == 2
        #expect(mask.values[v * width + u] == (isSure ? 255 : 0), "\(x), \(y)")
      }
    }
    #expect(try Self.mask(output, 1).values.allSatisfy { $0 == 255 })
    #expect(output.warnings.map(\.code) == [.confidenceMissing])
  }

  @Test("What other stages mark is left out too; with nothing to leave out there are no masks")
  func others() throws {
    let grid = GridCapture(frames: 2)
    let bench = try StageBench(grid.capture)
    let color = try bench.color(grid.colors)
    let people = try bench.color(
      [Self.gray(16, 12) { x, _ in x < 4 ? 0 : 255 }, nil], as: "people")
    let output = try bench.run(MakeMasks.self, inputs: ["color": color, "people": people])
    #expect(
      try Self.mask(output, 0).values == (0..<192).map { $0 % 16 < 4 ? 0 : 255 })
    #expect(try Self.mask(output, 1).values.allSatisfy { $0 == 255 })
    #expect(throws: StageDoesNotApply.self) {
      try bench.run(MakeMasks.self, as: "none", inputs: ["color": color])
    }
    let small = try bench.color([Self.gray(8, 6) { _, _ in 0 }], as: "small")
    #expect(throws: StageFailure.self) {
      try bench.run(MakeMasks.self, as: "other", inputs: ["color": color, "small": small])
    }
    #expect(throws: StageFailure.self) {
      try bench.run(
        MakeMasks.self, as: "shape", ["colorSize": "50%"],
        inputs: ["color": color, "people": people])
    }
  }

  @Test("Exports put masks where the tool looks, and take no start points where they are 0")
  func exports() throws {
    let grid = GridCapture(frames: 1)
    let bench = try StageBench(grid.capture)
    let color = try bench.color(grid.colors)
    let marks = try bench.color(
      [Self.gray(16, 12) { x, y in x < 8 && y < 8 ? 0 : 255 }], as: "marks")
    let masks = try bench.run(
      MakeMasks.self, as: "masks", inputs: ["color": color, "marks": marks])
    let inputs = [
      "color": color, "aligned": try bench.depthPictures(grid.depths), "masks": masks.artifact,
    ]
    let nerfstudio = Export(
      output: try bench.run(ExportNerfstudio.self, ["masks": "true"], inputs: inputs))
    #expect(
      try nerfstudio.text("transforms.json").contains(
        "\"depth_file_path\": \"depths/frame_000000.png\", \"mask_path\": \"masks/frame_000000.png\""
      ))
    #expect(nerfstudio.files("masks") == ["frame_000000.png"])
    // Of the pixels (0, 0), (8, 0), (0, 8), (8, 8).
    #expect(try nerfstudio.account.points == 3)
    let colmap = Export(output: try bench.run(ExportColmap.self, ["masks": "true"], inputs: inputs))
    #expect(colmap.files("masks") == ["000000.png.png"])
    #expect(try colmap.account.points == 3)
    let open3D = Export(output: try bench.run(ExportOpen3D.self, ["masks": "true"], inputs: inputs))
    let depth = try PNGReader.depth(at: open3D.output.file("depth/000000.png"))
    let unmasked = try PNGReader.depth(at: inputs["aligned"]?.folder.appending("000000.png") ?? "")
    #expect(
      depth.millimeters
        == unmasked.millimeters.enumerated().map { pixel, millimeters in
          pixel % 16 < 8 && pixel / 16 < 8 ? 0 : millimeters
        })
    let parameters = ParameterValues(defaultsOf: ExportColmap.parameters)
    let summary = CaptureSummary(grid.capture, readerVersion: 1)
    for kind in [ExportColmap.self, ExportOpen3D.self] as [any Stage.Type] {
      let isConnected = kind.connects("masks", parameters, summary)
      #expect(!isConnected)
    }
  }
}
