import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Pages

@Suite("The effective calibration, as text and as JSON")
struct CalibrationSummaryTests {
  private static let color = PinholeCamera(
    width: 1296, height: 968, fx: 1170, fy: 1171, cx: 647.75, cy: 483.75)

  private static var capture: Capture {
    var capture = Capture(
      id: "scan", family: .scannet, generation: "v1", folder: "/nowhere",
      clock: CaptureClock(.uptime, unit: "s"))
    capture.device.id = "A1"
    capture.alignment = DepthCalibration(
      registered: false,
      colorFromDepth: RigidTransform(
        rotation: RigidTransform.identity.rotation, translation: [0.038, -0.001, 0.0216]),
      depthIntrinsics: PinholeCamera(
        width: 640, height: 480, fx: 571, fy: 572, cx: 319.5, cy: 239.5),
      colorIntrinsics: color)
    capture.color = .present(
      ColorStream(
        source: .stills([]),
        description: StreamDescription(file: "", encoding: "", width: 648, height: 484)))
    return capture
  }

  private static func lab(_ folder: FilePath, _ name: String, focal: Double = 1180) throws
    -> FilePath
  {
    let text = """
      colorWidth = 1296
      colorHeight = 968
      depthWidth = 640
      depthHeight = 480
      fx_color = \(focal)
      fy_color = 1181
      mx_color = 650
      my_color = 480
      k1_color = 0.1
      fx_depth = 570
      fy_depth = 571
      mx_depth = 320
      my_depth = 240
      depthToColorExtrinsics = 1 0 0 0.04 0 1 0 0 0 0 1 0.02 0 0 0 1
      """
    let file = folder.appending(name)
    try OutputFile.write(Array(text.utf8), to: file)
    return file
  }

  @Test("The capture's own values, and what the pictures' size does to them")
  func own() throws {
    let lines = try CalibrationSummary(Self.capture).lines
    #expect(lines.first == "the capture's own, nominal")
    #expect(lines.contains("depth to color: translation 38.0 -1.0 21.6 mm"))
    #expect(lines.contains { $0.contains("1296×968, rescaled to 648×484, fx 1170.0") })
    var registered = Self.capture
    registered.alignment = DepthCalibration(registered: true, colorIntrinsics: Self.color)
    #expect(
      try CalibrationSummary(registered).lines.contains("depth and color share one camera"))
    registered.alignment = DepthCalibration(registered: false)
    #expect(try CalibrationSummary(registered).lines[0].contains("incomplete: no color intrinsics"))
    registered.alignment = nil
    #expect(try CalibrationSummary(registered).lines == ["none: no depth to align"])
  }

  @Test("A file that is asked for, a folder with and one without a file for the device")
  func asked() throws {
    let folder = try TemporaryFolder()
    let file = try Self.lab(folder.path, "parameters.txt")
    let named = try CalibrationSummary(Self.capture, file: file)
    #expect(named.lines[0] == "\(file), in place of the capture's own")
    #expect(named.lines.contains { $0.hasPrefix("color") && $0.hasSuffix("lens k1 0.1") })
    #expect(
      try CalibrationSummary(Self.capture, folder: folder.path).lines[0].contains(
        "has no file for device A1"))
    let own = try Self.lab(folder.path, "A1.txt")
    #expect(
      try CalibrationSummary(Self.capture, folder: folder.path).lines[0]
        == "\(own), chosen by device A1, in place of the capture's own")
    #expect(throws: CalibrationError.self) {
      try CalibrationSummary(
        Self.capture, file: try Self.lab(folder.path, "bad.txt", focal: -1))
    }
  }

  @Test("JSON has the capture's document, and the calibration asked for beside it")
  func json() throws {
    let folder = try TemporaryFolder()
    let file = try Self.lab(folder.path, "parameters.txt")
    func keys(_ asked: CalibrationSummary?) throws -> String {
      let document = CaptureDocument(Self.capture, measured: asked?.members ?? [:])
      return String(decoding: try JSONEncoder().encode(document), as: UTF8.self)
    }
    #expect(try !keys(nil).contains("calibrationInForce"))
    let text = try keys(CalibrationSummary(Self.capture, file: file))
    #expect(text.contains("\"calibrationInForce\":{"))
    #expect(text.contains("\"source\":\"file\""))
    #expect(text.contains("1180"))
    #expect(text.contains("\"family\":\"scannet\""))
  }
}

@Suite("Explanations of codes")
struct CodeReferenceTests {
  @Test("Every code that can be reported has a meaning and a remedy")
  func all() throws {
    let codes = CodeReference.entries.map(\.code)
    let told =
      WarningCode.allCases.map(\.rawValue) + FailureCause.allCases.map(\.rawValue)
      + FailureDetail.Code.allCases.map(\.rawValue) + Reason.allCases.map(\.rawValue)
    #expect(Array(codes.prefix(told.count)) == told)
    #expect(
      CodeReference.entries.dropFirst(told.count).allSatisfy {
        [.state, .leftOut, .word].contains($0.kind)
      })
    #expect(Set(codes).count == codes.count)
    for entry in CodeReference.entries {
      for words in [entry.meaning, entry.data, entry.remedy] {
        #expect(words.hasSuffix("."), "\(entry.code): \(words)")
      }
      #expect(CodeReference[entry.code] == entry)
    }
    #expect(CodeReference["frame-gaps"] == nil)
  }

  @Test("The words that users must know, and the verdicts, are explained")
  func words() throws {
    let words = try Fixtures.projectRoot.appending("docs/words.md").text()
      .matches(of: /\n\| \*\*([a-z ]+)\*\*/).map { String($0.1) }
    #expect(words.count == 12)
    // Words of parameters and documents beyond that page.
    let others = [
      "pick", "even", "sharpest", "motion", "count", "every", "first", "last", "pickAngle",
      "pickDistance", "reason", "reasons", "remedy", "needsPerson", "keep", "port", "night",
      "warningCount", "cpuSeconds", "intermediate", "outcome", "cause", "severity", "clock",
      "nominal", "convention", "android", "registered", "custody",
    ]
    for word in words + others + CaptureQuality.Level.allCases.map(\.rawValue) {
      #expect(CodeReference[word] != nil, "\(word)")
    }
  }

  @Test("An entry as text")
  func text() throws {
    let text = try #require(CodeReference["input"]).text
    #expect(text.hasPrefix("input (cause)\n  What the capture's own files hold cannot be used"))
  }
}
