import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Processing
@testable import Stages

/// T_cam_imu: x of the camera is -y of the IMU, y is -x, z is -z; the IMU is 10 mm right of the camera, 20 mm above
/// and 5 mm ahead of it.
@Suite("Camera and IMU by a result of Kalibr")
struct CameraIMUTests {
  private static let matrix = """
      T_cam_imu:
      - [0.0, -1.0, 0.0, 0.01]
      - [-1.0, 0.0, 0.0, -0.02]
      - [0.0, 0.0, -1.0, 0.005]
      - [0.0, 0.0, 0.0, 1.0]
    """

  private static func chain(
    _ matrix: String = matrix, resolution: String = "[640, 480]", more: String = ""
  ) -> String {
    "cam0:\n\(matrix)\n  cam_overlaps: []\n  camera_model: pinhole\n  resolution: \(resolution)\n"
      + "  rostopic: /cam0/image_raw\n  timeshift_cam_imu: 0.0025\n\(more)"
  }

  private static let noiseText = """
    accelerometer_noise_density: 0.0021
    accelerometer_random_walk: 0.00031
    gyroscope_noise_density: 0.00017
    gyroscope_random_walk: 2.1e-05
    rostopic: /imu0
    update_rate: 200.0
    """

  private static func capture(turns: Int = 0) throws -> SmallCapture {
    let start: Int64 = 5_000_000_000
    var small = SmallCapture(times: (0..<4).map { start + 20_000_000 * $0 })
    small.addIMU((0...9).map { start - 10_000_000 + 10_000_000 * $0 })
    small.addCameras([0, 1, 3])
    var color = try #require(small.capture.color.value)
    color.clockwiseQuarterTurns = turns
    small.capture.color = .present(color)
    return small
  }

  private static func file(
    _ text: String, in folder: TemporaryFolder, _ name: String = "chain.yaml"
  ) throws
    -> FilePath
  {
    let path = folder.path.appending(name)
    try path.write(text)
    return path
  }

  @Test("The matrix maps points of the IMU to those of the camera, turned with the picture")
  func direction() throws {
    let folder = try TemporaryFolder()
    let found = try CameraIMUCalibration(Self.file(Self.chain(), in: folder))
    #expect(found.timeShiftNanoseconds == 2_500_000)
    for (turns, expected) in [
      (0, [-1.99, -1.02, -2.995]), (1, [1.02, -1.99, -2.995]), (2, [1.99, 1.02, -2.995]),
      (3, [-1.02, 1.99, -2.995]),
    ] {
      let cameraFromIMU = try found.cameraFromIMU(
        clockwiseQuarterTurns: turns, ofStored: PictureSize(width: 1920, height: 1440))
      let point = cameraFromIMU.apply(to: [1, 2, 3])
      #expect(zip(point, expected).allSatisfy { abs($0 - $1) < 1e-12 }, "\(turns): \(point)")
    }
  }

