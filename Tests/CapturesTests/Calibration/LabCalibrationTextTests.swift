import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core

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

  @Test("The opposite extrinsics are inverted; with both, they must agree")
  func oppositeDirection() throws {
    let opposite =
      "colorToDepthExtrinsics = 0 1 0 0.25 -1 0 0 0.5 0 0 1 -2 0 0 0 1"
    let calibration = try File.read(
      Self.text.replacing("depthToColorExtrinsics = 1", with: "unused = 1") + "\n" + opposite)
    #expect(
      calibration.colorFromDepth
        == RigidTransform(rotation: [0, -1, 0, 1, 0, 0, 0, 0, 1], translation: [0.5, -0.25, 2]))
    #expect(try File.failure(Self.text + "\n" + opposite)?.key == "colorToDepthExtrinsics")
    let inverse = "colorToDepthExtrinsics = 1 0 0 -0.03 0 1 0 0.01 0 0 1 -0.002 0 0 0 1"
    let both = try File.read(Self.text + "\n" + inverse)
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

  @Test("A key may stand twice with one value, and a key that does not concern cameras with two")
  func repeated() throws {
    let text = Self.text + "\nsceneType = Hall\nfx_depth =  571.5"
    #expect(try File.read(text) == File.read(Self.text))
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
      ("fy_depth = 572.5", "fy_depth = 572.5\nfx_depth = 57", "fx_depth", "57", 17),
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

@Suite("Tables of depth undistortion and devices")
struct DepthTableFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ bytes: [UInt8], _ name: String = "a.lut") throws -> FilePath {
    let path = folder.path.appending(name)
    try Data(bytes).write(to: URL(filePath: path.string))
    return path
  }

  private static func bytes(
    _ sizes: [Int32], _ distance: Float, _ values: [Float]
  ) -> [UInt8] {
    let words =
      sizes.map { UInt32(bitPattern: $0) } + [distance.bitPattern] + values.map(\.bitPattern)
    return words.flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
    }
  }

  @Test("A table is read as it is; every shorter or longer file is refused with what it must be")
  func whole() throws {
    let bytes = Self.bytes([2, 1, 3], 4.5, [1, 1.25, 0.75, -321, 1.5, 1])
    let table = try DepthTableFile.read(write(bytes))
    #expect(
      table
        == DepthDistortionTable(
          columns: 2, rows: 1, slices: 3, maximumDistance: 4.5,
          values: [1, 1.25, 0.75, -321, 1.5, 1]) || table.unknownCells == 1)
    #expect(table.columns == 2 && table.rows == 1 && table.slices == 3)
    for count in 0...(bytes.count + 4) where count != bytes.count {
      let cut =
        count < bytes.count
        ? Array(bytes.prefix(count)) : bytes + [UInt8](repeating: 0, count: count - bytes.count)
      let path = try write(cut, "cut.lut")
      let error = #expect(throws: CalibrationError.self) { try DepthTableFile.read(path) }
      let text = error.map { "\($0)" } ?? ""
      #expect(text.contains("cut.lut") && text.contains("\(count) bytes"), "\(text)")
    }
  }

  @Test(
    "Impossible heads are refused with their byte and value",
    arguments: [
      ([0, 1, 1], 5, "xRes = 0: at byte 0"), ([1, -1, 1], 5, "yRes = -1: at byte 4"),
      ([1, 1, 4097], 5, "zRes = 4097: at byte 8"), ([1, 1, 1], 0, "maxDistance = 0.0: at byte 12"),
      ([1, 1, 1], -2, "maxDistance = -2.0"), ([1, 1, 1], .nan, "maxDistance = nan"),
      ([4096, 4096, 4096], 5, "has exactly 274877906960"),
    ] as [([Int32], Float, String)])
  func heads(_ sizes: [Int32], _ distance: Float, _ words: String) throws {
    let path = try write(Self.bytes(sizes, distance, [1]))
    let error = #expect(throws: CalibrationError.self) { try DepthTableFile.read(path) }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains(words), "\(text)")
  }

  @Test(
    "devices.csv names the files of a device; a device that is not listed has those named after it",
    arguments: [
      ("AB", "lab7.txt", "lab7.lut"),
      // An empty name keeps the values of the capture.
      ("CD", nil, nil),
      ("EF", nil, "EF.lut"), ("GH", nil, nil),
      // Ids and names of files in other case are the same.
      ("ab", "lab7.txt", "lab7.lut"), ("ef", nil, "EF.lut"),
      // A name with some of its files has no others; one without any is a mistake, which opening tells.
      ("IJ", "Lab8.TXT", nil), ("KL", "lab9.txt", "lab9.lut"),
    ] as [(String, String?, String?)])
  func devices(device: String, file: String?, table: String?) throws {
    try Data(
      "name,calibration_name,id\n\"Pad, old\",lab7,AB\nnew,,CD\n,lab8,IJ\n,lab9,KL\n".utf8
    ).write(to: URL(filePath: folder.path.appending("devices.csv").string))
    for name in ["lab7.txt", "lab7.lut", "CD.txt", "EF.lut", "AB.json", "Lab8.TXT"] {
      _ = try write([1], name)
    }
    let place = folder.path
    #expect(CalibrationFolder.file(for: device, in: place)?.lastComponent?.string == file)
    var family = CaptureRegistry.builtIn.description(of: CaptureFamily("scannet"))
    func found() -> FilePath? { CalibrationFolder.table(for: device, in: place, of: family) }
    #expect(found()?.lastComponent?.string == table)
    // A sensor that takes no table misses none.
    family.hasStructuredLight = false
    #expect((found() == nil) == (table == nil || device == "KL"))
  }

  @Test(
    "Tables of devices that contradict themselves are refused",
    arguments: [
      (
        "id,calibration_name\na,x\nb,y\na,z\n",
        "devices.csv:4: a = z: is listed twice, before with 'x'"
      ),
      ("id,name\na,x\n", "devices.csv:1: calibration_name: is missing"),
      ("", "devices.csv:1: id: is missing"),
      ("id,calibration_name\nAb,x\naB,y\n", "devices.csv:3: aB = y: is listed twice"),
      ("id,calibration_name\na,../x\n", "calibration_name = ../x: has a slash"),
    ])
  func contradictions(_ text: String, _ words: String) throws {
    try Data(text.utf8).write(to: URL(filePath: folder.path.appending("devices.csv").string))
    let error = #expect(throws: CalibrationError.self) { try CalibrationDevices(in: folder.path) }
    let told = error.map { "\($0)" } ?? ""
    #expect(told.contains(words), "\(told)")
  }
}
