@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import Testing

/// A session in the making.
final class VISLAMScratch: ScratchCapture {
  convenience init() throws { try self.init(named: "session_2026-01-24T10-00-00Z") }

  func open() throws -> Capture { try VISLAMReader.open(recognition(as: .vislam)) }
}

/// Tables in the app's own form.
enum VISLAMTables {
  static let imuHeader = "timestamp_ns,sensor_type,x,y,z\n"
  static let frameHeader =
    "frame_number,timestamp_ns,exposure_duration,iso,focal_length,width,height\n"
  static let start: Int64 = 1_000_000_000_000

  /// `count` accelerometer and gyroscope rows, 10 ms apart.
  static func imu(_ count: Int) -> String {
    (0..<count).map { index in
      let time = start + Int64(index) * 10_000_000
      return "\(time),gyroscope,0.1,0.2,0.3\n\(time + 1_250_000),accelerometer,1.0,2.0,-9.81\n"
    }.joined()
  }

  /// Frame rows at the given steps of 33,333,333 ns.
  static func frames(_ steps: [Double]) -> String {
    steps.enumerated().map { index, step in
      "\(index),\(start + Int64(step * 33_333_333)),0.0,0.0,4.25,320,180\n"
    }.joined()
  }
}

extension Capture {
  /// Counts of all warnings, summed over the entries of one code.
  var warningCounts: [String: Int] {
    warnings.reduce(into: [:]) { $0[$1.code.rawValue, default: 0] += $1.count }
  }
}