  @Test(
    "Calibrated pictures that were turned as well need no turn; others that do not fit are refused")
  func sides() throws {
    let folder = try TemporaryFolder()
    let found = try CameraIMUCalibration(
      Self.file(Self.chain(resolution: "[480, 640]"), in: folder))
    let turned = try found.cameraFromIMU(
      clockwiseQuarterTurns: 1, ofStored: PictureSize(width: 1920, height: 1440))
    #expect(turned.apply(to: [0, 0, 0]) == [0.01, -0.02, 0.005])
    let error = #expect(throws: CalibrationError.self) {
      try found.cameraFromIMU(
        clockwiseQuarterTurns: 2, ofStored: PictureSize(width: 1920, height: 1440))
    }
    #expect(error?.key == "resolution")
  }

  @Test(
    "EuRoC has the opposite, wherever the picture was turned, and the body where the IMU is",
    arguments: [0, 1])
  func euroc(turns: Int) throws {
    let folder = try TemporaryFolder()
    // As the stored picture lies: that of the fixture is turned on its side.
    let chain = try Self.file(
      Self.chain(resolution: turns == 0 ? "[640, 480]" : "[480, 640]"), in: folder)
    let noise = try Self.file(Self.noiseText, in: folder, "imu.yaml")
    let output = try Self.capture(turns: turns).run(
      ExportEuRoC.self,
      ["extrinsics": chain.string, "noise": noise.string, "gyroscopeNoise": "0.5"])
    let rotation =
      turns == 0 ? ["0.0, -1.0, 0.0", "-1.0, 0.0, 0.0"] : ["1.0, 0.0, 0.0", "0.0, -1.0, 0.0"]
    #expect(
      try output.text("mav0/cam0/sensor.yaml").contains(
        "data: [\(rotation[0]), -0.02, \(rotation[1]), 0.01, 0.0, 0.0, -1.0, 0.005, 0.0, 0.0, 0.0, 1.0]"
      ))
    // The camera's x, y, z are y, z, x of the world.
    let truth = try output.text("mav0/state_groundtruth_estimate0/data.csv").lines[1]
      .split(separator: ",").compactMap { Double($0) }
    #expect(truth[0] == 5_002_500_000)
    #expect(zip(truth[1...], [0.005, 0.26, -2.02]).allSatisfy { abs($0 - $1) < 1e-12 }, "\(truth)")
    let imu = try output.text("mav0/imu0/sensor.yaml")
    for line in [
      "rate_hz: 200", "gyroscope_noise_density: 0.5", "gyroscope_random_walk: 2.1e-05",
      "accelerometer_noise_density: 0.0021", "accelerometer_random_walk: 0.00031",
    ] { #expect(imu.contains(line + "\n"), "\(line) in \(imu)") }
    let assumed = try output.text("export.json")
    for word in ["imuFromCamera", "timeOffset"] { #expect(!assumed.contains(word), "\(word)") }
    #expect(
      try output.text("README.txt").replacing("\n  ", with: " ").contains("timeshift_cam_imu"))
  }

  @Test("A time offset that is set is taken in place of that of the file")
  func offset() throws {
    let folder = try TemporaryFolder()
    let chain = try Self.file(Self.chain(), in: folder)
    let output = try Self.capture().run(
      ExportKalibr.self, ["extrinsics": chain.string, "timeOffset": "-1ms"])
    #expect(output.names.contains("cam0/4999000000.png"))
    let shifted = try Self.capture().run(ExportKalibr.self, ["extrinsics": chain.string])
    #expect(shifted.names.contains("cam0/5002500000.png"))
  }

  @Test("The transform of a bag has the IMU in the camera")
  func bag() throws {
    let folder = try TemporaryFolder()
    let chain = try Self.file(Self.chain(), in: folder)
    let sample = TimedSample(times: [1000], gyroscope: [900, 1100], accelerometer: [900, 1100])
    let output = try sample.export(ExportMCAP.self, ["extrinsics": chain.string])
    let file = ParsedMCAP(try output.bytes("bag/bag.mcap"))
    let topics = file.topics
    let message = try #require(file.messages.first { topics[$0.channel] == "/tf_static" })
    var reader = CDRReader(message.data)
    #expect(reader.integer() == 1)
    _ = (reader.integer(), reader.integer())
    #expect([reader.text(), reader.text()] == ["cam0", "imu0"])
    #expect((0..<3).map { _ in reader.number() } == [0.01, -0.02, 0.005])
  }

  /// The numbers of the first message of /imu0 behind its head: orientation, and each vector before its covariances.
  private static func imuNumbers(_ output: StageBench.Output) throws -> [Double] {
    let file = ParsedMCAP(try output.bytes("bag/bag.mcap"))
    let topics = file.topics
    let message = try #require(file.messages.first { topics[$0.channel] == "/imu0" })
    var reader = CDRReader(message.data)
    _ = (reader.integer(), reader.integer(), reader.text())
    return (0..<37).map { _ in reader.number() }
  }

  @Test(
    "The covariances of a bag are the densities squared, times the rate; one that is not given is 0"
  )
  func covariances() throws {
    let folder = try TemporaryFolder()
    let sample = TimedSample(
      times: [1000], gyroscope: [0, 10_000_000, 20_000_000], accelerometer: [0, 20_000_000])
    let plain = try sample.export(ExportMCAP.self)
    for (text, gyroscope, accelerometer) in [
      (Self.noiseText, 0.00017 * 0.00017 * 200, 0.0021 * 0.0021 * 200),
      // Without a rate, that of the samples.
      ("gyroscope_noise_density: 0.5", 25, 0),
    ] {
      let noise = try Self.file(text, in: folder, "imu.yaml")
      let output = try sample.export(ExportMCAP.self, ["noise": noise.string])
      let numbers = try Self.imuNumbers(output)
      for (start, variance) in [(16, gyroscope), (28, accelerometer)] {
        let expected = (0..<9).map { $0 % 4 == 0 ? variance : 0 }
        #expect(
          zip(numbers[start..<start + 9], expected).allSatisfy { abs($0 - $1) < 1e-12 },
          "\(numbers)")
      }
      #expect(
        try output.text("export.json").contains("\"covariances\"") == (accelerometer == 0))
      #expect(try output.text("README.txt").contains("noise densities"))
    }
    #expect(try Self.imuNumbers(plain)[16..<25].allSatisfy { $0 == 0 })
    #expect(try plain.text("export.json").contains("\"covariances\""))
    #expect(try !plain.text("README.txt").contains("noise densities"))
    #expect(plain.artifact.record.parameters["noise"] == nil)
  }

  @Test("Samples belong to frames by the time shift of the file as well, unless an offset is set")
  func matched() throws {
    let folder = try TemporaryFolder()
    let chain = try Self.file(Self.chain(), in: folder)
    for (more, offset) in [([:], 2_500_000), (["timeOffset": "-1ms"], -1_000_000)] {
      let settings = more.merging(["extrinsics": chain.string, "window": "4ms"]) { $1 }
      let capture = try Self.capture().capture
      let byFile = try StageBench(capture).run(MatchIMU.self, settings)
      let bySetting = try StageBench(capture).run(
        MatchIMU.self, ["timeOffset": "\(offset)ns", "window": "4ms"])
      for name in ["frame_imu.csv", "frame_imu_counts.csv", "imu.csv"] {
        #expect(try byFile.text(name) == bySetting.text(name), "\(name)")
      }
      #expect(byFile.artifact.record.recorded["timeOffsetNs"] == .integer(Int64(offset)))
      // Samples lie 10 ms apart, one at each frame.
      #expect(try byFile.text("frame_imu.csv").contains(",\(-offset),gyroscope,"))
    }
    var parameters = ParameterValues(defaultsOf: MatchIMU.parameters)
    #expect(MatchIMU.fileProblems(parameters).isEmpty)
    parameters["extrinsics"] = .text(try Self.file(Self.noiseText, in: folder).string)
    #expect(MatchIMU.fileProblems(parameters).map(\.parameter) == ["extrinsics"])
  }

  @Test(
    "What is no rotation, no number or not there is refused with file and line",
    arguments: [
      (
        chain(matrix.replacing("[-1.0, 0.0, 0.0, -0.02]", with: "[1.0, 0.0, 0.0, -0.02]")), 3,
        "a rotation"
      ),
      (
        chain(matrix.replacing("[0.0, -1.0, 0.0, 0.01]", with: "[0.1, -1.0, 0.0, 0.01]")), 3,
        "a rotation"
      ),
      (
        chain(matrix.replacing("[0.0, 0.0, 0.0, 1.0]", with: "[0.1, 0.0, 0.0, 1.0]")), 3,
        "row by row"
      ),
      (chain(matrix.replacing("0.005", with: ".nan")), 3, "four rows"),
      (chain().replacing("0.0025", with: "soon"), 11, "a number"),
      (chain("  T_cn_cnm1: []"), nil, "camchain-imucam.yaml"),
      (chain(more: "cam1:\n" + matrix), nil, "2 cameras"),
      (noiseText, nil, "camchain-imucam.yaml"),
    ] as [(String, Int?, String)])
  func refused(text: String, line: Int?, words: String) throws {
    let folder = try TemporaryFolder()
    let path = try Self.file(text, in: folder)
    let error = #expect(throws: CalibrationError.self) { try CameraIMUCalibration(path) }
    #expect(error?.line == line, "\(String(describing: error))")
    #expect(error?.description.hasPrefix(path.string) == true)
    #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    var parameters = ParameterValues(defaultsOf: ExportMCAP.parameters)
    parameters["extrinsics"] = .text(path.string)
    #expect(ExportMCAP.fileProblems(parameters).map(\.parameter) == ["extrinsics"])
  }

  @Test("Noise is read from a result of Kalibr as well, and refused where a value is none")
  func noise() throws {
    let folder = try TemporaryFolder()
    let result = "imu0:\n" + Self.noiseText.lines.map { "  \($0)\n" }.joined()
    let found = try ExportParameters.noise(Self.file(result, in: folder))
    #expect(found.densities["gyroscope_random_walk"] == 2.1e-05)
    #expect(found.hertz == 200)
    let wrong = try Self.file(result.replacing("0.00017", with: "-1"), in: folder)
    let error = #expect(throws: CalibrationError.self) { try ExportParameters.noise(wrong) }
    #expect(error?.line == 4)
    #expect(error?.key == "imu0.gyroscope_noise_density")
  }
}

