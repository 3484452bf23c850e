@testable import Captures
@testable import Engine
@testable import Stages
import TestSupport
import Testing

@Suite("What stages are expected to write")
struct ExpectedBytesTests {
  /// What a stage expects for 100 frames of color of 8x6 and depth of 4x3 pixels.
  private static func expected(
    _ kind: any Stage.Type, _ settings: [String: String]
  ) throws -> ExpectedBytes? {
    let capture = RGBDScene(frames: 3).capture
    var values = ParameterValues(defaultsOf: kind.parameters)
    for (name, text) in settings {
      let parameter = try #require(
        kind.parameters.first {
          ($0.sharedName.map { "\($0.stage).\($0.parameter)" } ?? $0.name) == name
        })
      values[parameter.name] = try parameter.value(from: text)
    }
    var opened = OpenedCapture(capture, CaptureSummary(capture, readerVersion: 1))
    opened.color?.count = 100
    opened.depth?.count = 100
    return kind.expectedBytes(values, opened)
  }

  @Test(
    "Only frames that are chosen count, and those that color picks may lack depth",
    arguments: [
      (DecodeColor.self, [:], 3600, 4752), (DecodeColor.self, ["count": "5"], 180, 237),
      (DecodeColor.self, ["every": "10", "count": "50"], 360, 475),
      (DecodeColor.self, ["pick": "motion"], 36, 475), (AlignDepth.self, [:], 480, 1920),
      (AlignDepth.self, ["color.count": "5"], 0, 96),
      (AlignDepth.self, ["color.count": "5", "count": "2"], 0, 38),
      // Files of other stages are named, not written.
      (ExportNerfstudio.self, [:], nil, nil), (ExportNerfstudio.self, ["count": "5"], 0, 237),
    ] as [(any Stage.Type, [String: String], Int64?, Int64?)])
  func chosen(
    _ kind: any Stage.Type, _ settings: [String: String], _ least: Int64?, _ usual: Int64?
  ) throws {
    let found = try Self.expected(kind, settings)
    #expect(found?.least == least && found?.usual == usual, "\(String(describing: found))")
  }
}
