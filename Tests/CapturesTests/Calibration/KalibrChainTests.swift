@testable import Captures
@testable import Core
import Testing

@Suite("Kalibr camera chains")
struct KalibrChainTests {
  typealias File = CalibrationFileTests

  /// The cameras the other way round: depth first, with the transform's opposite.
  static let depthFirst = """
    # depth is cam0 here
    cam0:
      distortion_coeffs: [0.1, 0, 0.003, 0]
      distortion_model: radtan
      intrinsics: [571.5, 572.5, 319.5, 239.5]
      resolution: [640, 480]
    cam1:
      T_cn_cnm1: [[0, -1, 0, 0.5], [1, 0, 0, -0.25], [0, 0, 1, 2], [0, 0, 0, 1]]
      distortion_model: none
      intrinsics: [1170, 1171, 647.75, 483.75]
      resolution: [1296, 968]
    """

  @Test("T_cn_cnm1 maps the camera before to this one, whichever is depth")
  func direction() throws {
    // cam0 is color, cam1 depth: the transform of the file is depthFromColor.
    let colorFirst = try File.read(File.kalibr)
    #expect(colorFirst.colorFromDepth?.translation == [0.03, -0.01, 0.002])
    #expect(
      colorFirst.depthIntrinsics
        == PinholeCamera(width: 640, height: 480, fx: 571.5, fy: 572.5, cx: 319.5, cy: 239.5))
    #expect(colorFirst.colorDistortion.openCVOrder == [-0.1, 0.02, 0.001, -0.002, 0, 0, 0, 0])
    #expect(colorFirst.depthDistortion.openCVOrder == [0.1, 0, 0.003, 0, 0, 0, 0, 0])
    // cam0 is depth: it is colorFromDepth itself.
    let depthFirst = try File.read(Self.depthFirst)
    #expect(
      depthFirst.colorFromDepth
        == RigidTransform(rotation: [0, -1, 0, 1, 0, 0, 0, 0, 1], translation: [0.5, -0.25, 2]))
    #expect(depthFirst.colorDistortion.isNone)
    #expect(depthFirst.colorIntrinsics?.width == 1296)
  }

  @Test("The capture's sizes identify the cameras where they are stated")
  func sizes() throws {
    // Depth larger than color: only the sizes can know.
    let swapped = try File.read(
      File.kalibr, depthSize: PictureSize(width: 1296, height: 968),
      colorSize: PictureSize(width: 640, height: 480))
    #expect(swapped.depthIntrinsics?.width == 1296)
    #expect(swapped.colorFromDepth?.translation == [-0.03, 0.01, -0.002])
    // Sizes that fit neither: the larger is color, rescaling is for the aligner.
    let other = try File.read(
      File.kalibr, depthSize: PictureSize(width: 320, height: 240),
      colorSize: PictureSize(width: 1920, height: 1440))
    #expect(other.colorIntrinsics?.width == 1296)
  }

  @Test("A chain of three is composed over the camera between")
  func chainOfThree() throws {
    let third = """

      cam2:
        T_cn_cnm1: [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
        distortion_model: radtan
        distortion_coeffs: [0, 0, 0, 0]
        intrinsics: [300, 300, 160, 120]
        resolution: [320, 240]
      """
    let text = Self.depthFirst + third
    let calibration = try File.read(
      text, depthSize: PictureSize(width: 640, height: 480),
      colorSize: PictureSize(width: 320, height: 240))
    // p2 = T2 (T1 p0)
    #expect(calibration.colorFromDepth?.translation == [1.5, 1.75, 5])
    #expect(try File.failure(text)?.problem.contains("JSON") == true)
  }

  @Test("Equal resolutions ask for JSON")
  func equalResolutions() throws {
    let text = Self.depthFirst.replacing("[1296, 968]", with: "[640, 480]")
    for sizes in [nil, PictureSize(width: 640, height: 480)] {
      let error = try #require(
        try File.failure(text, depthSize: sizes, colorSize: sizes))
      #expect(error.problem.contains("JSON"))
      #expect(error.value?.contains("cam1 640×480") == true)
    }
  }

  @Test(
    "A wrong value is named by camera, key and value",
    arguments: [
      ("distortion_model: radtan", "distortion_model: equidistant", "cam0.distortion_model"),
      ("cam0:", "cam0:\n  camera_model: omni", "cam0.camera_model"),
      ("[571.5, 572.5, 319.5, 239.5]", "[571.5, 572.5]", "cam0.intrinsics"),
      ("[571.5, 572.5, 319.5, 239.5]", "[0, 572.5, 319.5, 239.5]", "cam0.intrinsics[0]"),
      ("[571.5, 572.5, 319.5, 239.5]", "[.nan, 572.5, 319.5, 239.5]", "cam0.intrinsics"),
      ("[0.1, 0, 0.003, 0]", "[0.1, zero, 0.003, 0]", "cam0.distortion_coeffs"),
      ("[640, 480]", "[640.5, 480]", "cam0.resolution"),
      ("[640, 480]", "[0, 480]", "cam0.resolution[0]"),
      ("[[0, -1, 0, 0.5]", "[[0, -1, 0]", "cam1.T_cn_cnm1"),
      ("[[0, -1, 0, 0.5]", "[[0, -2, 0, 0.5]", "cam1.T_cn_cnm1"),
    ])
  func wrong(part: String, replacement: String, key: String) throws {
    let text = Self.depthFirst.replacing(part, with: replacement)
    let error = try #require(try File.failure(text))
    #expect(error.key == key)
    #expect(!error.problem.isEmpty)
  }

  @Test("Aliases that unfold without end stay small in messages")
  func aliases() throws {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1..<12 {
      let item = "*a\(level - 1)"
      let items = Array(repeating: item, count: 10).joined(separator: ", ")
      text += "a\(level): &a\(level) [\(items)]\n"
    }
    text += "cam0:\n  resolution: *a11\ncam1: 3\n"
    let error = try #require(try File.failure(text))
    #expect((error.value?.count ?? 0) < 300)
  }
}
