@testable import Captures
@testable import Core
import FoundationEssentials
@testable import Media
import SystemPackage
import TestSupport
import Testing

@Suite("Layouts of ARKit-Scanner depth files")
struct ARKitScannerDepthTests {
  private typealias Depth = ARKitScannerDepth

  /// Opens a folder that holds nothing but `depth.bin` (and metadata).
  private func open(_ bytes: [UInt8], name: String = "depth.bin", metadata: String? = nil) throws
    -> (capture: Capture, digests: [String?], counts: [String: Int])
  {
    let folder = try ARKitScannerFolder()
    try folder.write(bytes, to: name)
    if let metadata { try folder.write(metadata, to: "metadata.json") }
    let capture = try folder.open()
    let depth = try #require(capture.depth.value, "\(String(describing: capture.depth.error))")
    let counts = try capture.allWarnings().filter { $0.subject == "depth" }.countsByCode
    return (capture, try depth.digests(), counts)
  }

  private func digests(_ pictures: [Int]) -> [String?] {
    pictures.map { Digest(ofPixels: Depth.picture($0)).hex }
  }

  @Test("Framed records are LZ4 or DEFLATE, each by its own bytes")
  func framed() throws {
    let records = [
      Depth.framed(Depth.lz4(Depth.picture(0))),
      Depth.framed(try Depth.deflate(Depth.picture(1))),
      Depth.framed([]),
      Depth.framed(Depth.lz4(Depth.picture(3))),
    ]
    let (capture, found, counts) = try open(Array(records.joined()))
    #expect(found == [0, 1, nil, 3].map { $0.map { digests([$0])[0] } ?? nil })
    #expect(counts == ["empty-record": 1, "mixed-encodings": 1])
    #expect(try StreamScan(capture, budget: CoreBudget(cores: 1)).encodings["depth"] == "mixed")
    #expect(capture.depth.value?.description.encoding == "lz4-u16")
    #expect(capture.depth.value?.description.frames == 4)
  }

  @Test("A DEFLATE record counts only if its stream ends at the record's end")
  func deflateWithTail() throws {
    let whole = try Depth.deflate(Depth.picture(0))
    let (_, found, counts) = try open(
      Depth.framed(whole) + Depth.framed(whole + [0]) + Depth.framed(whole))
    #expect(found.map { $0 != nil } == [true, false, true])
    #expect(counts == ["corrupt-record": 1])
  }