@Suite("Pictures that inertial samples cover")
struct IMUCoverageTests {
  private static func imu(_ times: [Int64]) -> SixAxisIMU {
    let samples = times.map {
      IMUSample(timestamp: Timestamp(nanoseconds: $0), sensor: 0, x: 0, y: 0, z: 0)
    }
    return SixAxisIMU(gyroscope: samples, specificForce: samples)
  }

  @Test(
    "lie from the first sample to before the last, with a sample since the one before",
    arguments: [
      ([10, 20, 30, 40], [9, 10, 25, 28, 39, 40, 41], [10, 25, 39]),
      ([10, 20, 30, 40], [20, 20, 30], [20, 30]),
      ([10], [9, 10, 11], []),
      ([], [1], []),
      ([10, 50], [10, 20, 49, 50], [10]),
    ] as [([Int64], [Int64], [Int64])])
  func kept(samples: [Int64], pictures: [Int64], expected: [Int64]) {
    var coverage = IMUCoverage(Self.imu(samples))
    var kept: [Int64] = []
    for picture in pictures {
      let time = Timestamp(nanoseconds: picture)
      if coverage.keeps(time, after: kept.last.map { Timestamp(nanoseconds: $0) }) {
        kept.append(picture)
      }
    }
    #expect(kept == expected)
  }
}

