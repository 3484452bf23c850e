@testable import Captures
@testable import Core
import FoundationEssentials
@testable import Media
import SystemPackage
import TestSupport
import Testing

/// A small capture to be written with one thing or another wrong in it: 32×24 depth pixels, 30 frames
/// a second from second 1000 on, IMU from half a second before to half a second after.
struct ScanNetScratch: Sendable {
  var stem = "2017-03-14_05-26-54__device"
  var width = 32
  var height = 24
  var depthTimes: [Double]
  var colorTimes: [Double]
  /// One for each frame.
  var payloads: [[UInt8]]
  /// Bytes behind the time blocks; negative cuts the file.
  var depthTail = 0
  var pictures: Int
  var imuTimes: [Double]
  var cameraRecords: Int
  var cameraTag = "v1"
  var cameraTail: [UInt8] = []
  var imuHead: [UInt8] = []
  var imuTail: [UInt8] = []
  /// Metadata keys to set or (with `nil`) to leave out.
  var keys: [String: String?] = [:]
  /// Endings of files that are not there.
  var absent: Set<String> = []
  /// Bytes to write over others of a file, by ending and offset.
  var patches: [String: [Int: [UInt8]]] = [:]

  init(frames: Int = 8) {
    payloads = (0..<frames).map { Self.payload(frame: $0) }
    depthTimes = (0..<frames).map { 1000.000123456 + Double($0) / 30 }
    colorTimes = depthTimes.map { $0 + 0.004 }
    pictures = frames
    cameraRecords = frames
    imuTimes = (0..<(60 + frames * 2)).map { 999.5 + Double($0) / 60 }
  }

  /// The shifts of a frame: a slope with holes and flat parts.
  static func shifts(frame: Int, pixels: Int = 768) -> [UInt16] {
    (0..<pixels).map { index in
      if index % 97 < 9 { return 2047 }
      return UInt16(600 + frame + (index / 40) * 3 + (index * 7 + frame) % 3)
    }
  }

  static func payload(frame: Int, pixels: Int = 768) -> [UInt8] {
    StructureShift.encode(shifts(frame: frame, pixels: pixels))
  }

  /// Where record `index` starts in `.depth`.
  func recordOffset(_ index: Int) -> Int { payloads[..<index].reduce(0) { $0 + 4 + $1.count } }

  func metadataText() -> String {
    var values: [String: String] = [
      "colorWidth": "324", "colorHeight": "242", "depthWidth": "\(width)",
      "depthHeight": "\(height)", "fx_color": "290.5", "fy_color": "291.5", "mx_color": "161.75",
      "my_color": "120.75", "fx_depth": "28.5", "fy_depth": "28.5", "mx_depth": "15.5",
      "my_depth": "11.5", "scanSavedAt": "20170314T092711+0100",
      "colorToDepthExtrinsics": "1 0 0 -0.04 0 1 0 0.01 0 0 1 -0.02 0 0 0 1",
      "numDepthFrames": "\(payloads.count)", "numColorFrames": "\(payloads.count)",
      "numIMUmeasurements": "\(imuTimes.count)",
    ]
    for (key, value) in keys { values[key] = value }
    return values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)\r\n" }.joined()
  }

  func depthBytes() -> [UInt8] {
    var bytes: [UInt8] = []
    for payload in payloads { bytes += Self.bytes(UInt32(payload.count)) + payload }
    for time in depthTimes + colorTimes { bytes += Self.bytes(time.bitPattern) }
    return depthTail < 0
      ? Array(bytes.dropLast(-depthTail)) : bytes + Array(repeating: 0xA5, count: depthTail)
  }

  func imuBytes() -> [UInt8] {
    var bytes = imuHead
    for (index, time) in imuTimes.enumerated() {
      bytes += Self.bytes(time.bitPattern)
      for column in 1..<16 {
        // Turning signs: nothing here looks like a time.
        let value = Double(column) + Double(index) / 1000
        bytes += Self.bytes((index % 2 == 0 ? value : -value).bitPattern)
      }
    }
    return bytes + imuTail
  }

  func cameraBytes() -> [UInt8] {
    var bytes = Array(cameraTag.utf8)
    for record in 0..<cameraRecords {
      for value in [1.5, 1, 2, 0.0166, 200 + Float(record)] as [Float] {
        bytes += Self.bytes(value.bitPattern)
      }
    }
    return bytes + cameraTail
  }

  /// The first pictures of a stream of five, over again where it has too few.
  func colorBytes() throws -> [UInt8] {
    let file = try MadeCapture(family: "scannet", frames: 5, width: 324, height: 242).folder()
      .appending("made.h264")
    let stream = [UInt8](try file.data())
    var starts: [Int] = []
    for index in 0..<(stream.count - 4)
    where stream[index..<(index + 3)].elementsEqual([0, 0, 1]) {
      if [1, 5].contains(stream[index + 3] & 31), stream[index + 4] >= 128 { starts.append(index) }
    }
    #expect(starts.count == 5)
    let (whole, rest) = pictures.quotientAndRemainder(dividingBy: starts.count)
    return Array(repeatElement(stream, count: whole).joined())
      + (rest > 0 ? stream[..<starts[rest]] : [])
  }

  static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  func write(to folder: FilePath) throws {
    let files: [(String, [UInt8])] = [
      ("txt", Array(metadataText().utf8)), ("depth", depthBytes()), ("h264", try colorBytes()),
      ("imu", imuBytes()), ("camera", cameraBytes()),
    ]
    for (ending, bytes) in files where !absent.contains(ending) {
      var bytes = bytes
      for (offset, patch) in patches[ending] ?? [:] {
        bytes.replaceSubrange(offset..<(offset + patch.count), with: patch)
      }
      try Data(bytes).write(to: URL(filePath: folder.appending("\(stem).\(ending)").string))
    }
  }

  /// Writes the capture and other files, opens it and takes the files away again after `body`.
  func opened<Result>(
    with others: [String: [UInt8]] = [:], _ body: (Capture) throws -> Result
  ) throws -> Result {
    let folder = try TemporaryFolder()
    try write(to: folder.path)
    for (name, bytes) in others { try folder.write(bytes, to: name) }
    return try body(try Self.open(folder.path))
  }

  static func open(_ folder: FilePath) throws -> Capture {
    try ScanNetReader.open(
      try #require(ScanNetReader.recognize(try FolderListing(of: folder)).first))
  }
}

/// `expected.json` of a fixture of this family, as far as its reader alone decides it.
struct ScanNetExpected: Decodable {
  struct Stream: Decodable {
    var file, encoding: String
    var width, height, frames, declaredFrames: Int?
    var firstTimestampNs, lastTimestampNs: Int64?
    var samples: [String: Int]?
  }
  struct Camera: Decodable {
    var fx, fy, cx, cy: Double
  }
  struct Alignment: Decodable {
    var registered: Bool
    var colorFromDepth: [Double]
  }
  struct Settings: Decodable {
    var rows: [[Double]]
  }

  var family, generation, id: String
  /// Streams that the capture does not have are `null`.
  var streams: [String: Stream?]
  var frames: Int
  var intrinsics: [String: Camera]
  var alignment: Alignment
  var cameraSettings: Settings
  var metadata: [String: String]
}
