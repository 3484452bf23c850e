@testable import Captures
@testable import Media
@testable import Core
@testable import Engine
@testable import Stages
import StageSupport
import Testing

@Suite("Color in the depth camera")
struct AlignColorTests {
  private func aligned(
    _ bench: StageBench, depth: [DepthImage?], color: [ColorImage?],
    _ settings: [String: String] = [:], cores: Int = 2
  ) throws -> StageBench.Output {
    try bench.run(
      AlignColor.self, settings,
      inputs: ["frames": try bench.depth(depth), "color": try bench.color(color)], cores: cores)
  }

  @Test("Seen pixels have the color of their point, hidden ones are empty")
  func analyticScene() throws {
    let scene = BoardScene()
    let output = try aligned(
      try StageBench(scene.capture), depth: [scene.depth], color: [scene.color])
    #expect(output.result.frames == 1)
    #expect(output.names == ["000000.png", "mask/000000.png"])
    let picture = try PNGReader.color(at: output.file("000000.png"))
    let mask = try PNGReader.gray(at: output.file("mask/000000.png"))
    #expect((picture.width, picture.height) == (80, 60))
    var counts = (seen: 0, hidden: 0)
    for j in 0..<picture.height {
      for i in 0..<picture.width {
        let at = j * picture.width + i
        let rgb = picture.rgb[(3 * at)..<(3 * at + 3)].map(Double.init)
        switch scene.expected(i, j) {
        case .seen(let expected):
          counts.seen += 1
          #expect(mask.values[at] == 255, "(\(i), \(j))")
          for (a, b) in zip(rgb, expected) { #expect(abs(a - b) <= 1, "(\(i), \(j))") }
        case .hidden:
          counts.hidden += 1
          #expect(mask.values[at] == 0, "(\(i), \(j))")
          #expect(rgb == [0, 0, 0])
        case .unsure: break
        }
      }
    }
    // A strip of wall as wide as the parallax (0.2 · 70 · (1 − 1/3) = 9.3 pixels) and the board's height.
    #expect(counts.hidden > 100)
    #expect(counts.seen > 2500)
  }

  @Test("A missing depth frame or picture leaves a hole; nothing moves up", arguments: [1, 3])
  func holes(cores: Int) throws {
    let scene = BoardScene()
    let (depth, color) = (scene.depth, scene.color)
    let output = try aligned(
      try StageBench(scene.capture), depth: [depth, nil, depth, depth, depth],
      color: [color, color, nil, color], ["masks": "false"], cores: cores)
    #expect(output.names == ["000000.png", "000003.png"])
    #expect(output.result.frames == 2)
  }

  @Test("Depth that is registered already takes the color at its own place")
  func registered() throws {
    var scene = BoardScene()
    scene.colorFromDepth = .identity
    scene.depthCamera = scene.colorCamera.scaled(toWidth: 80, height: 60)
    var capture = scene.capture
    capture.alignment = DepthCalibration(registered: true, colorIntrinsics: scene.colorCamera)
    let output = try aligned(
      try StageBench(capture), depth: [scene.depth], color: [scene.color])
    let mask = try PNGReader.gray(at: output.file("mask/000000.png"))
    #expect(mask.values.allSatisfy { $0 == 255 })
    let picture = try PNGReader.color(at: output.file("000000.png"))
    for j in 0..<60 {
      for i in 0..<80 {
        guard case .seen(let expected) = scene.expected(i, j) else { continue }
        let at = 3 * (j * 80 + i)
        for (channel, value) in expected.enumerated() {
          #expect(abs(Double(picture.rgb[at + channel]) - value) <= 1)
        }
      }
    }
  }

  @Test("Without a calibration or without color the stage does not apply")
  func applicability() {
    var capture = BoardScene().capture
    capture.depth = .lost(80, 60, frames: 0)
    let parameters = ParameterValues(defaultsOf: AlignColor.parameters)
    func applies(_ capture: Capture) -> Applicability {
      AlignColor.applicability(parameters, CaptureSummary(capture, readerVersion: 1))
    }
    #expect(applies(capture) == .applies)
    var noCalibration = capture
    noCalibration.alignment?.colorFromDepth = nil
    #expect(
      applies(noCalibration) == .notApplicable("the calibration is incomplete: no extrinsics"))
    var noColor = capture
    noColor.color = .absent("no video")
    #expect(applies(noColor) == .notApplicable("no video"))
  }
}
