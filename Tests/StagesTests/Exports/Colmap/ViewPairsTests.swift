@testable import Captures
@testable import Core
@testable import Engine
@testable import Stages
import StageSupport
import TestSupport
import Testing

@Suite("Pairs of pictures that show the same")
struct ViewPairsTests {
  /// Cameras in a row, 0.3 m apart, before a wall one meter away, of which each shows 1.6 m.
  private static func row(_ count: Int) -> GridCapture {
    var capture = GridCapture(frames: count)
    for frame in 0..<count {
      capture.poses[frame] = Pose(
        position: [0.3 * Double(frame), 0, 0], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
      capture.depths[frame] = capture.depths[0]
    }
    return capture
  }

  private static func pairs(_ capture: GridCapture, _ count: Int, cores: Int = 2) throws -> [String]
  {
    try capture.export(ExportColmap.self, ["pairs": "\(count)"], cores: cores).text("pairs.txt")
      .lines.filter { !$0.isEmpty }.map(String.init)
  }

  private static func line(_ a: Int, _ b: Int) -> String { "00000\(a).png 00000\(b).png" }

  @Test("Those that share most come first, each pair once, whatever the number of cores")
  func nearest() throws {
    let capture = Self.row(6)
    let expected = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)].map(Self.line)
    #expect(try Self.pairs(capture, 1) == expected)
    #expect(try Self.pairs(capture, 1, cores: 1) == expected)
    // Five steps are 1.5 m of 1.6 m: less than a tenth is shared.
    let all = try Self.pairs(capture, 100)
    #expect(all.count == 14 && !all.contains(Self.line(0, 5)))
  }

  @Test(
    "What looks away, or at something before it, shares nothing; neither do frames without depth")
  func hidden() throws {
    var capture = Self.row(6)
    capture.depths[5] = nil
    capture.poses[1] = Pose(
      position: [0.3, 0, 0], orientation: Quaternion(x: 0, y: 1, z: 0, w: 0))
    let near = DepthImage(
      width: GridCapture.width, height: GridCapture.height,
      millimeters: Array(repeating: 500, count: GridCapture.width * GridCapture.height))
    capture.depths[2] = near
    let pairs = try Self.pairs(capture, 100)
    #expect(pairs == [Self.line(0, 3), Self.line(0, 4), Self.line(3, 4)])
  }

  @Test(
    "Unless they are asked for there are none, and none without any depth, which the README says")
  func unset() throws {
    let export = try Self.row(2).export(ExportColmap.self)
    #expect(!export.output.names.contains("pairs.txt"))
    #expect(export.output.artifact.record.parameters["pairs"] == nil)
    let flat = try Self.row(2).export(ExportColmap.self, ["pairs": "1"], hasDepth: false)
    #expect(!flat.output.names.contains("pairs.txt"))
    #expect(try flat.text("README.txt").contains("There is no pairs.txt"))
  }
}
