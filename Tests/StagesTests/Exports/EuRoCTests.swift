import StageSupport
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

@Suite("export-euroc")
struct EuRoCTests {
  /// Four frames between IMU samples every 10 ms.
  private static func capture() -> SmallCapture {
    let start: Int64 = 5_000_000_000
    var small = SmallCapture(times: (0..<4).map { start + 20_000_000 * $0 })
    small.addIMU((0...8).map { start - 10_000_000 + 10_000_000 * $0 })
    small.addCameras([0, 1, 3])
    return small
  }

  @Test("Every text byte of a small export")
  func snapshot() throws {
    let output = try Self.capture().run(
      ExportEuRoC.self, ["share": "copy", "gyroscopeNoise": "0.00016"])
    try Snapshots.check(output.texts(without: ["README.txt"]), "export-euroc")
  }

  @Test("The README names axes, assumptions and how to open it, and warns of slow IMUs")
  func readme() throws {
    let fast = try Self.capture().run(ExportEuRoC.self).text("README.txt")
    for words in [
      "mono_inertial_euroc VOC CAMERA.yaml export-euroc export-euroc/times.txt",
      "T_BS maps sensor to body",
      "0 m in T_BS", "distortion of the lens", "timeOffset",
    ] { #expect(fast.replacing("\n  ", with: " ").contains(words), "\(words)") }
    #expect(!fast.contains("samples per second"))
    var slow = Self.capture()
    slow.addIMU((0...3).map { 4_990_000_000 + 33_000_000 * $0 })
    #expect(try slow.run(ExportEuRoC.self).text("README.txt").contains("samples per second"))
  }

  @Test(
    "A rate within a percent of a usual one is that rate, as its sensor was set",
    arguments: [
      (10_020_000, 100, false), (9_980_000, 100, false), (5_040_000, 200, false),
      (10_300_000, 97, true), (33_000_000, 30, true), (16_700_000, 60, true),
    ] as [(Int64, Int, Bool)])
  func rate(step: Int64, hertz: Int, isSlow: Bool) throws {
    var small = Self.capture()
    small.addIMU((0...30).map { 4_990_000_000 + step * $0 })
    let output = try small.run(ExportEuRoC.self)
    #expect(try output.text("mav0/imu0/sensor.yaml").contains("rate_hz: \(hertz)\n"))
    #expect(try output.text("README.txt").contains("samples per second") == isSlow)
    let noise = ["gyroscopeNoise": "0.001"]
    let kalibr = try small.run(ExportKalibr.self, noise).text("imu.yaml")
    #expect(kalibr.contains("update_rate: \(hertz).0\n"), "\(kalibr)")
  }

  @Test("Pictures are gray by the formula of Kalibr, or those of color/ as they are")
  func pictures() throws {
    let gray = try Self.capture().run(ExportEuRoC.self)
    let name = "mav0/cam0/data/5020000000.png"
    let rgb = SmallCapture.picture(1).rgb
    let expected = (0..<12).map { pixel in
      let (r, g, b) = (Int(rgb[3 * pixel]), Int(rgb[3 * pixel + 1]), Int(rgb[3 * pixel + 2]))
      return UInt8((299 * r + 587 * g + 114 * b + 500) / 1000)
    }
    #expect(try PNGReader.gray(at: gray.file(name)).values == expected)
    let color = try Self.capture().run(ExportEuRoC.self, ["picture": "color"])
    #expect(try PNGReader.color(at: color.file(name)) == SmallCapture.picture(1))
  }

  @Test("timeOffset is added to times and names of pictures, not to those of the IMU")
  func timeOffset() throws {
    let output = try Self.capture().run(ExportEuRoC.self, ["timeOffset": "-3ms"])
    #expect(
      try output.text("times.txt") == "4997000000\n5017000000\n5037000000\n5057000000\n")
    #expect(try output.text("mav0/imu0/data.csv").contains("\n4990000000,"))
    #expect(try !output.text("export.json").contains("timeOffset"))
    #expect(try output.text("frames.csv").contains("0,5000000000,mav0/cam0/data/4997000000.png"))
  }

