@testable import Captures
@testable import Core
@testable import Media
import TestSupport
import Testing

@Suite("MultiScan depth and confidence streams")
struct MultiScanStreamTests {
  typealias Samples = MultiScanSamples
  static let depthName = "\(Samples.stem).depth.zlib"

  private func depthDigests(_ capture: Capture, frames: Int) throws -> [String?] {
    try #require(capture.depth.value).digests(frames: frames)
  }

  /// What a healthy recording of `frames` decodes to.
  private func healthy(_ frames: Int) throws -> [String?] {
    try depthDigests(Samples.lidar(frames: frames).open(), frames: frames)
  }

  @Test(
    "A wrapper changes the encoding and nothing else",
    arguments: zip(
      [DeflateFormat.raw, .zlib, .gzip],
      ["deflate-stream-f16", "zlib-stream-f16", "gzip-stream-f16"]))
  func wrapper(format: DeflateFormat, encoding: String) throws {
    let folder = try Samples.lidar(frames: 3)
    try folder.write(Self.depthName, Samples.deflated(Samples.depthFrames(0..<3), format))
    let capture = try folder.open()
    #expect(capture.depth.value?.description.encoding == encoding)
    #expect(try depthDigests(capture, frames: 3) == healthy(3))
    #expect(capture.totals().isEmpty)
  }

  @Test(
    "Streams back to back are one recording, wherever they are split",
    arguments: [[98_304], [1], [98_303, 98_305], [196_608], [50_000, 50_000, 100_000, 200_000]])
  func concatenated(cuts: [Int]) throws {
    let folder = try Samples.lidar(frames: 3)
    let all = Samples.depthFrames(0..<3)
    let bounds = ([0] + cuts + [all.count]).sorted()
    let formats: [DeflateFormat] = [.raw, .gzip, .zlib, .raw, .raw]
    let pieces = try zip(zip(bounds, bounds.dropFirst()), formats).flatMap { bounds, format in
      try Samples.deflated(Array(all[bounds.0..<bounds.1]), format)
    }
    try folder.write(Self.depthName, pieces)
    let capture = try folder.open()
    #expect(capture.total(.multipleStreams, "depth") == cuts.count)
    #expect(capture.totals(except: [.multipleStreams]).isEmpty)
    #expect(try depthDigests(capture, frames: 3) == healthy(3))
  }

  @Test("A raw stream that begins like a zlib header is read as raw")
  func rawBeginningWith78() throws {
    let folder = try Samples.lidar(frames: 1)
    let frame = Samples.depthFrame(0)
    // Stored blocks; the five bits behind a block's head are padding and may be anything: 0x78.
    var bytes: [UInt8] = []
    for (index, start) in stride(from: 0, to: frame.count, by: 32_768).enumerated() {
      let isLast = start + 32_768 >= frame.count
      bytes += [(index == 0 ? 0x78 : 0) | (isLast ? 1 : 0), 0x00, 0x80, 0xff, 0x7f]
      bytes += frame[start..<start + 32_768]
    }
    try folder.write(Self.depthName, bytes)
    let capture = try folder.open()
    #expect(capture.depth.value?.description.encoding == "deflate-stream-f16")
    #expect(try depthDigests(capture, frames: 1) == healthy(1))
    #expect(capture.totals().isEmpty)
  }

  @Test(
    "A rest that is no whole frame is trailing data, inside the stream or behind it",
    arguments: [true, false])
  func trailing(inside: Bool) throws {
    let folder = try Samples.lidar(frames: 2)
    let rest = [UInt8](repeating: 0, count: 1000)
    let frames = Samples.depthFrames(0..<2)
    try folder.write(
      Self.depthName,
      inside ? Samples.deflated(frames + rest) : Samples.deflated(frames) + rest)
    let capture = try folder.open()
    #expect(capture.totals() == [.trailingData: 1])
    #expect(capture.total(.trailingData, "depth") == 1)
    #expect(try depthDigests(capture, frames: 2) == healthy(2))
  }

