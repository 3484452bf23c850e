@testable import Captures
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
import TestSupport
import Testing

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
