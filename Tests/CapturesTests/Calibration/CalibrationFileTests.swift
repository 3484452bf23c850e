import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core

/// Files for the length of a test.
enum CalibrationScratch {
  static func withFolder<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
    let folder = try TemporaryFolder()
    return try body(folder.path)
  }

  static func withFile<Result>(bytes: Data, _ body: (FilePath) throws -> Result) throws -> Result {
    try withFolder { folder in
      let path = folder.appending("calibration")
      try bytes.write(to: URL(filePath: path.string))
      return try body(path)
    }
  }

  static func withFile<Result>(
    _ text: String, _ body: (FilePath) throws -> Result
  ) throws -> Result {
    try withFile(bytes: Data(text.utf8), body)
  }
}

@Suite("Calibration files")
struct CalibrationFileTests {
  static let json = """
    {"schema":1,"registered":false,
     "colorFromDepth":[1,0,0,0.03, 0,1,0,-0.01, 0,0,1,0.002, 0,0,0,1],
     "depthIntrinsics":{"width":640,"height":480,"fx":571.5,"fy":572.5,"cx":319.5,"cy":239.5},
     "colorIntrinsics":{"width":1296,"height":968,"fx":1170,"fy":1171,"cx":647.75,"cy":483.75},
     "distortion":{"depth":{"k1":0.1,"k6":-0.2,"p2":0.003},"color":{}}}
    """

  static let kalibr = """
    %YAML:1.0
    ---
    cam0:
      cam_overlaps: [1]
      camera_model: pinhole
      distortion_coeffs: [-0.1, 0.02, 0.001, -0.002]
      distortion_model: radtan
      intrinsics: [1170.0, 1171.0, 647.75, 483.75]
      resolution: [1296, 968]
      rostopic: /cam0/image_raw
    cam1:
      T_cn_cnm1:
      - [1.0, 0.0, 0.0, -0.03]
      - [0.0, 1.0, 0.0, 0.01]
      - [0.0, 0.0, 1.0, -0.002]
      - [0.0, 0.0, 0.0, 1.0]
      camera_model: pinhole
      distortion_coeffs: [0.1, 0, 0.003, 0]
      distortion_model: radtan
      intrinsics: [571.5, 572.5, 319.5, 239.5]
      resolution: [640, 480]
    """

  static func read(
    _ text: String, depthSize: PictureSize? = nil,
    colorSize: PictureSize? = nil
  ) throws -> DepthCalibration {
    try CalibrationScratch.withFile(text) {
      try CalibrationFile.read($0, depthSize: depthSize, colorSize: colorSize)
    }
  }

  static func failure(
    _ text: String, depthSize: PictureSize? = nil,
    colorSize: PictureSize? = nil
  ) throws -> CalibrationError? {
    do {
      _ = try read(text, depthSize: depthSize, colorSize: colorSize)
      return nil
    } catch let error as CalibrationError {
      return error
    }
  }

