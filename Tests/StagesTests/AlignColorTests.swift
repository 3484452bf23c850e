import StageSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

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

@Suite("Confidence on the grid of color")
struct AlignedConfidenceTests {
  /// The value of a depth pixel: stripes and a step between the halves, so that no shift or flip looks the same.
  private static func value(_ i: Int, _ j: Int) -> UInt8 {
    UInt8((i / 5 + 2 * (j / 7)) % 3) + (j < 25 ? 10 : 0)
  }

  /// The color camera is moved and turned in all directions.
  private static var scene: BoardScene {
    var scene = BoardScene()
    scene.colorFromDepth = RigidTransform(
      rotation: Quaternion(x: 0.02, y: -0.03, z: 0.04, w: 0.998549).rotation,
      translation: [-0.2, 0.05, -0.03])
    return scene
  }

  private static func bench(turns: Int) throws -> StageBench {
    let scene = scene
    var capture = scene.capture
    var color = try #require(capture.color.value)
    if turns % 2 != 0 { (color.description.width, color.description.height) = (180, 240) }
    color.clockwiseQuarterTurns = turns
    capture.color = .present(color)
    let confidence = (0..<4800).map { value($0 % 80, $0 / 80) }
    capture.confidence = .present(
      ConfidenceStream(
        description: .untold, width: 80, height: 60,
        access: .indexed(RepeatedPicture(pixels: confidence))))
    return try StageBench(capture)
  }

  @Test("Every pixel has the confidence of the depth that it shows", arguments: 0..<4)
  func values(turns: Int) throws {
    let scene = Self.scene
    let bench = try Self.bench(turns: turns)
    let frames = try bench.depth([scene.depth, nil, scene.depth])
    let output = try bench.run(
      AlignDepth.self, ["confidence": "true"], inputs: ["frames": frames])
    #expect(
      output.names.sorted() == [
        "000000.png", "000002.png", "confidence/000000.png", "confidence/000002.png",
      ])
    let aligned = try PNGReader.depth(at: output.file("000000.png"))
    let confidence = try PNGReader.gray(at: output.file("confidence/000000.png"))
    #expect((confidence.width, confidence.height) == (aligned.width, aligned.height))
    var compared: [UInt8: Int] = [:]
    for y in 0..<180 {
      for x in 0..<240 {
        let (u, v) = [(x, y), (179 - y, x), (239 - x, 179 - y), (y, 239 - x)][turns]
        let pixel = v * aligned.width + u
        guard aligned.millimeters[pixel] != 0 else {
          #expect(confidence.values[pixel] == 0, "\(x), \(y)")
          continue
        }
        let point = scene.colorHit(u: Double(x), v: Double(y)).point
        // Beside an outline it may be either surface.
        let z = scene.colorFromDepth.apply(to: point)[2]
        guard abs(Double(aligned.millimeters[pixel]) - 1000 * z) <= 1 else { continue }
        let i = scene.depthCamera.fx * point[0] / point[2] + scene.depthCamera.cx
        let j = scene.depthCamera.fy * point[1] / point[2] + scene.depthCamera.cy
        let around = Set(
          [-0.05, 0.05].flatMap { di in
            [-0.05, 0.05].map { Self.value(Int((i + di).rounded()), Int((j + $0).rounded())) }
          })
        guard around.count == 1, let expected = around.first else { continue }
        compared[expected, default: 0] += 1
        #expect(confidence.values[pixel] == expected, "\(x), \(y)")
      }
    }
    #expect(Set(compared.keys) == [0, 1, 2, 10, 11, 12])
    #expect(compared.values.allSatisfy { $0 > 1000 })
  }

  @Test("Unless it is asked for, aligned depth is as it was, and its record too")
  func unset() throws {
    let scene = Self.scene
    let bench = try Self.bench(turns: 0)
    let frames = try bench.depth([scene.depth])
    let plain = try bench.run(AlignDepth.self, inputs: ["frames": frames])
    let both = try bench.run(
      AlignDepth.self, as: "both", ["confidence": "true"], inputs: ["frames": frames])
    #expect(plain.names == ["000000.png"])
    #expect(plain.artifact.record.parameters["confidence"] == nil)
    #expect(
      try PNGReader.depth(at: plain.file("000000.png"))
        == PNGReader.depth(at: both.file("000000.png")))
    let parameters = ParameterValues(defaultsOf: AlignDepth.parameters)
    #expect(AlignDepth.reads(parameters, connected: []) == [.calibration])
  }
}