  /// Milliseconds of frames and samples, and what becomes of it.
  struct Damage: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var frames: [Int64?]
    var imu: [Int64]
    var kept: [Int]
    var leftOut: [String: Int]

    init(
      _ name: String, _ frames: [Int64?], _ imu: [Int64], _ kept: [Int], _ leftOut: [String: Int]
    ) {
      testDescription = name
      self.frames = frames
      self.imu = imu
      self.kept = kept
      self.leftOut = leftOut
    }
  }

  @Test(
    "Only frames that the IMU covers are kept, each other one is counted once",
    arguments: [
      Damage("late start", [0, 10, 20, 30], [15, 25, 35], [2, 3], ["outside-imu": 2]),
      Damage("early end", [0, 10, 20, 30], [0, 10, 20], [0, 1], ["outside-imu": 2]),
      Damage(
        "a pause", [0, 10, 20, 30, 40], [0, 5, 35, 45], [0, 1, 4], ["outside-imu": 2]),
      Damage("no sample between", [0, 1, 2, 20], [0, 10, 30], [0, 3], ["outside-imu": 2]),
      Damage(
        "a clock jump", [0, 10, 900_000, 20], [0, 10, 20, 30], [0, 1, 3], ["outside-imu": 1]),
      Damage(
        "equal and falling times", [10, 10, 5, 20], [0, 10, 15, 20, 30], [0, 3],
        ["time-not-increasing": 2]),
      Damage("no times", [0, nil, 20, nil], [0, 10, 20, 30], [0, 2], ["no-time": 2]),
      Damage("one frame", [10], [0, 10, 20], [0], [:]),
      Damage("times of 0", [0, 10], [0, 5, 15], [0, 1], [:]),
      Damage(
        "times above 10¹⁸ ns", [1_764_000_000_000, 1_764_000_000_010],
        [1_764_000_000_000, 1_764_000_000_010, 1_764_000_000_020], [0, 1], [:]),
    ])
  func damage(_ damage: Damage) throws {
    var small = SmallCapture(times: damage.frames.map { $0.map { $0 * 1_000_000 } })
    small.addIMU(damage.imu.map { $0 * 1_000_000 })
    let output = try small.run(ExportEuRoC.self)
    let (frames, leftOut) = try output.account()
    #expect(frames == damage.kept)
    #expect(leftOut == damage.leftOut)
    let stamps = try output.text("times.txt").lines.compactMap { Int64($0) }
    #expect(stamps == damage.kept.compactMap { damage.frames[$0].map { $0 * 1_000_000 } })
    #expect(output.names.filter { $0.hasSuffix(".png") }.count == stamps.count)
  }

  @Test("Without poses there is no ground truth, without intrinsics none of their keys")
  func withoutCameras() throws {
    var small = Self.capture()
    small.capture.poses = .absent("none")
    small.capture.intrinsics = .absent("none")
    let output = try small.run(ExportEuRoC.self)
    #expect(!output.names.contains { $0.hasPrefix("mav0/state") })
    let sensor = try output.text("mav0/cam0/sensor.yaml")
    #expect(sensor.contains("resolution: [4, 3]"))
    for key in ["camera_model", "intrinsics", "distortion"] { #expect(!sensor.contains(key)) }
    #expect(try !output.text("export.json").contains("velocity"))
  }

  @Test("A portrait picture turns T_BS along, and leaves the body where it is")
  func portrait() throws {
    var small = Self.capture()
    let stored = try small.run(ExportEuRoC.self)
    var color = try #require(small.capture.color.value)
    color.clockwiseQuarterTurns = 1
    small.capture.color = .present(color)
    let turned = try small.run(ExportEuRoC.self)
    let sensor = try turned.text("mav0/cam0/sensor.yaml")
    #expect(
      sensor.contains(
        "data: [1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0]"
      ))
    let truth = "mav0/state_groundtruth_estimate0/data.csv"
    let bodies = try [stored, turned].map { output in
      try output.text(truth).lines.dropFirst().map { row in
        row.split(separator: ",").compactMap { Double($0) }
      }
    }
    #expect(bodies[0].count == 3)
    for (before, after) in zip(bodies[0], bodies[1]) {
      #expect(zip(before[..<4], after).allSatisfy { abs($0 - $1) < 1e-12 }, "\(before) \(after)")
      // A quaternion and its negative are one rotation.
      let product = zip(before[4..<8], after[4..<8]).map(*).reduce(0, +)
      #expect(abs(abs(product) - 1) < 1e-12)
    }
  }
}

