@testable import Captures
@testable import Core
import SystemPackage
import Testing

@Suite("Incomplete calibration files")
struct IncompleteCalibrationTests {
  typealias File = CalibrationFileTests

  private static let json = """
    {"registered":false,
     "colorFromDepth":[1,0,0,0.03, 0,1,0,0, 0,0,1,0, 0,0,0,1],
     "depthIntrinsics":{"width":640,"height":480,"fx":571,"fy":572,"cx":319.5,"cy":239.5},
     "colorIntrinsics":{"width":1296,"height":968,"fx":1170,"fy":1171,"cx":647.75,"cy":483.75}}
    """

  /// What is taken out, the key that the error names, and a word of its remedy.
  struct Lack: Sendable, CustomTestStringConvertible {
    var form: String
    var text: String
    var key: String
    var remedy: String
    var testDescription: String { "\(form) without \(key)" }
  }

  /// Every key of every form, one by one.
  static let lacks: [Lack] = jsonLacks + labLacks + kalibrLacks

  private static var jsonLacks: [Lack] {
    let parts = [
      ("\"colorFromDepth\"", "colorFromDepth", "4×4 matrix"),
      ("\"depthIntrinsics\"", "depthIntrinsics", "registered"),
      ("\"colorIntrinsics\"", "colorIntrinsics", "color camera"),
    ].map { part, key, remedy in
      Lack(form: "JSON", text: json.replacing(part, with: "\"other\""), key: key, remedy: remedy)
    }
    let numbers = [("depthIntrinsics", "571", "319.5"), ("colorIntrinsics", "1170", "647.75")]
      .flatMap { camera, _, _ in
        ["width", "height", "fx", "fy", "cx", "cy"].map { name in
          let halves = json.split(separator: "\"\(camera)\":{", maxSplits: 1)
          let rest = String(halves[1]).replacing(
            "\"\(name)\":", with: "\"was\":", maxReplacements: 1)
          return Lack(
            form: "JSON", text: "\(halves[0])\"\(camera)\":{\(rest)", key: "\(camera).\(name)",
            remedy: "add it, in pixels")
        }
      }
    return parts + numbers + [
      Lack(form: "JSON", text: "{}", key: "colorIntrinsics", remedy: "add"),
      Lack(
        form: "JSON", text: #"{"registered":true}"#, key: "colorIntrinsics", remedy: "add"),
      Lack(
        form: "JSON", text: "{\"alignment\":\(json)}", key: "alignment", remedy: "jq .alignment"),
    ]
  }

  private static var labLacks: [Lack] {
    let keys = ["color", "depth"].flatMap { camera in
      ["\(camera)Width", "\(camera)Height"]
        + ["fx", "fy", "mx", "my"].map { "\($0)_\(camera)" }
    }
    let whole = ["color", "depth"].map { camera in
      Lack(
        form: "text",
        text: LabCalibrationTextTests.text.split(separator: "\n")
          .filter { !$0.contains("_\(camera)") }.joined(separator: "\n"),
        key: "fx_\(camera)", remedy: "my_\(camera)")
    }
    return whole
      + (keys + ["depthToColorExtrinsics"]).map { key in
        Lack(
          form: "text",
          text: LabCalibrationTextTests.text.replacing("\(key) ", with: "was ")
            .replacing("\(key)=", with: "was="), key: key, remedy: "add")
      }
  }

  private static var kalibrLacks: [Lack] {
    let chain = KalibrChainTests.depthFirst
    let cameras = chain.split(separator: "cam1:", maxSplits: 1).map(String.init)
    let keys = [
      ("resolution", "2 finite numbers"), ("intrinsics", "4 finite numbers"),
      ("distortion_model", "radtan or none"),
    ]
    let first = keys + [("distortion_coeffs", "4 finite numbers")]
    let second = keys + [("T_cn_cnm1", "four rows")]
    return first.map { key, remedy in
      Lack(
        form: "Kalibr",
        text: cameras[0].replacing("\(key):", with: "was:") + "cam1:" + cameras[1],
        key: "cam0.\(key)", remedy: remedy)
    }
      + second.map { key, remedy in
        Lack(
          form: "Kalibr",
          text: cameras[0] + "cam1:" + cameras[1].replacing("\(key):", with: "was:"),
          key: "cam1.\(key)", remedy: remedy)
      }
      + [
        Lack(form: "Kalibr", text: cameras[0], key: "cam1", remedy: "two cameras"),
        Lack(form: "Kalibr", text: "cam1:" + cameras[1], key: "cam0", remedy: "two cameras"),
      ]
  }

  @Test(
    "Each lacking key is an error with file, key and remedy, before any capture is known",
    arguments: lacks)
  func lacking(_ lack: Lack) throws {
    let used = try #require(try File.failure(lack.text), "\(lack.text)")
    for error in [used, try Self.checked(lack.text)] {
      #expect(error?.key == lack.key)
      #expect(error?.problem.contains("is missing") == true || lack.key == "alignment")
      #expect(error?.problem.contains(lack.remedy) == true, "\(error?.description ?? "none")")
      #expect(error?.description.hasPrefix(error?.file.string ?? "?") == true)
    }
  }

  private static func checked(_ text: String) throws -> CalibrationError? {
    try CalibrationScratch.withFile(text) { path in
      do throws(CalibrationError) {
        try CalibrationFile.check(path)
        return nil
      } catch { return error }
    }
  }

  @Test(
    "The whole forms are none of these, and depth that shares the camera of color needs color alone"
  )
  func whole() throws {
    for text in [
      json, LabCalibrationTextTests.text, KalibrChainTests.depthFirst,
      #"{"registered":true,"colorIntrinsics":{"width":8,"height":6,"fx":5,"fy":5,"cx":4,"cy":3}}"#,
    ] { #expect(try File.failure(text) == nil) }
  }

  private var json: String { Self.json }

  @Test(
    "What would quietly count as absent is an error: a part or a lens coefficient in another spelling or place",
    arguments: [
      ("\"registered\"", "\"Registered\"", "Registered"),
      ("{\"registered\"", "{\"distortions\":{},\"registered\"", "distortions"),
      ("{\"registered\"", "{\"depthDistortion\":{},\"registered\"", "depthDistortion"),
      ("{\"registered\"", "{\"distortion\":{\"k1\":1},\"registered\"", "distortion.k1"),
      (
        "{\"registered\"", "{\"distortion\":{\"depth\":{\"k7\":1}},\"registered\"",
        "distortion.depth.k7"
      ),
      ("\"fx\":571", "\"k1\":0.1,\"fx\":571", "depthIntrinsics.k1"),
      ("\"fx\":1170", "\"distortion\":{},\"fx\":1170", "colorIntrinsics.distortion"),
    ])
  func misspelt(part: String, replacement: String, key: String) throws {
    let error = try #require(try File.failure(Self.json.replacing(part, with: replacement)))
    #expect(error.key == key)
  }

  @Test(
    "A lens coefficient of a lab text under another name is an error",
    arguments: ["k1_colour", "p1_depth", "k6_color"])
  func misspeltLab(key: String) throws {
    let error = try #require(try File.failure(LabCalibrationTextTests.text + "\n\(key) = 0.1"))
    #expect(error.key == key)
    #expect(error.line == 21)
  }
}
