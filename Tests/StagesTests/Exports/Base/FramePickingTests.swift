@testable import Stages
@testable import Core
import Testing

@Suite("Picking frames")
struct FramePickingTests {
  /// Ten frames of rising sharpness in pairs: 1 1 3 3 5 5 … pixels differ.
  private func capture(sharpness: [UInt8]) -> GridCapture {
    var capture = GridCapture(frames: sharpness.count)
    for (frame, value) in sharpness.enumerated() {
      guard var picture = capture.colors[frame] else { continue }
      // One bright pixel in the middle: the brighter, the larger the variance of the Laplacian.
      let pixel = 6 * GridCapture.width + 8
      picture.rgb = picture.rgb.map { _ in 0 }
      for channel in 0..<3 { picture.rgb[3 * pixel + channel] = value }
      capture.colors[frame] = picture
    }
    return capture
  }

  @Test(
    "sharpest takes the sharpest of each window, the earliest on a tie; even its middle",
    arguments: [
      ("sharpest", "2", [1, 2, 9, 3, 9, 0, 0, 0, 0, 0], [2, 5]),
      ("sharpest", "3", [5, 5, 5, 1, 2, 2, 7, 7, 8, 8], [0, 4, 8]),
      ("even", "3", [5, 5, 5, 1, 2, 2, 7, 7, 8, 8], [1, 4, 7]),
      ("sharpest", "3", [1, 2, 3], [0, 1, 2]),
      ("sharpest", "99", [1, 2, 3], [0, 1, 2]), ("even", "99", [1, 2, 3], [0, 1, 2]),
      ("sharpest", "1", [0, 0, 0], [0]),
    ] as [(String, String, [UInt8], [Int])])
  func pick(how: String, count: String, sharpness: [UInt8], expected: [Int]) throws {
    let export = try capture(sharpness: sharpness.map { 20 * $0 }).export(
      ExportColmap.self, ["count": count, "pick": how])
    #expect(try export.frames == expected)
    let account = try export.account
    #expect(account.leftOut["not-selected", default: 0] == sharpness.count - expected.count)
  }
}
