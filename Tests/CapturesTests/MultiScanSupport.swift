@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

/// What a fixture's `expected.json` says, as far as the reader decides it.
struct MultiScanExpectation: Decodable {
  struct Stream: Decodable {
    var file: String?
    var encoding: String?
    var width: Int?
    var height: Int?
    var frames: Int?
    var declaredFrames: Int?
  }

  struct Streams: Decodable {
    var color: Stream?
    var depth: Stream?
    var confidence: Stream?
    var poses: Stream?
  }

  struct Times: Decodable {
    var frame: [Int64?]
    var color: [Int64?]
    var depth: [Int64?]
  }

  struct Warning: Decodable {
    var code: String
    var subject: String
    var count: Int
  }

  struct IMU: Decodable {
    var counts: [String: Int]
    var rows: Int
    var first: [Row]
    var last: [Row]
  }

  /// `[timestamp, sensor, x, y, z]`.
  struct Row: Decodable {
    var timestamp: Int64
    var sensor: String
    var values: [Double]

    init(from decoder: any Decoder) throws {
      var cells = try decoder.unkeyedContainer()
      timestamp = try cells.decode(Int64.self)
      sensor = try cells.decode(String.self)
      values = try (0..<3).map { _ in try cells.decode(Double.self) }
    }
  }

  /// `[frame, timestamp, latitude, longitude, accuracy, heading, source]`.
  struct Geo: Decodable {
    var frame: Int
    var timestamp: Int64
    var latitude: Double
    var longitude: Double

    init(from decoder: any Decoder) throws {
      var cells = try decoder.unkeyedContainer()
      frame = try cells.decode(Int.self)
      timestamp = try cells.decode(Int64.self)
      latitude = try cells.decode(Double.self)
      longitude = try cells.decode(Double.self)
    }
  }

  var generation: String
  var captureId: String
  var streams: Streams
  var depthSha256: [String?]
  var confidenceSha256: [String?]
  var colorFrames: Int
  var timestampsNs: Times
  var poses: [[Double]]
  var intrinsics: [[Double?]]
  var cameraSettings: [[Double?]]
  var geo: [Geo]
  var imu: IMU
  var warnings: [Warning]
  var mustFail: [String]
  var frames: Int
}

enum MultiScanSupport {
  static let cases = Fixtures.cases(of: "multiscan")

  struct NotRecognized: Error {}

  /// Opens the one capture of a folder.
  static func open(_ folder: FilePath) throws -> Capture {
    let found = MultiScanReader.recognize(try FolderListing(of: folder))
    guard let first = found.first else { throw NotRecognized() }
    return try MultiScanReader.open(first)
  }

  /// Decodes all records of a stream: one digest per canonical frame, and the issues by code.
  static func decode<Pixel: FixedWidthInteger>(
    _ stream: PictureStream<Pixel>, frames: Int
  ) throws -> (digests: [String?], issues: [WarningCode: Int]) {
    var digests = [String?](repeating: nil, count: frames)
    var issues: [WarningCode: Int] = [:]
    guard case .ordered(let source) = stream.access else { return (digests, issues) }
    let reader = try source.makeReader()
    var pixels: [Pixel] = []
    var record = 0
    while let outcome = try reader.next(into: &pixels) {
      if let issue = outcome.issue { issues[issue.code, default: 0] += 1 }
      let frame = stream.firstFrame + record
      if outcome.hasPicture, digests.indices.contains(frame) {
        digests[frame] = Digest(of: pixels.flatMap(\.littleEndianBytes)).hex
      }
      record += 1
    }
    #expect(record == source.recordCount)
    return (digests, issues)
  }

  /// Warnings of opening and of decoding all depth and confidence, counts by code.
  static func warningCounts(_ capture: Capture) throws -> [WarningCode: Int] {
    var counts: [WarningCode: Int] = [:]
    for warning in capture.warnings { counts[warning.code, default: 0] += warning.count }
    if let depth = capture.depth.value {
      counts.merge(try decode(depth, frames: 0).issues, uniquingKeysWith: +)
    }
    if let confidence = capture.confidence.value {
      counts.merge(try decode(confidence, frames: 0).issues, uniquingKeysWith: +)
    }
    return counts
  }

  /// Counts by code, from pairs that may repeat a code.
  static func counts(_ warnings: [MultiScanExpectation.Warning]) -> [WarningCode: Int] {
    var counts: [WarningCode: Int] = [:]
    for warning in warnings {
      if let code = WarningCode(rawValue: warning.code) {
        counts[code, default: 0] += warning.count
      }
    }
    return counts
  }
}

extension FixedWidthInteger {
  fileprivate var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }
}

/// A folder of its own for one test, removed at the end.
final class MultiScanFolder {
  private let place: TemporaryFolder
  var path: FilePath { place.path }

  init() throws {
    place = try TemporaryFolder()
  }

  /// A copy of a fixture, whose files may then be changed.
  convenience init(copying fixture: FixtureCase) throws {
    try self.init(copying: fixture.capture)
  }

  /// A copy of the files of a folder.
  convenience init(copying folder: FilePath) throws {
    try self.init()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.string) {
      try write(name, try Data(contentsOf: URL(filePath: folder.appending(name).string)))
    }
  }

  func write(_ name: String, _ bytes: some Sequence<UInt8>) throws {
    try Data(bytes).write(to: URL(filePath: path.appending(name).string))
  }

  func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

  func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path.appending(name).string)))
  }

  func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: path.appending(name).string)
  }

  /// Files whose names end so.
  func names(ending: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path.string).filter { $0.hasSuffix(ending) }
      .sorted()
  }

  func open() throws -> Capture { try MultiScanSupport.open(path) }
}