@Suite("export-kalibr")
struct KalibrTests {
  @Test("Every text byte of a small export, below one second")
  func snapshot() throws {
    var small = SmallCapture(times: [0, 20_000_000, 40_000_000])
    small.addIMU([0, 10_000_000, 20_000_000, 30_000_000, 50_000_000])
    let output = try small.run(
      ExportKalibr.self, ["share": "copy", "gyroscopeNoise": "0.00016"])
    try Snapshots.check(output.texts(), "export-kalibr")
    #expect(
      output.names.filter { $0.hasSuffix(".png") }
        == ["cam0/0000000000.png", "cam0/0020000000.png", "cam0/0040000000.png"])
  }

  @Test(
    "All names and stamps have the same number of digits, at least ten, in the order of time",
    arguments: [
      ([0, 5], 10), ([999_999_999, 1_000_000_000], 10), ([9_999_999_999, 10_000_000_000], 11),
      ([99_999_999_999_999, 100_000_000_000_000], 15),
      ([1_764_000_000_000_000_000, 1_764_000_000_000_000_005], 19),
    ] as [([Int64], Int)])
  func digits(times: [Int64], digits: Int) throws {
    var small = SmallCapture(times: times)
    small.addIMU([times[0], times[1], times[1] + 1])
    let output = try small.run(ExportKalibr.self)
    let names = try output.text("frames.csv").lines.dropFirst()
      .compactMap { $0.split(separator: "/").last?.split(separator: ".").first.map(String.init) }
    #expect(names.map(\.count) == [digits, digits])
    #expect(names.sorted() == names)
    let stamps = try output.text("imu0.csv").lines.dropFirst()
      .compactMap { $0.split(separator: ",").first }
    #expect(stamps.map(\.count) == [digits, digits, digits])
  }

  @Test("Times that ROS 1 cannot say are left out and counted, of pictures and of the IMU")
  func negative() throws {
    var small = SmallCapture(times: [-5, 0, 10, 4_294_967_296_000_000_000])
    small.addIMU([-7, 0, 5, 20])
    let output = try small.run(ExportKalibr.self)
    let (frames, leftOut) = try output.account()
    #expect(frames == [1, 2])
    #expect(leftOut == ["no-time": 2])
    #expect(try output.text("export.json").contains("\"leftOut\" : 1"))
  }

  @Test("Without IMU every picture with a time is there, and no imu0.csv")
  func withoutIMU() throws {
    let output = try SmallCapture(times: [10, nil, 30]).run(ExportKalibr.self)
    #expect(try output.account().frames == [0, 2])
    #expect(!output.names.contains { $0.hasPrefix("imu") })
    #expect(try output.text("README.txt").contains("There is no imu0.csv"))
  }

  @Test("Acceleration without gravity is no IMU")
  func userAcceleration() throws {
    var small = SmallCapture(times: [10, 20])
    small.addIMU([0, 10, 20, 30])
    var imu = try #require(small.capture.imu.value)
    imu.sensors = ["userAcceleration", "gyroscope"]
    small.capture.imu = .present(imu)
    let output = try small.run(ExportKalibr.self)
    #expect(!output.names.contains("imu0.csv"))
    #expect(try output.text("README.txt").contains("userAcceleration alone"))
  }
}
