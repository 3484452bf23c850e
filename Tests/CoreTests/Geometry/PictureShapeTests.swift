@testable import Core
import Testing

@Suite("Size and distortion of published pictures")
struct PictureShapeTests {
  @Test(
    "A rule keeps the aspect, rounds to whole pixels and never enlarges",
    arguments: [
      ("960", 1920, 1440, 960, 720), ("960", 1440, 1920, 720, 960),
      ("4000", 1920, 1440, 1920, 1440),
      ("50%", 1920, 1440, 960, 720), ("50%", 161, 121, 81, 61), ("100%", 7, 5, 7, 5),
      ("0.001%", 640, 480, 1, 1), ("33%", 1000, 500, 330, 165),
      ("640x480", 1920, 1440, 640, 480), ("640x480", 1296, 968, 640, 478),
      ("640x480", 1440, 1920, 360, 480), ("640x480", 320, 240, 320, 240), ("1", 5000, 3, 1, 1),
    ])
  func sizes(_ text: String, _ width: Int, _ height: Int, _ newWidth: Int, _ newHeight: Int) throws
  {
    let rule = try #require(PictureSizing(text))
    let size = rule.size(width: width, height: height)
    #expect(size.width == newWidth && size.height == newHeight, "\(text): \(size)")
  }

  @Test(
    "What is no rule is refused",
    arguments: [
      "", "0", "-5", "0%", "101%", "%", "50 %", "x", "640x", "x480", "640x480x3", "640X480", "1e3",
      "16385", "640x0", "nan%", "+3", "９６０", "99999999999999999999",
    ])
  func refused(_ text: String) { #expect(PictureSizing(text) == nil) }

  @Test(
    "Equal rules have one text",
    arguments: [
      ("050%", "50%"), ("50.0%", "50%"), ("12.5%", "12.5%"), ("0960", "960"),
      ("640x480", "640x480"),
    ])
  func texts(_ text: String, _ plain: String) { #expect(PictureSizing(text)?.text == plain) }

  /// What OpenCV 5.0.0 gives for 320x240 with fx 300, fy 305, cx 159.2, cy 121.7; its own inversion of
  /// the lens stops after some iterations, hence the tolerance.
  @Test(
    "alpha chooses OpenCV's optimal camera",
    arguments: [
      ([-0.12, 0.03, 0.001, -0.002, 0], 0, [289.9092789, 299.3779616, 158.5975614, 121.9329244]),
      (
        [-0.12, 0.03, 0.001, -0.002, 0], 0.5, [287.0414677, 293.9701148, 158.5222484, 121.9917573]
      ),
      ([-0.12, 0.03, 0.001, -0.002, 0], 1, [284.1736566, 288.5622680, 158.4469355, 122.0505901]),
      ([0.08, -0.02, 0, 0, 0.001], 0, [308.9783469, 314.0493003, 159.2094264, 121.6623383]),
      ([0.08, -0.02, 0, 0, 0.001], 1, [306.0818160, 308.5273725, 159.2106813, 121.6527237]),
    ] as [([Double], Double, [Double])])
  func alpha(_ lens: [Double], _ alpha: Double, _ expected: [Double]) throws {
    let camera = LensCamera(
      pinhole: PinholeCamera(width: 320, height: 240, fx: 300, fy: 305, cx: 159.2, cy: 121.7),
      distortion: LensDistortion(openCVOrder: lens))
    let found = try #require(camera.undistortedPinhole(alpha: alpha))
    for (value, wanted) in zip([found.fx, found.fy, found.cx, found.cy], expected) {
      #expect(abs(value - wanted) < 0.005, "\(found)")
    }
  }

  @Test("The shape of a turned picture is the turned shape", arguments: 0..<4)
  func turned(_ turns: Int) throws {
    let camera = LensExamples.structureColor
    let shape = PictureShape(undistorts: true, alpha: 0.3, sizing: .percent(25))
    let upright = try #require(shape.camera(from: camera.turnedClockwise(quarterTurns: turns)))
    let straight = try #require(shape.camera(from: camera)).pinhole.turnedClockwise(
      quarterTurns: turns)
    for (a, b) in [
      (upright.pinhole.fx, straight.fx), (upright.pinhole.fy, straight.fy),
      (upright.pinhole.cx, straight.cx), (upright.pinhole.cy, straight.cy),
    ] { #expect(abs(a - b) < 1e-6) }
    #expect(upright.pinhole.width == straight.width && upright.distortion.isNone)
  }

  @Test(
    "Without alpha the pinhole is that of the camera; intrinsics of smaller pictures keep the borders"
  )
  func plain() throws {
    let camera = LensExamples.structureColor
    let full = PictureShape(undistorts: true)
    #expect(full.camera(from: camera)?.pinhole == camera.pinhole)
    let half = try #require(PictureShape(sizing: .percent(50)).camera(from: camera))
    #expect(half.distortion == camera.distortion && half.pinhole.width == 648)
    #expect(half.pinhole.fx == camera.pinhole.fx / 2)
    #expect(half.pinhole.cx == (camera.pinhole.cx + 0.5) / 2 - 0.5)
    #expect(PictureShape().isAsRecorded && !full.isAsRecorded)
  }
}
