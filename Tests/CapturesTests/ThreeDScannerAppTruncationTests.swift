@testable import Captures
import SystemPackage
import TestSupport
import Testing

/// A small file cut at every byte: opening and decoding come to an end, and nothing that is told is wrong.
@Suite("3D Scanner App: files that are cut", .enabled(if: Fixtures.arePresent))
struct ThreeDScannerAppTruncationTests {
  @Test("A cut frame file gives no row, whatever it still holds")
  func frame() throws {
    let scratch = try ThreeDScannerAppScratch(copyOf: "lidar")
    // A few frames are enough.
    for frame in 5..<10 {
      for kind in ["frame_#.json", "depth_#.png", "conf_#.png"] {
        try scratch.remove(kind.replacing("#", with: "0000\(frame)"))
      }
    }
    for frame in [6, 9] { try scratch.remove("frame_0000\(frame).jpg") }
    try scratch.remove("info.json")
    let whole = try scratch.open().poses.value?.rows.filter { $0.frame != 3 }
    let bytes = try scratch.bytes(of: "frame_00003.json")
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: "frame_00003.json")
      let capture = try ThreeDScannerAppReader.open(scratch.recognition(as: .threeDScannerApp))
      #expect(capture.poses.value?.rows == whole, "\(length)")
      #expect(capture.frames[3] == CaptureFrame(), "\(length)")
      let codes = Set(capture.warnings.map(\.code))
      #expect(
        codes == [.timestampsMissing, length == 0 ? .emptyRecord : .corruptRecord], "\(length)")
    }
  }

  @Test("A cut depth picture is a hole")
  func depth() throws {
    let scratch = try ThreeDScannerAppScratch(copyOf: "lidar")
    let bytes = try scratch.bytes(of: "depth_00003.png")
    let depth = try #require(try scratch.open().depth.value)
    guard case .indexed(let source) = depth.access else {
      Issue.record("other access than expected")
      return
    }
    var pixels: [UInt16] = []
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: "depth_00003.png")
      let outcome = try source.decode(record: 3, into: &pixels)
      #expect(!outcome.hasPicture)
      #expect(outcome.issue?.code == (length == 0 ? .emptyRecord : .corruptRecord), "\(length)")
    }
  }

  @Test("A cut color picture is a hole, and is not copied either")
  func color() throws {
    let scratch = try ThreeDScannerAppScratch(copyOf: "lidar")
    let bytes = try scratch.bytes(of: "frame_00003.jpg")
    let color = try #require(try scratch.open().color.value)
    guard case .pictures(let pictures) = color.source else {
      Issue.record("other access than expected")
      return
    }
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: "frame_00003.jpg")
      let outcome = try pictures.decode(1)
      #expect(outcome.picture == nil, "\(length)")
      #expect(outcome.issue?.code == (length == 0 ? .emptyRecord : .corruptRecord), "\(length)")
      #expect(try pictures.stored(1).bytes == nil, "\(length)")
    }
  }
}