@Suite("Exports that state units of motion")
struct MotionUnitTests {
  private static let kinds: [any ExportStage.Type] = [
    ExportEuRoC.self, ExportKalibr.self, ExportMCAP.self, ExportSpectacular.self, ExportSens.self,
    ExportScanNetPP.self,
  ]

  /// Samples that are read as m/s² or rad/s, with what opening a capture says about them.
  private static func small(doubtful: String) -> SmallCapture {
    var small = SmallCapture(times: [10_000_000, 20_000_000, 30_000_000])
    small.addIMU([0, 10_000_000, 20_000_000, 30_000_000, 40_000_000])
    small.capture.warnings = [CaptureWarning(.implausibleUnit, doubtful, count: 5, "cannot be")]
    return small
  }

  private static func reason(
    _ kind: any ExportStage.Type, doubtful: String, _ settings: [String: String] = [:]
  ) throws -> String? {
    var values = ParameterValues(defaultsOf: kind.parameters)
    for (name, text) in settings {
      let description = try #require(kind.parameters.first { $0.name == name })
      values[name] = try description.value(from: text)
    }
    let summary = CaptureSummary(small(doubtful: doubtful).capture, readerVersion: 1)
    return MotionUnits.obstacle(summary.exports.doubtfulSensors ?? [], values)
  }

