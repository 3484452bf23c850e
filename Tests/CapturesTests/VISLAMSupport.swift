import Captures
import FoundationEssentials
import Geometry
import SystemPackage
import Testing

/// A session's folder in the making, removed when the test is done with it.
final class VISLAMScratch {
  let outer: FilePath
  let folder: FilePath

  init(_ name: String = "session_2026-01-24T10-00-00Z") throws {
    outer = FilePath(FileManager.default.temporaryDirectory.path)
      .appending("vislam-\(UInt64.random(in: 0 ... .max))")
    folder = outer.appending(name)
    try FileManager.default.createDirectory(
      atPath: folder.string, withIntermediateDirectories: true)
  }

  /// A copy of a fixture's capture.
  convenience init(copyOf fixture: FilePath) throws {
    try self.init("capture")
    try FileManager.default.removeItem(atPath: folder.string)
    try FileManager.default.copyItem(atPath: fixture.string, toPath: folder.string)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: outer.string)
  }

  func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    let path = folder.appending(name)
    try FileManager.default.createDirectory(
      atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: path.string))
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: folder.appending(name).string)
  }

  func bytes(of name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: folder.appending(name).string)))
  }

  func text(of name: String) throws -> String {
    String(decoding: try bytes(of: name), as: UTF8.self)
  }

  func link(_ name: String, to target: FilePath) throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.appending(name).string, withDestinationPath: target.string)
  }

  /// Opens the folder whether or not it would be recognized.
  func open() throws -> Capture {
    try VISLAMReader.open(
      Recognition(
        family: .vislam, certainty: .certain, folder: folder,
        id: folder.lastComponent?.string ?? "", reason: "test"))
  }
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