  @Test("JSON gives every number its place")
  func readsJSON() throws {
    let calibration = try Self.read("\u{FEFF}\n  " + Self.json)
    #expect(!calibration.registered)
    #expect(calibration.colorFromDepth?.translation == [0.03, -0.01, 0.002])
    #expect(
      calibration.depthIntrinsics
        == PinholeCamera(width: 640, height: 480, fx: 571.5, fy: 572.5, cx: 319.5, cy: 239.5))
    #expect(
      calibration.colorIntrinsics
        == PinholeCamera(width: 1296, height: 968, fx: 1170, fy: 1171, cx: 647.75, cy: 483.75))
    #expect(calibration.depthDistortion.openCVOrder == [0.1, 0, 0, 0.003, 0, 0, 0, -0.2])
    #expect(calibration.colorDistortion.isNone)
  }

  @Test("What JSON leaves out or gives as null is absent")
  func partialJSON() throws {
    #expect(try CalibrationFile.parse("{}") == DepthCalibration(registered: false))
    #expect(
      try CalibrationFile.parse(
        #"{"registered":true,"colorFromDepth":null,"depthIntrinsics":null,"distortion":null}"#)
        == DepthCalibration(registered: true))
  }

  @Test("The object that capture.json holds reads back as it was")
  func documentRoundTrip() throws {
    for text in [Self.json, "{}", #"{"registered":true}"#] {
      let calibration = try CalibrationFile.parse(text)
      let written = try JSONEncoder().encode(calibration.document)
      #expect(try CalibrationFile.parse(String(decoding: written, as: UTF8.self)) == calibration)
    }
  }

  @Test(
    "A wrong JSON value is named by key and value",
    arguments: [
      (#""fx":571.5"#, #""fx":0"#, "depthIntrinsics.fx", "0.0"),
      (#""fy":1171"#, #""fy":"wide""#, "colorIntrinsics.fy", "\"wide\""),
      (#""width":640"#, #""width":640.5"#, "depthIntrinsics.width", "640.5"),
      (#""width":640"#, #""width":-1"#, "depthIntrinsics.width", "-1"),
      (#""k6":-0.2"#, #""k7":-0.2"#, "distortion.depth.k7", nil),
      (#""k6":-0.2"#, #""k6":[]"#, "distortion.depth.k6", "[]"),
      (#""registered":false"#, #""registered":2"#, "registered", "2.0"),
      (#""schema":1"#, #""schema":2"#, "schema", "2.0"),
      ("[1,0,0,0.03,", "[1,0,0,", "colorFromDepth", nil),
      ("[1,0,0,0.03,", "[1,0,null,0.03,", "colorFromDepth[2]", "null"),
      ("[1,0,0,0.03,", "[1,0.1,0,0.03,", "colorFromDepth", nil),
      ("[1,0,0,0.03,", "[-1,0,0,0.03,", "colorFromDepth", nil),
      (#""registered":false"#, #""registered":true"#, "colorFromDepth", nil),
      (#""schema":1"#, #""schema":1,"registered":true"#, "registered", nil),
      (#""fx":571.5"#, #""fx":571.5,"fx":572"#, "depthIntrinsics.fx", nil),
      (#""k1":0.1"#, #""k1":0.1,"k1":0.1"#, "distortion.depth.k1", nil),
    ] as [(String, String, String, String?)])
  func wrongJSON(part: String, replacement: String, key: String, value: String?) throws {
    let text = Self.json.replacing(part, with: replacement)
    let error = try #require(try Self.failure(text))
    #expect(error.key == key)
    if let value { #expect(error.value == value) }
    #expect(error.description.contains(key))
    #expect(error.description.contains(error.file.string))
  }

  @Test("Every truncation of a file is an error or a smaller calibration, never a crash")
  func truncated() throws {
    for text in [Self.json, Self.kalibr, LabCalibrationTextTests.text] {
      for length in 0..<text.utf8.count {
        _ = try? CalibrationFile.parse(String(decoding: text.utf8.prefix(length), as: UTF8.self))
      }
    }
  }

  @Test("Damaged bytes are an error or another calibration, never a crash")
  func damaged() throws {
    var state: UInt64 = 1
    func next() -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33)
    }
    for text in [Self.json, Self.kalibr, LabCalibrationTextTests.text] {
      for _ in 0..<500 {
        var bytes = Array(text.utf8)
        for _ in 0...(next() % 4) { bytes[next() % bytes.count] = UInt8(next() % 128) }
        _ = try? CalibrationFile.parse(String(decoding: bytes, as: UTF8.self))
      }
    }
  }

  @Test("Files that are no calibration say so")
  func notCalibrations() throws {
    for text in ["{\"schema\":1", "[1, 2]", "- a\n- b", "hello", "\u{0}\u{1}", "cam0: 3", ": :"] {
      let error = try #require(try Self.failure(text), "\(text)")
      #expect(!error.problem.isEmpty)
    }
    #expect(throws: CalibrationError.self) { try CalibrationFile.read("/nonexistent/file.json") }
    #expect(throws: CalibrationError.self) { try CalibrationFile.read("/") }
    try CalibrationScratch.withFile(bytes: Data([0x7B, 0xFF, 0xFE, 0x7D])) { path in
      _ = #expect(throws: CalibrationError.self) { try CalibrationFile.read(path) }
    }
    let large = String(repeating: " ", count: CalibrationFile.largestBytes + 1)
    #expect(try Self.failure(large)?.problem.contains("too many") == true)
  }

  @Test("The folder of calibrations is searched by device id, and only there")
  func folder() throws {
    try CalibrationScratch.withFolder { folder in
      for name in ["A1.txt", "A1.json", "B2.yaml", "C3.md"] {
        try Data("{}".utf8).write(to: URL(filePath: folder.appending(name).string))
      }
      #expect(CalibrationFolder.file(for: "A1", in: folder) == folder.appending("A1.json"))
      #expect(CalibrationFolder.file(for: "B2", in: folder) == folder.appending("B2.yaml"))
      #expect(CalibrationFolder.file(for: "C3", in: folder) == nil)
      #expect(CalibrationFolder.file(for: "", in: folder) == nil)
      let name = folder.lastComponent?.string ?? ""
      #expect(CalibrationFolder.file(for: "../\(name)/A1", in: folder) == nil)
      #expect(CalibrationFolder.file(for: "A1", in: folder.appending("nowhere")) == nil)
    }
  }

  @Test("A matrix whose last row is not 0 0 0 1 is rejected: it is column-major")
  func lastRow() throws {
    let turned = Self.json.replacing(
      "[1,0,0,0.03, 0,1,0,-0.01, 0,0,1,0.002, 0,0,0,1]",
      with: "[1,0,0,0, 0,1,0,0, 0,0,1,0, 0.03,-0.01,0.002,1]")
    #expect(turned != Self.json)
    #expect(try Self.failure(turned)?.description.contains("0 0 0 1") == true)
    let chain = Self.kalibr.replacing("- [0.0, 0.0, 0.0, 1.0]", with: "- [0.0, 0.1, 0.0, 1.0]")
    #expect(chain != Self.kalibr)
    #expect(try Self.failure(chain)?.description.contains("0 0 0 1") == true)
    #expect(try Self.failure(Self.json) == nil)
    #expect(try Self.failure(Self.kalibr) == nil)
  }
}

@Suite("Which calibration is in force")
struct CalibrationSourceTests {
  @Test("A named file before the device's file before the capture's own values")
  func order() throws {
    try CalibrationScratch.withFolder { folder in
      try Data("{}".utf8).write(to: URL(filePath: folder.appending("A1.txt").string))
      let named = FilePath("/lab/parameters.txt")
      func source(_ file: FilePath?, _ folder: FilePath?, _ device: String?) -> CalibrationSource {
        CalibrationSource(file: file, folder: folder, deviceID: device)
      }
      #expect(source(named, folder, "A1") == .file(named))
      #expect(
        source(nil, folder, "A1") == .deviceFile(folder.appending("A1.txt"), deviceID: "A1"))
      #expect(source(nil, folder, "B2") == .capture)
      #expect(source(nil, folder, nil) == .capture)
      #expect(source(nil, nil, "A1") == .capture)
      #expect(source(nil, nil, nil).path == nil)
      #expect(source(named, nil, nil).path == named)
    }
  }
}

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