  @Test("Each of them is not made while a unit is in doubt, and is when somebody states it")
  func obstacles() throws {
    for kind in Self.kinds {
      let reason = try #require(try Self.reason(kind, doubtful: "accelerometer"))
      #expect(reason.contains("imu.accelerationUnit"))
      #expect(try Self.reason(kind, doubtful: "gyroscope")?.contains("imu.rotationUnit") == true)
      for unit in ["g", "m/s2"] {
        #expect(
          try Self.reason(kind, doubtful: "accelerometer", ["accelerationUnit": unit]) == nil)
        #expect(try Self.reason(kind, doubtful: "gyroscope", ["accelerationUnit": unit]) != nil)
      }
      #expect(try Self.reason(kind, doubtful: "gyroscope", ["rotationUnit": "deg/s"]) == nil)
      #expect(try Self.reason(kind, doubtful: "magnetometer") == nil)
    }
  }

  @Test("The reason stands where others stand, before anything runs")
  func applicability() {
    let summary = CaptureSummary(Self.small(doubtful: "accelerometer").capture, readerVersion: 1)
    for kind in [ExportEuRoC.self, ExportKalibr.self, ExportMCAP.self] as [any ExportStage.Type] {
      guard
        case .notApplicable(let why) = kind.applicability(
          ParameterValues(defaultsOf: kind.parameters), summary)
      else {
        Issue.record("\(kind.name) would be made")
        continue
      }
      #expect(why.contains("imu.accelerationUnit"), "\(kind.name)")
    }
  }

  @Test("Kalibr's table has the stated units as m/s² and rad/s")
  func converted() throws {
    let output = try Self.small(doubtful: "accelerometer").run(
      ExportKalibr.self, ["accelerationUnit": "g", "rotationUnit": "deg/s"])
    let row = try output.text("imu0.csv").lines[1].split(separator: ",")
      .compactMap { Double($0) }
    #expect(row[3] == 1.5 * (.pi / 180))
    #expect(row[4...] == [0.125 * 9.80665, -0.5 * 9.80665, 9.75 * 9.80665])
  }

  @Test("imu settles a warning whose unit is stated, and no other")
  func settles() throws {
    func isSettled(_ subject: String, _ settings: [String: ParameterValue]) -> Bool {
      var values = ParameterValues(defaultsOf: MatchIMU.parameters)
      for (name, value) in settings { values[name] = value }
      return MatchIMU.settles(CaptureWarning(.implausibleUnit, subject, "x"), values)
    }
    #expect(!isSettled("gravity", [:]))
    #expect(isSettled("gravity", ["accelerationUnit": .text("g")]))
    #expect(!isSettled("gyroscope", ["accelerationUnit": .text("g")]))
    #expect(isSettled("gyroscope", ["rotationUnit": .text("rad/s")]))
    #expect(!isSettled("depth", ["accelerationUnit": .text("g"), "rotationUnit": .text("rad/s")]))
  }

  @Test("What is set of the recorded samples for imu holds in every format of one six-axis stream")
  func shared() {
    let kinds: [any ExportStage.Type] = [
      ExportEuRoC.self, ExportKalibr.self, ExportMCAP.self, ExportSpectacular.self,
    ]
    for kind in kinds {
      for name in ["accelerationUnit", "rotationUnit", "convention"] {
        let parameter = kind.parameters.first { $0.name == name }
        #expect(
          parameter?.answers(to: name, of: "imu", isOwn: false) == true, "\(kind.name) \(name)")
      }
    }
  }

  @Test("Tables have the signs that were recorded, or those of specific force")
  func signs() throws {
    var small = SmallCapture(times: [0])
    small.addIMU([0])
    var imu = try #require(small.capture.imu.value)
    for (convention, signs, z, written) in [
      (IMUConvention.android, "specific-force", "9.75", "android"),
      (.coremotion, "specific-force", "-9.75", "android"),
      (.coremotion, "recorded", "9.75", "coremotion"),
    ] {
      imu.convention = convention
      small.capture.imu = .present(imu)
      let output = try StageBench(small.capture).run(MatchIMU.self, ["acceleration": signs])
      let table = try output.text("imu.csv")
      #expect(table.contains(",\(z)\n"), "\(convention) \(signs): \(table)")
      #expect(table.contains("0,gyroscope,0.5,1.0,1.5\n"))
      #expect(output.artifact.record.signsOfAcceleration == written)
    }
  }
}
