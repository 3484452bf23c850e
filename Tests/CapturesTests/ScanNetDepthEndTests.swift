@testable import Core
import Testing

@testable import Captures

@Suite("Where the frames of a ScanNet depth file end")
struct ScanNetDepthEndTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Records, all of 1000 bytes.
    var records: Int
    /// Bytes behind the last one.
    var rest: Int
    var declared: Int?
    var expected: ScanNetDepthEnd?

    init(
      _ name: String, records: Int, rest: Int, declared: Int?, expected: (Int, Int, Int)?
    ) {
      testDescription = name
      self.records = records
      self.rest = rest
      self.declared = declared
      self.expected = expected.map { ScanNetDepthEnd(frames: $0.0, blocks: $0.1, times: $0.2) }
    }
  }

  @Test(
    "The best fit is taken",
    arguments: [
      Example("two blocks", records: 10, rest: 160, declared: 10, expected: (10, 2, 10)),
      Example("one block", records: 10, rest: 80, declared: 10, expected: (10, 1, 10)),
      Example("no declaration", records: 10, rest: 160, declared: nil, expected: (10, 2, 10)),
      Example("two short", records: 10, rest: 128, declared: 8, expected: (10, 2, 8)),
      Example("two ahead", records: 10, rest: 192, declared: 12, expected: (10, 2, 12)),
      Example("three short", records: 10, rest: 112, declared: 7, expected: nil),
      Example("far from the truth", records: 10, rest: 160, declared: 99, expected: (10, 2, 10)),
      Example(
        "three off is not believed", records: 10, rest: 144, declared: 13, expected: (10, 2, 9)),
      Example("two off contradicts", records: 10, rest: 144, declared: 12, expected: nil),
      Example("no times", records: 10, rest: 0, declared: nil, expected: nil),
      Example("no whole time", records: 10, rest: 4, declared: nil, expected: nil),
      // Four records of two frames' times each could be one block of four or two of two.
      Example("declared decides", records: 3, rest: 32, declared: 4, expected: (3, 1, 4)),
      Example("two blocks first", records: 3, rest: 32, declared: nil, expected: (3, 2, 2)),
      Example("no record", records: 0, rest: 16, declared: 1, expected: nil),
      // 1000 bytes are 125 times; the record before them and they are 125 pairs: pairs go first.
      Example("one step back", records: 124, rest: 1000, declared: 125, expected: (123, 2, 125)),
    ])
  func best(example: Example) {
    let cuts = (0...example.records).map { $0 * 1000 }
    let end = ScanNetDepthEnd.best(
      cuts: cuts, byteCount: example.records * 1000 + example.rest,
      declaredTimes: example.declared)
    #expect(end == example.expected)
  }

  @Test("A time that looks like a record's length is recognized", arguments: 1...3)
  func stepsTooFar(steps: Int) {
    // 64 frames; the walk took `steps` pieces of the 1024 bytes of times for records.
    let frames = (0...64).map { $0 * 1000 }
    let cuts = frames + (1...steps).map { 64_000 + 100 * $0 }
    for declared in [64, nil] {
      #expect(
        ScanNetDepthEnd.best(cuts: cuts, byteCount: 64_000 + 1024, declaredTimes: declared)
          == ScanNetDepthEnd(frames: 64, blocks: 2, times: 64))
    }
  }

  /// Lays out the bytes of a scratch capture.
  static func layout(_ scratch: ScanNetScratch, declared: Int?) -> ScanNetDepthLayout {
    let bytes = scratch.depthBytes()
    return ScanNetDepthLayout(bytes.span.bytes, pixelCount: 768, declaredTimes: declared)
  }

  @Test("Times are those of the file, cut to the frames")
  func times() {
    var scratch = ScanNetScratch(frames: 5)
    let whole = Self.layout(scratch, declared: 5)
    #expect(whole.depthTimes == scratch.depthTimes)
    #expect(whole.colorTimes == scratch.colorTimes)
    scratch.depthTimes.append(7)
    scratch.colorTimes.append(8)
    let longer = Self.layout(scratch, declared: 6)
    #expect(longer.depthTimes == Array(scratch.depthTimes.prefix(5)))
    #expect(longer.colorTimes == Array(scratch.colorTimes.prefix(5)))
  }

  @Test("Cut anywhere, whole frames and whole times before the cut are found, and none after")
  func everyCut() {
    let scratch = ScanNetScratch(frames: 6)
    let bytes = scratch.depthBytes()
    let ends = (0...6).map { scratch.recordOffset($0) }
    for length in 0...bytes.count {
      let part = Array(bytes[..<length])
      for declared in [6, nil] {
        let layout = ScanNetDepthLayout(part.span.bytes, pixelCount: 768, declaredTimes: declared)
        let whole = ends.count { $0 <= length } - 1
        #expect(layout.records.count == whole, "\(length) bytes")
        guard declared != nil else { continue }
        let times = max(0, length - ends[6]) / 8
        #expect(layout.depthTimes.count == min(6, times), "\(length) bytes")
        #expect(layout.colorTimes.count == min(6, max(0, times - 6)), "\(length) bytes")
        // Six times and no more could be a single block.
        let isCut = length < bytes.count && !ends.contains(length) && length != ends[6] + 48
        #expect((layout.truncatedAt != nil) == isCut, "\(length) bytes")
        #expect(layout.trailingAt == nil)
      }
    }
  }

  @Test("Damaged lengths cost no frame", arguments: 0..<6)
  func damagedLength(record: Int) {
    let scratch = ScanNetScratch(frames: 6)
    let offset = scratch.recordOffset(record)
    let length = scratch.payloads[record].count
    let wrong: [UInt32] = [
      0, 1, .max, 0x8000_0000, 1441, UInt32(length - 1), UInt32(length + 1), UInt32(length + 40),
      22,
    ]
    for value in wrong {
      var bytes = scratch.depthBytes()
      bytes.replaceSubrange(offset..<(offset + 4), with: ScanNetScratch.bytes(value))
      let layout = ScanNetDepthLayout(bytes.span.bytes, pixelCount: 768, declaredTimes: 6)
      #expect(layout.records.count == 6, "length \(value)")
      #expect(
        layout.records.map(\.hasDamagedLength) == (0..<6).map { $0 == record }, "length \(value)")
      #expect(layout.records.map(\.offset) == (0..<6).map { scratch.recordOffset($0) })
      #expect(layout.depthTimes == scratch.depthTimes)
    }
  }

  @Test("Random bytes are no reason to trap, whatever is declared")
  func randomBytes() {
    var state: UInt64 = 99
    for round in 0..<400 {
      let bytes = (0..<(round * 5)).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
      }
      for declared in [nil, 0, 1, 2, 1000, Int.max] {
        for pixels in [1, 64, 768, 640 * 480] {
          let layout = ScanNetDepthLayout(
            bytes.span.bytes, pixelCount: pixels, declaredTimes: declared)
          #expect(layout.records.allSatisfy { $0.end <= bytes.count })
          #expect(layout.depthTimes.count <= layout.records.count)
        }
      }
    }
  }
}
