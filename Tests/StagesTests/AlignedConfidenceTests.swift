@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
import StageSupport
@testable import Stages
import Testing

@Suite("Confidence on the grid of color")
struct AlignedConfidenceTests {
  /// The value of a depth pixel: stripes and a step between the halves, so that no shift or flip looks the same.
  private static func value(_ i: Int, _ j: Int) -> UInt8 {
    UInt8((i / 5 + 2 * (j / 7)) % 3) + (j < 25 ? 10 : 0)
  }

  private static func bench(turns: Int) throws -> StageBench {
    let scene = BoardScene()
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
    let scene = BoardScene()
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
        guard abs(Double(aligned.millimeters[pixel]) - 1000 * point[2]) <= 1 else { continue }
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
    let scene = BoardScene()
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