  @Test(
    "Random bytes behind the end mark never become a frame",
    arguments: 0..<UInt64(Rounds.of(10, soak: 40)))
  func strayBytes(seed: UInt64) throws {
    let folder = try Samples.lidar(frames: 1)
    var random = SeededGenerator(seed: seed)
    let stray = (0..<300).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    try folder.write(Self.depthName, try Samples.deflated(Samples.depthFrame(0)) + stray)
    let capture = try folder.open()
    #expect(capture.depth.value?.description.frames == 1)
    #expect(capture.total(.trailingData) + capture.total(.truncatedStream) == 1)
  }

  @Test("A stream cut anywhere keeps the whole frames before the cut")
  func cut() throws {
    let folder = try Samples.lidar(frames: 3)
    let whole = try folder.bytes(of: Self.depthName)
    let digests = try healthy(3)
    for end in stride(from: 0, to: whole.count, by: max(1, whole.count / Rounds.of(31, soak: 97))) {
      try folder.write(Self.depthName, whole[..<end])
      let capture = try folder.open()
      let frames = try #require(capture.depth.value?.description.frames)
      #expect(frames < 3 || end > whole.count - 300)
      #expect(capture.total(.truncatedStream, "depth") == 1)
      #expect(capture.total(.frameCountMismatch, "depth") == 3 - frames)
      #expect(capture.totals(except: [.truncatedStream, .frameCountMismatch]).isEmpty)
      let found = try depthDigests(capture, frames: 3)
      #expect(Array(found[..<frames]) == Array(digests[..<frames]))
      #expect(found[frames...].allSatisfy { $0 == nil })
    }
  }

  @Test(
    "A stream that is nothing has no frames",
    arguments: [[], [0x00], [0xff, 0xff, 0xff, 0xff], Array("not deflate at all".utf8)])
  func nothing(bytes: [UInt8]) throws {
    let folder = try Samples.lidar(frames: 1)
    try folder.write(Self.depthName, bytes)
    let capture = try folder.open()
    #expect(capture.depth.value?.access.recordCount == 0)
    #expect(capture.total(.truncatedStream, "depth") == 1)
  }

  @Test("An empty stream that ended is whole and has no frames")
  func endedEmpty() throws {
    let folder = try Samples.lidar(frames: 1)
    try folder.write(Self.depthName, [0x03, 0x00])
    let capture = try folder.open()
    #expect(capture.depth.value?.access.recordCount == 0)
    #expect(capture.totals() == [.frameCountMismatch: 1])
  }

  @Test("Halves become millimeters in double precision; what is no depth becomes 0")
  func halves() throws {
    let patterns: [(Float16, UInt16)] = [
      (1.0625, 1063), (0, 0), (-0.0, 0), (0.00048828125, 0), (0.0005, 1), (65.5, 65_500),
      (65.5625, 0), (65.4375, 65_438), (-1, 0), (.nan, 0), (.infinity, 0), (-.infinity, 0),
      (0.1, 100), (2.5, 2500),
    ]
    var frame = [UInt8](repeating: 0, count: 98_304)
    for (pixel, pattern) in patterns.enumerated() {
      frame[pixel * 2] = UInt8(pattern.0.bitPattern & 255)
      frame[pixel * 2 + 1] = UInt8(pattern.0.bitPattern >> 8)
    }
    let folder = try Samples.lidar(frames: 2)
    try folder.write(Self.depthName, Samples.deflated(frame + Samples.depthFrame(1)))
    let depth = try #require(try folder.open().depth.value)
    let reader = try depth.ordered.makeReader()
    var pixels: [UInt16] = []
    let first = try #require(try reader.next(into: &pixels))
    #expect(Array(pixels[..<patterns.count]) == patterns.map(\.1))
    #expect(first.issue?.code == .nonFiniteValue)
    #expect(first.hasPicture)
    #expect(try reader.next(into: &pixels)?.issue == nil)
    #expect(try reader.next(into: &pixels) == nil)
  }

