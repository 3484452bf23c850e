@testable import Captures
@testable import Core
import Testing

@Suite("Intrinsics follow the size of the pictures")
struct ColorFitTests {
  @Test("Pictures of the stated size leave the numbers alone")
  func same() throws {
    let fit = ColorFit(
      stated: PictureSize(width: 1296, height: 968), stored: PictureSize(width: 1296, height: 968))
    #expect(!fit.isMismatch)
    #expect(fit.obstacle == nil)
    let camera = try #require(fit.camera(Intrinsics(fx: 1170, fy: 1171, cx: 647.75, cy: 483.75)))
    #expect(
      camera == PinholeCamera(width: 1296, height: 968, fx: 1170, fy: 1171, cx: 647.75, cy: 483.75))
  }

  @Test(
    "Pictures of the same shape rescale them, outer borders in place",
    arguments: [(648, 484), (640, 480), (2592, 1936)])
  func scaled(width: Int, height: Int) throws {
    let fit = ColorFit(
      stated: PictureSize(width: 1296, height: 968),
      stored: PictureSize(width: width, height: height))
    #expect(fit.isMismatch)
    let camera = try #require(fit.camera(Intrinsics(fx: 1170, fy: 1171, cx: 647.75, cy: 483.75)))
    let (sx, sy) = (Double(width) / 1296, Double(height) / 968)
    #expect((camera.width, camera.height) == (width, height))
    #expect(camera.fx == 1170 * sx)
    #expect(camera.cy == (483.75 + 0.5) * sy - 0.5)
    let warnings = WarningCollector()
    fit.report(to: warnings)
    #expect(warnings.warnings.map(\.code) == [.sizeMismatch])
    #expect(warnings.warnings.map(\.count) == [1])
  }

  @Test("Pictures of another shape have no intrinsics")
  func otherShape() {
    let fit = ColorFit(
      stated: PictureSize(width: 1296, height: 968), stored: PictureSize(width: 1280, height: 720))
    #expect(fit.isMismatch)
    #expect(fit.obstacle?.contains("1280x720") == true)
  }

  @Test("The upright size of turned pictures is theirs; a mirrored video has no camera")
  func turnedAndMirrored() {
    #expect(
      !ColorFit(
        stated: PictureSize(width: 480, height: 640), stored: PictureSize(width: 640, height: 480),
        swapsSides: true
      ).isMismatch)
    #expect(
      ColorFit(
        stated: PictureSize(width: 480, height: 640), stored: PictureSize(width: 640, height: 480)
      ).isMismatch)
    #expect(
      ColorFit(stated: nil, stored: PictureSize(width: 640, height: 480), isMirrored: true).obstacle
        != nil)
    #expect(ColorFit(stated: nil, stored: PictureSize(width: 640, height: 480)).obstacle == nil)
  }

  @Test("A size that changes within the video counts once, beside one that was stated")
  func oneEntry() {
    let fit = ColorFit(
      stated: PictureSize(width: 1296, height: 968), stored: PictureSize(width: 648, height: 484))
    let warnings = WarningCollector()
    VideoOddities(pictures: 100, backwardSteps: 2, picturesOfOtherSize: 7).report(
      to: warnings, beside: fit)
    #expect(
      warnings.warnings.map { "\($0.code.rawValue) \($0.count)" }
        == ["timestamps-unordered 2", "size-mismatch 7"])
  }
}