  @Test("Records that decode to too few bytes, or too many, are corrupt")
  func wrongLength() throws {
    let good = Depth.framed(Depth.lz4(Depth.picture(0)))
    let short = Depth.framed(Depth.lz4(Array(Depth.picture(1).dropLast())))
    let long = Depth.framed(Depth.lz4(Depth.picture(2) + [1]))
    let shortFloat = Depth.framed(try Depth.deflate(Array(Depth.picture(3).dropLast())))
    let noise = Depth.framed((0..<500).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ 7) })
    let (_, found, counts) = try open(good + short + long + shortFloat + noise + good)
    #expect(found.map { $0 != nil } == [true, false, false, false, false, true])
    #expect(counts == ["corrupt-record": 4])
  }

  @Test("Apple's other LZ4 framing is named", arguments: ["bv41", "bv4-"])
  func otherFraming(magic: String) throws {
    let good = Depth.framed(Depth.lz4(Depth.picture(0)))
    let (capture, _, counts) = try open(good + Depth.framed(Array(magic.utf8) + [1, 2, 3, 4]))
    #expect(counts == ["corrupt-record": 1])
    let source = try #require(capture.depth.value).indexed
    var pixels: [UInt16] = []
    let issue = try source.decode(record: 1, into: &pixels).issue
    #expect(issue?.message.contains("\"\(magic)\"") ?? false)
    #expect(issue?.message.contains("record 1, byte \(good.count)") ?? false)
  }

  @Test("A file that begins like a complete, empty DEFLATE stream is still framed")
  func trap() throws {
    // 03 00: last block, fixed codes, end of block. Empty stored blocks of 5 bytes in front of a
    // record's stream bring its length there.
    let stream = try Depth.deflate(Depth.picture(0))
    let blocks = try #require((0..<1024).first { (stream.count + 5 * $0) % 1024 == 3 })
    let payload =
      Array([[UInt8]](repeating: [0, 0, 0, 0xFF, 0xFF], count: blocks).joined()) + stream
    let (_, found, counts) = try open(Depth.framed(payload) + [7, 7, 7])
    #expect(found == digests([0]))
    #expect(counts == ["trailing-data": 1])
  }

  @Test("What breaks the chain ends the stream; the records before it stay")
  func brokenChain() throws {
    let record = Depth.framed(Depth.lz4(Depth.picture(0)))
    for (tail, code) in [
      ([0xFF, 0xFF, 0xFF, 0xFF], "truncated-stream"),
      ([0xFF, 0xFF, 0xFF, 0x7F, 1, 2, 3], "truncated-stream"),
      ([9, 0, 0, 0, 1, 2, 3], "truncated-stream"),
      ([1, 0, 0, 0], "truncated-stream"),
      ([1], "trailing-data"), ([1, 2], "trailing-data"), ([0, 0, 0], "trailing-data"),
    ] as [([UInt8], String)] {
      let (capture, found, counts) = try open(record + record + tail)
      #expect(found == digests([0, 0]))
      #expect(counts == [code: 1])
      #expect(
        capture.completeness.missing.contains("depth.bin is cut at its end.")
          == (code == "truncated-stream"))
    }
  }

  @Test("One stream of floats is read in order, whole frames only")
  func deflateStream() throws {
    let pictures = [0, 1, 2]
    let meters = pictures.flatMap { Depth.meters(Depth.picture($0)) }
    let whole = try DeflateEncoder.compress(meters, format: .raw, level: 1)
    let (capture, found, counts) = try open(whole, name: "depthBufferSequence")
    #expect(found == digests(pictures))
    #expect(counts.isEmpty)
    #expect(capture.generation == "g2a")
    #expect(capture.depth.value?.description.encoding == "deflate-stream-f32")

    let cut = try open(Array(whole.dropLast(whole.count / 6)), name: "depthBufferSequence")
    #expect(cut.digests == digests([0, 1]))
    #expect(cut.counts == ["truncated-stream": 1])
    let onlyEndLost = try open(Array(whole.dropLast()), name: "depthBufferSequence")
    #expect(onlyEndLost.counts["truncated-stream"] == 1)

    let partial = try DeflateEncoder.compress(Array(meters.dropLast(4)), format: .raw, level: 1)
    let rest = try open(partial, name: "depthBufferSequence")
    #expect(rest.digests == digests([0, 1]))
    #expect(rest.counts == ["trailing-data": 1])
    #expect(try open(whole + [1, 2], name: "depthBufferSequence").counts == ["trailing-data": 1])
  }

  @Test("Readers of one stream are independent")
  func independentReaders() throws {
    let meters = (0..<3).flatMap { Depth.meters(Depth.picture($0)) }
    let folder = try ARKitScannerFolder()
    try folder.write(
      try DeflateEncoder.compress(meters, format: .raw, level: 1), to: "depthBufferSequence")
    let source = try #require(try folder.open().depth.value).ordered
    let (first, second) = (try source.makeReader(), try source.makeReader())
    var pixels: [UInt16] = []
    _ = try first.next(into: &pixels)
    _ = try first.next(into: &pixels)
    #expect(pixels == Depth.picture(1))
    _ = try second.next(into: &pixels)
    #expect(pixels == Depth.picture(0))
    _ = try first.next(into: &pixels)
    #expect(pixels == Depth.picture(2))
    #expect(try first.next(into: &pixels) == nil)
    #expect(source.recordCount == 3)
  }

  @Test("What is neither framed nor DEFLATE but a frame long is not compressed")
  func raw() throws {
    let meters = [0, 1].flatMap { Depth.meters(Depth.picture($0)) }
    let (capture, found, counts) = try open(meters, name: "depthBufferSequence.bin")
    #expect(found == digests([0, 1]))
    #expect(counts.isEmpty)
    #expect(capture.generation == "g1")
    #expect(capture.depth.value?.description.encoding == "raw-f32")
    let cut = try open(Array(meters.dropLast(7)), name: "depthBufferSequence.bin")
    #expect(cut.digests == digests([0]))
    #expect(cut.counts == ["trailing-data": 1])
  }

  @Test("Less than a frame of anything else is unreadable, with file and offset")
  func unreadable() throws {
    let folder = try ARKitScannerFolder()
    try folder.write((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 | 0x81) }, to: "depth.bin")
    #expect(throws: CaptureError.self) { try folder.open() }
    try folder.write("{}", to: "trans.json")
    let error = try folder.open().depth.error
    #expect(error?.byteOffset == 0)
    #expect(error?.record == 0)
    #expect(error?.file.lastComponent?.string == "depth.bin")
  }

  @Test("A file of zeros is bounded, not a record for every four bytes")
  func zeros() throws {
    let (capture, _, _) = try open([UInt8](repeating: 0, count: 4 * ((1 << 20) + 1000)))
    #expect(capture.depth.value?.description.encoding == "raw-f32")
    let (small, found, counts) = try open([UInt8](repeating: 0, count: 40))
    #expect(small.frames.count == 10)
    #expect(found.allSatisfy { $0 == nil })
    #expect(counts == ["empty-record": 10])
  }

  @Test("Other sizes count only if metadata says so and the data agrees")
  func otherSizes() throws {
    let pixels = (0..<64 * 48).map { UInt16($0) }
    let small = Depth.framed(Depth.lz4(pixels))
    func metadata(_ width: String, _ height: String) -> String {
      #"{"depth_width":"\#(width)","depth_height":"\#(height)"}"#
    }
    let stated = try open(small, metadata: metadata("64", "48"))
    #expect(stated.digests == [Digest(ofPixels: pixels).hex])
    #expect(stated.counts.isEmpty)
    #expect(stated.capture.depth.value?.width == 64)
    let big = Depth.framed(Depth.lz4(Depth.picture(0)))
    for (width, height) in [
      ("64", "48"), ("0", "192"), ("-256", "192"), ("256.5", "192"), ("20000", "192"), ("", ""),
      ("nan", "192"), ("16384", "16384"), ("192", "256"), ("512", "96"),
    ] {
      let wrong = try open(big, metadata: metadata(width, height))
      #expect(wrong.digests == digests([0]), "\(width)x\(height)")
      #expect(wrong.counts == ["size-mismatch": 1], "\(width)x\(height)")
      #expect(wrong.capture.depth.value?.width == 256)
    }
    #expect(try open(big, metadata: metadata("256.0", "192")).counts.isEmpty)
    #expect(try open(big, metadata: #"{"Depth Resolution":"256.0*192.0"}"#).counts.isEmpty)
    #expect(
      try open(big, metadata: #"{"Depth Resolution":"256.0x192.0"}"#).counts == ["size-mismatch": 1]
    )
    // One stream and uncompressed: the bytes are no whole number of frames of the stated size.
    let meters = Depth.meters(Depth.picture(0))
    let stream = try DeflateEncoder.compress(meters, format: .raw, level: 1)
    for bytes in [stream, meters] {
      let wrong = try open(bytes, metadata: metadata("250", "190"))
      #expect(wrong.digests == digests([0]))
      #expect(wrong.counts == ["size-mismatch": 1])
    }
  }

  @Test("36,000 records are opened by their chain alone")
  func tenMinutes() throws {
    let record = Depth.framed(Depth.lz4([UInt16](repeating: 1234, count: 256 * 192)))
    #expect(record.count < 420)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36_000 * record.count)
    for _ in 0..<36_000 { bytes += record }
    let folder = try ARKitScannerFolder()
    try folder.write(bytes, to: "depth.bin")
    let mapped = try MappedFile(folder.path.appending("depth.bin"))
    let chain = try ARKitScannerDepthChain(walking: mapped.path, byteCount: mapped.count)
    #expect(chain.recordCount == 36_000)
    #expect(chain.end == .complete)
    #expect(chain.payload(of: 35_999) == bytes.count - record.count + 4..<bytes.count)

    let capture = try folder.open()
    #expect(capture.frames.count == 36_000)
    let source = try #require(capture.depth.value).indexed
    var pixels: [UInt16] = []
    for index in [0, 17_999, 35_999] {
      #expect(try source.decode(record: index, into: &pixels).hasPicture)
      #expect(pixels.count == 256 * 192 && pixels.allSatisfy { $0 == 1234 })
    }
    #expect(throws: CaptureError.self) { try source.decode(record: 36_000, into: &pixels) }
  }
}

