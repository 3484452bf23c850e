@testable import Media
@testable import Core
import Testing

/// A `.sens` file taken apart by its layout (`formats/sens.md`), for tests.
struct ParsedSens {
  struct Frame {
    var pose: [Float]
    var colorMicroseconds: UInt64
    var depthMicroseconds: UInt64
    var color: [UInt8]
    var depth: [UInt8]
  }

  var header: [UInt8]
  var name: String
  var matrices: [[Float]]
  var frames: [Frame] = []
  var imu: [(values: [Double], microseconds: UInt64)] = []

  /// Throws when the file does not end where it must.
  init(_ bytes: [UInt8]) throws {
    var offset = 0
    func take(_ count: Int) throws -> [UInt8] {
      try #require(count <= bytes.count - offset, "the file ends early")
      defer { offset += count }
      return Array(bytes[offset..<offset + count])
    }
    func number() throws -> UInt64 {
      try take(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    func floats() throws -> [Float] {
      let piece = try take(64)
      return (0..<16).compactMap { piece.span.bytes.littleEndianFloat(at: 4 * $0) }
    }
    _ = try take(4)
    name = String(decoding: try take(Int(number())), as: UTF8.self)
    matrices = [try floats(), try floats(), try floats(), try floats()]
    _ = try take(4 + 4 + 16 + 4)
    let count = try number()
    header = Array(bytes[..<offset])
    for _ in 0..<count {
      let pose = try floats()
      let times = (try number(), try number())
      let sizes = (Int(try number()), Int(try number()))
      frames.append(
        Frame(
          pose: pose, colorMicroseconds: times.0, depthMicroseconds: times.1,
          color: try take(sizes.0), depth: try take(sizes.1)))
    }
    for _ in 0..<(try number()) {
      let piece = try take(120)
      imu.append(
        (
          (0..<15).compactMap { piece.span.bytes.littleEndianDouble(at: 8 * $0) }, try number()
        ))
    }
    try #require(offset == bytes.count, "bytes behind the end")
  }

  /// The depth of a frame inflated, which must be of exactly `count` values.
  static func millimeters(_ stream: [UInt8], count: Int) throws -> [UInt16] {
    var bytes = [UInt8](repeating: 0, count: 2 * count)
    var output = bytes.mutableSpan
    var raw = output.mutableBytes
    let result = try WholeInflate.inflate(stream.span.bytes, format: .zlib, into: &raw)
    #expect(result.produced == 2 * count)
    #expect(result.consumed == stream.count)
    return (0..<count).map { UInt16(bytes[2 * $0]) | UInt16(bytes[2 * $0 + 1]) << 8 }
  }
}
