@testable import Captures
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Lab calibration text")
struct LabCalibrationTextTests {
  typealias File = CalibrationFileTests

  static let text = """
    # bench of the lab
    colorWidth = 1296
    colorHeight = 968
    depthWidth = 640
    depthHeight=480
    fx_color = 1170.0
    fy_color = 1171.0
    mx_color = 647.75
    my_color = 483.75
    k1_color = 0.1
    k2_color = 0.2
    k3_color = 0.003
    k4_color = 0.004
    k5_color = 0.05
    fx_depth = 571.5
    fy_depth = 572.5
    mx_depth = 319.5   # from the factory
    my_depth = 239.5
    sceneType = Office
    depthToColorExtrinsics = 1 0 0 0.03 0 1 0 -0.01 0 0 1 0.002 0 0 0 1
    """

  @Test("k1 … k5 are k1, k2, p1, p2, k3; other keys are ignored")
  func reads() throws {
    let calibration = try File.read(Self.text)
    let json = try File.read(File.json)
    #expect(calibration.colorFromDepth == json.colorFromDepth)
    #expect(calibration.depthIntrinsics == json.depthIntrinsics)
    #expect(calibration.colorIntrinsics == json.colorIntrinsics)
    #expect(calibration.depthDistortion.isNone)
    let lens = calibration.colorDistortion
    #expect([lens.k1, lens.k2, lens.p1, lens.p2, lens.k3] == [0.1, 0.2, 0.003, 0.004, 0.05])
    #expect([lens.k4, lens.k5, lens.k6] == [0, 0, 0])
  }

  @Test("The opposite extrinsics are inverted; with both, depthToColorExtrinsics counts")
  func oppositeDirection() throws {
    let opposite =
      "colorToDepthExtrinsics = 0 1 0 0.25 -1 0 0 0.5 0 0 1 -2 0 0 0 1"
    let calibration = try File.read(
      Self.text.replacing("depthToColorExtrinsics = 1", with: "unused = 1") + "\n" + opposite)
    #expect(
      calibration.colorFromDepth
        == RigidTransform(rotation: [0, -1, 0, 1, 0, 0, 0, 0, 1], translation: [0.5, -0.25, 2]))
    let both = try File.read(Self.text + "\n" + opposite)
    #expect(both.colorFromDepth?.translation == [0.03, -0.01, 0.002])
  }

  @Test(
    "The fixture's text is its JSON", .enabled(if: Fixtures.arePresent, "no ../shared/fixtures"))
  func fixture() throws {
    let folder = try #require(
      Fixtures.cases(of: "alignment").first { $0.name == "lab-text" }?.folder)
    let text = try CalibrationFile.read(folder.appending("parameters.txt"))
    let json = try CalibrationFile.read(folder.appending("calibration.json"))
    func numbers(_ calibration: DepthCalibration) -> [Double] {
      (calibration.colorFromDepth?.rowMajor ?? [])
        + [calibration.depthIntrinsics, calibration.colorIntrinsics].compactMap { $0 }.flatMap {
          [Double($0.width), Double($0.height), $0.fx, $0.fy, $0.cx, $0.cy]
        } + calibration.depthDistortion.openCVOrder + calibration.colorDistortion.openCVOrder
    }
    #expect(numbers(text).count == 44)
    for (a, b) in zip(numbers(text), numbers(json)) { #expect(abs(a - b) < 1e-9) }
  }

  @Test("A camera without any intrinsics is absent: enough where color alone is needed")
  func partial() throws {
    let colorOnly = Self.text.split(separator: "\n").filter { !$0.contains("_depth") }
      .joined(separator: "\n")
    try CalibrationScratch.withFile(colorOnly) { path in
      let calibration = try CalibrationFile.read(path, for: .color)
      #expect(calibration.depthIntrinsics == nil)
      #expect(calibration.colorIntrinsics != nil)
    }
    #expect(try File.failure(colorOnly)?.key == "fx_depth")
  }

  @Test("A size is never guessed from the capture")
  func size() throws {
    let sizeless = Self.text.replacing("depthWidth", with: "w").replacing("depthHeight", with: "h")
    #expect(
      try File.failure(sizeless, depthSize: PictureSize(width: 320, height: 240))?.key
        == "depthWidth")
  }

  @Test(
    "A wrong line is named by key, value and place",
    arguments: [
      ("fx_depth = 571.5", "fx_depth = wide", "fx_depth", "wide", 15),
      ("fx_depth = 571.5", "fx_depth = nan", "fx_depth", "nan", 15),
      ("fx_depth = 571.5", "fx_depth = -2", "fx_depth", "-2.0", nil),
      ("colorHeight = 968", "colorHeight = 9.5", "colorHeight", "9.5", 3),
      ("colorHeight = 968", "colorHeight = 99999999", "colorHeight", "99999999", nil),
      ("k3_color = 0.003", "k3_color = inf", "k3_color", "inf", 12),
      ("= 1 0 0 0.03", "= 1 0 0", "depthToColorExtrinsics", nil, 20),
      ("= 1 0 0 0.03", "= x 0 0 0.03", "depthToColorExtrinsics", nil, 20),
      (
        "depthToColorExtrinsics = 1", "colorToDepthExtrinsics = 2", "colorToDepthExtrinsics", nil,
        20
      ),
    ] as [(String, String, String, String?, Int?)])
  func wrong(part: String, replacement: String, key: String, value: String?, line: Int?) throws {
    let text = Self.text.replacing(part, with: replacement)
    let error = try #require(try File.failure(text))
    #expect(error.key == key)
    if let value { #expect(error.value == value) }
    #expect(error.line == line)
  }
}