@Suite("Float meters become millimeters")
struct ARKitScannerFloatTests {
  private func convert(_ meters: [Float]) -> (pixels: [UInt16], hasNonFinite: Bool) {
    let bytes = meters.flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian) { [UInt8]($0) } }
    var pixels: [UInt16] = []
    let outcome = pixels.takeMeters(bytes.span.bytes, of: "record 0")
    #expect(outcome.tooFar == meters.count { $0 > 100 && $0.isFinite })
    return (pixels, outcome.issue?.code == .nonFiniteValue)
  }

  @Test("Nearest, half away from zero, 0 for what has no place")
  func table() {
    let meters: [Float] = [
      0, -0.0, 0.0004, 0.0005, 0.00050000002, 1.0625, 1.2345, 65.535, 65.5354, 65.5355, 65.5356, -1,
      -0.0004, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.49999997,
    ]
    let (pixels, hasNonFinite) = convert(meters)
    #expect(pixels == meters.map { millimeters(fromMeters: Double($0)) })
    #expect(pixels[5] == 1063)
    #expect(!hasNonFinite)
  }

  @Test("NaN and infinity are 0 and said", arguments: [Float.nan, .infinity, -.infinity])
  func nonFinite(value: Float) {
    let (pixels, hasNonFinite) = convert([1, value, 2])
    #expect(pixels == [1000, 0, 2000])
    #expect(hasNonFinite)
  }

  @Test("Every kind of bit pattern is converted as the definition says")
  func patterns() {
    var state: UInt64 = 5
    let meters = (0..<200_000).map { i -> Float in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // Half of them in the range of a room, the others anything.
      let bits = UInt32(truncatingIfNeeded: state >> 32)
      return i % 2 == 0 ? Float(bits % 65_600_000) / 1_000_000 : Float(bitPattern: bits)
    }
    #expect(convert(meters).pixels == meters.map { millimeters(fromMeters: Double($0)) })
  }
}