  @Test("Readers of one source do not disturb each other")
  func independentReaders() throws {
    let depth = try #require(try Samples.lidar(frames: 3).open().depth.value)
    let (one, other) = (try depth.ordered.makeReader(), try depth.ordered.makeReader())
    var (a, b): ([UInt16], [UInt16]) = ([], [])
    _ = try one.next(into: &a)
    _ = try one.next(into: &a)
    _ = try other.next(into: &b)
    _ = try other.next(into: &b)
    #expect(a == b)
  }

  @Test(
    "A resolution that is no size gives 256x192 and says so; an empty one is silent",
    arguments: [
      ("[192,256]", 0), ("[]", 0), ("[192]", 1), ("[0,256]", 1), ("[192,256,1]", 1),
      ("[-192,256]", 1), ("[192.5,256]", 1), ("[16385,256]", 1), (#"["192","256"]"#, 1),
      (#""192x256""#, 1), ("null", 1), ("[1e30,256]", 1), ("{}", 1), ("[256,192]", 1),
      ("[480,640]", 1), ("[1,1]", 1), ("[96,128]", 1),
    ])
  func lidarResolution(text: String, mismatches: Int) throws {
    let folder = try Samples.lidar(frames: 3)
    try folder.write(
      "\(Samples.stem).json",
      Samples.metadata(Samples.lidarStreams(frames: 3, resolution: text)))
    let capture = try folder.open()
    #expect(capture.depth.value?.width == 256)
    #expect(capture.depth.value?.height == 192)
    #expect(capture.depth.value?.description.frames == 3)
    #expect(capture.confidence.value?.description.frames == 3)
    #expect(capture.total(.sizeMismatch, "depth") == mismatches)
    #expect(capture.totals(except: [.sizeMismatch]).isEmpty)
  }

  @Test(
    "Modes without a usual size cannot be read without a resolution",
    arguments: ["dual_camera_stereo_depth", "ARCore"], ["[]", "[0,1]", "null"])
  func otherResolution(type: String, text: String) throws {
    let folder = try Samples.lidar(frames: 1)
    try folder.write(
      "\(Samples.stem).json",
      Samples.metadata([
        Samples.stream(type, "depth.zlib", frames: 1, #""resolution":\#(text)"#)
      ]))
    let capture = try folder.open()
    #expect(capture.depth.error?.correction != nil)
    #expect(capture.confidence.error != nil)
    #expect(capture.total(.frameCountMismatch, "depth") == 0)
  }

  @Test("A size that no frame of the file can have allocates nothing and has no frames")
  func hugeClaim() throws {
    let folder = try Samples.lidar(frames: 1)
    try folder.write(
      "\(Samples.stem).json",
      Samples.metadata([
        Samples.stream(
          "dual_camera_stereo_depth", "depth.zlib", frames: 1, #""resolution":[16384,16384]"#)
      ]))
    let capture = try folder.open()
    #expect(capture.depth.value?.access.recordCount == 0)
    #expect(capture.total(.trailingData, "depth") == 1)
  }

  @Test("Half or integer follows the depth unit, never the encoding")
  func unit() throws {
    let folder = try Samples.lidar(frames: 1)
    try folder.write(
      "\(Samples.stem).json",
      Samples.metadata(
        [
          Samples.stream(
            "ARCore", "depth.zlib", frames: 1,
            #""resolution":[192,256],"encoding":"float16_zlib""#)
        ], unit: "mm"))
    let frame = (0..<98_304).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try folder.write(Self.depthName, Samples.deflated(frame))
    let capture = try folder.open()
    #expect(capture.generation == "android-arcore")
    let depth = try #require(capture.depth.value)
    #expect(depth.description.encoding == "deflate-stream-u16")
    var pixels: [UInt16] = []
    _ = try depth.ordered.makeReader().next(into: &pixels)
    #expect(pixels[5000] == UInt16(frame[10_000]) | UInt16(frame[10_001]) << 8)
    #expect(pixels.count == 49_152)
  }
}

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
    let reader = try depth.ordered.makeReader()
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
