@testable import Core
import Testing

@testable import Captures

@Suite("ScanNet metadata")
struct ScanNetMetadataTests {
  static func value(_ text: String) -> String? { ScanNetMetadata(Array(text.utf8)).text("key") }

  @Test(
    "A value is everything behind the first equals sign, without the blanks around it",
    arguments: [
      ("key = value", "value"), ("key=value\r\n", "value"),
      ("key =a=b #2; \"c\" // d = e\r\n", nil),
      ("\tkey\t=\t value \t\r", "value"), ("key = ", ""), ("key =", ""),
      ("other = 1\nkey = two words  \n", "two words"), ("key = 1\nkey = 2", "2"),
      ("\u{FEFF}key = 1", "1"), ("key = Lab’s iPad\r\n", "Lab’s iPad"), ("key value", nil),
      ("= value", nil), ("", nil), ("\r\n\r\n", nil), ("# key = 1", nil),
    ] as [(String, String?)])
  func values(text: String, expected: String?) {
    let awkward = text.contains("a=b") ? "a=b #2; \"c\" // d = e" : expected
    #expect(Self.value(text) == awkward)
  }

  @Test(
    "Counts are integers of zero or more",
    arguments: [
      ("0", 0), ("17", 17), ("17.000000", 17), ("-1", nil), ("1.5", nil), ("nan", nil),
      ("1e400", nil), ("many", nil), ("", nil), ("9223372036854775807", .max),
      ("9223372036854775808", nil),
    ] as [(String, Int?)])
  func counts(text: String, expected: Int?) {
    #expect(ScanNetMetadata(Array("key = \(text)".utf8)).count("key") == expected)
  }

  @Test(
    "Sizes are those of a camera",
    arguments: [("640", 640), ("0", nil), ("8192", 8192), ("8193", nil), ("-5", nil)]
      as [(String, Int?)])
  func sizes(text: String, expected: Int?) {
    #expect(ScanNetMetadata(Array("key = \(text)".utf8)).pixels("key") == expected)
  }

  @Test(
    "Text that is no rigid transform is none",
    arguments: [
      "", "1 2 3", "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0", "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 nan",
      "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", "2 0 0 0 0 2 0 0 0 0 2 0 0 0 0 1",
      "1 0 0 0 0 1 0 0 0 0 -1 0 0 0 0 1", "a b c d e f g h i j k l m n o p",
    ])
  func noTransform(text: String) {
    let metadata = ScanNetMetadata(Array("colorToDepthExtrinsics = \(text)".utf8))
    #expect(ScanNetCalibration.transform("colorToDepthExtrinsics", in: metadata) == nil)
    let warnings = WarningCollector()
    ScanNetKeys.check(metadata, file: "x.txt", into: warnings)
    #expect(warnings.warnings.contains { $0.subject == "colorToDepthExtrinsics" })
  }

  @Test("A number that is not finite is reported as such")
  func nonFinite() {
    let warnings = WarningCollector()
    ScanNetKeys.check(
      ScanNetMetadata(Array("fx_color = inf\nfy_color = x".utf8)), file: "x.txt", into: warnings)
    let codes = Dictionary(uniqueKeysWithValues: warnings.warnings.map { ($0.subject, $0.code) })
    #expect(codes["fx_color"] == .nonFiniteValue)
    #expect(codes["fy_color"] == .missingKey)
  }

  @Test(
    "The date is that of the stem; the hour is not known",
    arguments: [
      ("2017-03-14_05-26-54__device", "2017-03-14"), ("2017-03-14", "2017-03-14"),
      ("2017-03-14T05", nil), ("2017-03-144", nil), ("2017-13-14_05", nil), ("2017-03-00_05", nil),
      ("2017_03_14_05", nil), ("scan", nil), ("", nil), ("２017-03-14", nil), ("2017-03-1é_", nil),
    ] as [(String, String?)])
  func date(stem: String, expected: String?) {
    #expect(ScanNetCapture.date(ofStem: stem) == expected)
  }

  @Test("The extrinsics are inverted; inverse ones are used unchanged")
  func direction() throws {
    func calibration(_ text: String) -> DepthCalibration {
      ScanNetCalibration.calibration(
        from: ScanNetMetadata(Array(text.utf8)), depthSize: PictureSize(width: 640, height: 480),
        color: nil)
    }
    // A quarter turn about z, then a step.
    let matrix = "0 -1 0 0.1 1 0 0 0.2 0 0 1 0.3 0 0 0 1"
    let turned = calibration("colorToDepthExtrinsics = \(matrix)")
    let colorFromDepth = try #require(turned.colorFromDepth)
    #expect(colorFromDepth.apply(to: [0.1, 0.2, 0.3]) == [0, 0, 0])
    #expect(colorFromDepth.apply(to: [0.1, 1.2, 0.3]) == [1, 0, 0])
    #expect(!turned.registered)
    let same = calibration("depthToColorExtrinsics = \(matrix)")
    #expect(same.colorFromDepth?.apply(to: [0, 0, 0]) == [0.1, 0.2, 0.3])
    #expect(calibration("fx_color = 1").colorFromDepth == nil)
    let identity = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"
    for key in ["colorToDepthExtrinsics", "depthToColorExtrinsics"] {
      let registered = calibration("\(key) = \(identity) \r")
      #expect(registered.registered)
      #expect(registered.colorFromDepth == .identity)
    }
  }

  @Test(
    "k1 to k5 of a camera are its lens, in the order k1, k2, p1, p2, k3; zeros are none",
    arguments: [
      ("", [], [], [:]), ("k1_color = 0\nk2_color=0.000000\nk1_depth = 0", [], [], [:]),
      (
        "k1_color = -0.2\nk2_color = 0.07\r\nk3_color = 0.001\nk4_color = -0.002\nk5_color = 1e-3",
        [-0.2, 0.07, 0.001, -0.002, 0.001], [], [:]
      ),
      ("k3_depth = 0.5\nk1_color = 0.1", [0.1], [0, 0, 0.5], [:]),
      (
        "k1_color = 0.1\nk2_color = many\nk1_depth = 0.2", [], [0.2],
        ["k2_color": .missingKey]
      ),
      (
        "k1_color = nan\nk2_depth = 1e999", [], [],
        ["k1_color": .nonFiniteValue, "k2_depth": .nonFiniteValue]
      ),
      ("k6_color = 0.1\nK1_color = 1", [], [], ["k6_color": .unknownKey, "K1_color": .unknownKey]),
    ] as [(String, [Double], [Double], [String: WarningCode])])
  func lens(text: String, color: [Double], depth: [Double], told: [String: WarningCode]) {
    let metadata = ScanNetMetadata(Array(text.utf8))
    let calibration = ScanNetCalibration.calibration(
      from: metadata, depthSize: PictureSize(width: 640, height: 480), color: nil)
    #expect(calibration.colorDistortion == LensDistortion(openCVOrder: color))
    #expect(calibration.depthDistortion == LensDistortion(openCVOrder: depth))
    let warnings = WarningCollector()
    ScanNetKeys.check(metadata, file: "x.txt", into: warnings)
    let known = Set(ScanNetKeys.required)
    #expect(
      Dictionary(
        uniqueKeysWithValues: warnings.warnings.filter { !known.contains($0.subject) }
          .map { ($0.subject, $0.code) }) == told)
  }
}
