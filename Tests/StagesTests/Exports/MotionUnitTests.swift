@testable import Captures
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
import TestSupport
import Testing

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
