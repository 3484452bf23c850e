@testable import Captures
@testable import Core

/// `expected.json` of a fixture of this family.
struct ScanNetExpected: Decodable {
  struct Streams: Decodable {
    var color: Stream
    var depth: Stream
    var imu: Stream
    var cameraSettings: Stream
  }
  struct Stream: Decodable {
    var file: String
    var encoding: String
    var width: Int?
    var height: Int?
    var frames: Int?
    var declaredFrames: Int?
    var firstTimestampNs: Int64?
    var lastTimestampNs: Int64?
    var samples: [String: Int]?
  }
  struct Times: Decodable {
    var frame: [Int64?]
    var depth: [Int64?]
    var color: [Int64?]
  }
  struct Camera: Decodable {
    var fx: Double
    var fy: Double
    var cx: Double
    var cy: Double
  }
  struct Cameras: Decodable {
    var color: Camera
    var depth: Camera
  }
  struct Alignment: Decodable {
    var registered: Bool
    var colorFromDepth: [Double]
  }
  struct Settings: Decodable {
    var rows: [[Double]]
  }
  struct Samples: Decodable {
    var firstRows: [String]
    var lastRows: [String]
    var frameImuRows: Int
  }
  struct Warning: Decodable {
    var code: String
    var count: Int
  }

  var family: String
  var generation: String
  var id: String
  var streams: Streams
  var frames: Int
  var depthSha256: [String?]
  var timestampsNs: Times
  var intrinsics: Cameras
  var alignment: Alignment
  var cameraSettings: Settings
  var imu: Samples
  var metadata: [String: String]
  var warnings: [Warning]
}

extension Capture {
  /// What decoding all depth records gives: a digest of the millimeters for each canonical frame, and
  /// the warnings of opening and decoding, summed by code.
  func decodedScanNetDepth() throws -> (digests: [String?], codes: [WarningCode: Int]) {
    var digests = [String?](repeating: nil, count: frames.count)
    var codes: [WarningCode: Int] = [:]
    for warning in warnings { codes[warning.code, default: 0] += warning.count }
    guard let stream = depth.value, case .indexed(let source) = stream.access else {
      return (digests, codes)
    }
    var pixels: [UInt16] = []
    for record in 0..<source.recordCount {
      let outcome = try source.decode(record: record, into: &pixels)
      if let issue = outcome.issue { codes[issue.code, default: 0] += 1 }
      if outcome.hasPicture {
        let bytes = pixels.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        digests[stream.firstFrame + record] = Digest(of: bytes).hex
      }
    }
    return (digests, codes)
  }
}
