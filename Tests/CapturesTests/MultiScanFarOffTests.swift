@testable import Captures
@testable import Media
@testable import Core
import Testing

@Suite("MultiScan: wrong times, sizes, checksums and encodings")
struct MultiScanFarOffTests {
  typealias Samples = MultiScanSamples
  private static let depthName = "\(Samples.stem).depth.zlib"

  /// A motion file with the time of record 3 replaced.
  private func motion(_ kind: String, _ time: Int64) -> [UInt8] {
    var bytes = Samples.motion(kind, records: 0..<10)
    let start = bytes.count - 10 * 32 + 3 * 32
    for (index, shift) in stride(from: 0, to: 64, by: 8).enumerated() {
      bytes[start + index] = UInt8(truncatingIfNeeded: time >> Int64(shift))
    }
    return bytes
  }

  @Test(
    "One absurd time in a motion file is one record less and moves nothing",
    arguments: [
      0, 1, -1, Int64.min, .max, 1_770_000_000_000_000_000,
    ])
  func motion(time: Int64) throws {
    let healthy = try Samples.motionOnly(records: 0..<10).open()
    let folder = try Samples.motionOnly(records: 0..<10)
    try folder.write("\(Samples.stem).rot", motion("rot", time))
    let capture = try folder.open()
    let isFar = abs(Double(time) - 5e9) > 3.6e12
    #expect(capture.total(.corruptRecord, "imu") == (isFar ? 1 : 0))
    #expect(capture.imu.value?.samples.count == 50 - (isFar ? 1 : 0))
    #expect(capture.totals(except: [.corruptRecord]) == healthy.totals())
    if isFar {
      #expect(
        capture.imu.value?.description.firstTimestamp
          == healthy.imu.value?.description.firstTimestamp)
      #expect(
        capture.imu.value?.description.lastTimestamp
          == healthy.imu.value?.description.lastTimestamp)
    }
  }

  @Test(
    "A line of another time keeps its place, without time and pose",
    arguments: [
      Int64.min, 0, 9_000_000_000_000, .max,
    ])
  func line(time: Int64) throws {
    let folder = try Samples.lidar(frames: 8)
    let lines = (0..<8).map { k in
      // An hour of uptime, so that 0 is far off too.
      Samples.line(
        k, nanoseconds: k == 3 ? time : 4_000_000_000_000 + Int64(k) * Samples.nanosecondsPerFrame)
    }
    try folder.write("\(Samples.stem).jsonl", lines.joined(separator: "\n") + "\n")
    let capture = try folder.open()
    #expect(capture.frames.map { $0.timestamp != nil } == (0..<8).map { $0 != 3 })
    #expect(capture.poses.value?.rows.map(\.frame) == [0, 1, 2, 4, 5, 6, 7])
    #expect(capture.totals() == [.corruptRecord: 1])
  }

  @Test("A LiDAR of another size that the data has is believed")
  func otherResolution() throws {
    // Sixteen frames of 128×96 hold as many bytes as four of 256×192.
    let folder = try Samples.lidar(frames: 16)
    try folder.write(
      "\(Samples.stem).json",
      Samples.metadata(Samples.lidarStreams(frames: 16, resolution: "[96,128]")))
    try folder.write(Self.depthName, Samples.deflated(Samples.depthFrames(0..<4)))
    try folder.write(
      "\(Samples.stem).confidence.zlib", Samples.deflated(Samples.confidenceFrames(4)))
    let capture = try folder.open()
    #expect(capture.depth.value?.width == 128)
    #expect(capture.totals().isEmpty)
  }

  @Test(
    "A wrong checksum behind whole frames is no truncation",
    arguments: [
      DeflateFormat.zlib, .gzip,
    ])
  func checksum(format: DeflateFormat) throws {
    let folder = try Samples.lidar(frames: 3)
    var bytes = try Samples.deflated(Samples.depthFrames(0..<3), format)
    // The last byte of Adler-32; of gzip one of CRC-32, before the length.
    bytes[bytes.count - (format == .gzip ? 5 : 1)] ^= 0xFF
    try folder.write(Self.depthName, bytes)
    var capture = try folder.open()
    #expect(capture.totals() == [.corruptRecord: 1])
    #expect(capture.depth.value?.description.frames == 3)
    // What follows is read all the same.
    try folder.write(Self.depthName, bytes + Samples.deflated(Samples.depthFrames(3..<5)))
    capture = try folder.open()
    #expect(capture.total(.corruptRecord, "depth") == 1)
    #expect(capture.total(.multipleStreams, "depth") == 1)
    #expect(capture.depth.value?.description.frames == 5)
    #expect(capture.total(.truncatedStream) == 0)
    // A length that is wrong is found as well; a trailer that is cut is a cut.
    try folder.write(Self.depthName, Array(bytes.dropLast(2)))
    capture = try folder.open()
    #expect(capture.total(.truncatedStream, "depth") + capture.total(.corruptRecord, "depth") == 1)
  }
}
