@testable import Captures
import Testing

@Suite("MultiScan stereo depth")
struct MultiScanStereoTests {
  typealias Samples = MultiScanSamples

  private func stereo(_ bytes: [UInt8], width: Int, height: Int) throws -> MultiScanFolder {
    let folder = try Samples.motionOnly()
    try folder.write(
      "\(Samples.stem).json",
      Samples.metadata([
        Samples.stream(
          "dual_camera_stereo_depth", "depth.zlib", frames: 2,
          #""resolution":[\#(height),\#(width)]"#)
      ]))
    try folder.write("\(Samples.stem).depth.zlib", Samples.deflated(bytes))
    return folder
  }

  /// A frame as the compressor leaves it: real up to byte 262,144, then the second half of that again.
  private func defective(_ k: Int, pixels: Int) -> [UInt8] {
    var frame = Array(Samples.depthFrame(k, pixels: pixels)[..<262_144])
    while frame.count < pixels * 2 { frame.append(frame[frame.count - 131_072]) }
    return frame
  }

  @Test("The repeated part of a frame is cleared, the frame is kept and counted")
  func defect() throws {
    let pixels = 640 * 480
    let whole = Samples.depthFrame(1, pixels: pixels)
    let capture = try stereo(defective(0, pixels: pixels) + whole, width: 640, height: 480).open()
    #expect(capture.generation == "ios-stereo")
    #expect(capture.total(.corruptRecord, "depth") == 1)
    let depth = try #require(capture.depth.value)
    guard case .ordered(let source) = depth.access else {
      Issue.record("other access than expected")
      return
    }
    let reader = try source.makeReader()
    var frame: [UInt16] = []
    #expect(try reader.next(into: &frame)?.hasPicture == true)
    #expect(frame[..<131_072].allSatisfy { $0 > 0 })
    #expect(frame[131_072...].allSatisfy { $0 == 0 })
    #expect(try reader.next(into: &frame)?.hasPicture == true)
    #expect(frame.allSatisfy { $0 > 0 })
  }

  @Test("Frames of up to 256 KiB cannot have the defect", arguments: [(512, 256), (128, 512)])
  func small(width: Int, height: Int) throws {
    let frame = [UInt8](repeating: 0x3c, count: width * height * 2)
    let capture = try stereo(frame + frame, width: width, height: height).open()
    #expect(capture.total(.corruptRecord) == 0)
    #expect(capture.depth.value?.description.frames == 2)
  }

  @Test("A frame longer by a few pixels is checked too")
  func barely() throws {
    let pixels = 131_072 + 256
    let bytes = defective(0, pixels: pixels) + defective(1, pixels: pixels)
    let capture = try stereo(bytes, width: 256, height: pixels / 256).open()
    #expect(capture.total(.corruptRecord, "depth") == 2)
  }

  @Test("Other modes never clear anything")
  func otherMode() throws {
    let folder = try stereo(defective(0, pixels: 640 * 480), width: 640, height: 480)
    try folder.write(
      "\(Samples.stem).json",
      Samples.metadata(Samples.lidarStreams(frames: 1, resolution: "[480,640]")))
    let capture = try folder.open()
    #expect(capture.total(.corruptRecord) == 0)
    #expect(capture.depth.value?.access.recordCount == 1)
  }
}
