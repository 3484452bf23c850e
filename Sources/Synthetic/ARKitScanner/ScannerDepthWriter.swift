import Media
import Core
import SystemPackage

/// Writes the depth file of an ARKit-Scanner capture, frame by frame.
struct ScannerDepthWriter {
  private let plan: ScannerPlan
  private let file: GrowingFile
  private let stream: DeflateEncoder?
  private var noise: SeededRandom
  /// Digest of each record's millimeters; `nil` for one that cannot be decoded.
  private(set) var digests: [Digest?] = []

  init(_ path: FilePath, plan: ScannerPlan, seed: UInt64) throws {
    self.plan = plan
    file = try GrowingFile(path)
    stream = plan.generation.depthLayout == .stream ? DeflateEncoder(format: .raw) : nil
    noise = SeededRandom(seed: seed, "damaged records")
  }

  /// Appends a frame; `meters` are the sensor's measurements.
  mutating func append(frame: Int, meters: [Float]) throws {
    var meters = meters
    if frame == plan.nonFiniteFrame {
      for (index, value) in [Float.nan, .infinity, -.infinity, -0.5, 70].enumerated() {
        meters[index * 7] = value
      }
    }
    let isCut = plan.endsInRecord && frame == plan.frames - 1
    switch plan.generation.depthLayout {
    case .raw:
      let bytes = Self.bytes(meters)
      try file.append(isCut ? bytes.prefix(bytes.count / 2) : bytes[...])
    case .stream:
      let bytes = Self.bytes(meters)
      var output: [UInt8] = []
      let part = isCut ? Array(bytes.prefix(bytes.count / 2)) : bytes
      try stream?.append(part.span.bytes, to: &output)
      try file.append(output)
    case .deflate, .lz4:
      try appendRecord(frame: frame, meters: meters, isCut: isCut)
      return
    }
    if !isCut { digests.append(Self.digest(meters.millimeters)) }
  }

  /// Completes the file.
  mutating func finish() throws {
    if let stream {
      var output: [UInt8] = []
      try stream.finish(to: &output)
      // Without the end mark, so that only some pixels of the half frame are lost.
      if plan.endsInRecord { output.removeLast(min(3, output.count)) }
      try file.append(output)
    }
    try file.append([UInt8](repeating: 0x01, count: plan.trailingBytes))
    try file.close()
  }

  private mutating func appendRecord(frame: Int, meters: [Float], isCut: Bool) throws {
    let edit = plan.recordEdits[frame]
    if edit == .absent { return }
    var millimeters = meters.millimeters
    if frame == 0, plan.looksLikeDeflate { try makeLookalike(&millimeters) }
    let record = try self.record(meters: meters, millimeters: millimeters, edit: edit)
    try file.append(Int32(record.count))
    if isCut {
      try file.append(record.prefix(record.count / 2))
      return
    }
    try file.append(record)
    let isWhole = edit == nil || edit == .otherEncoding
    digests.append(isWhole ? Self.digest(millimeters) : nil)
  }

  private mutating func record(
    meters: [Float], millimeters: [UInt16], edit: ScannerPlan.RecordEdit?
  ) throws -> [UInt8] {
    let isFloat = plan.generation.depthLayout == .deflate
    switch edit {
    case .empty, .absent: return []
    case .noise:
      // All bits set: an LZ4 literal run beyond the end, and an invalid DEFLATE block type.
      return (0..<4000).map { _ in UInt8(truncatingIfNeeded: noise.next()) | 0xf7 }
    case .short:
      return isFloat
        ? try DeflateEncoder.compress(Self.bytes(Array(meters.dropLast(999))), format: .raw)
        : try lz4(Array(millimeters.dropLast(999)))
    case .otherFraming:
      let block = try lz4(millimeters)
      return Array("bv41".utf8) + Bytes.of(UInt32(millimeters.count * 2))
        + Bytes.of(UInt32(block.count)) + block + Array("bv4$".utf8)
    case .otherEncoding:
      return try DeflateEncoder.compress(Self.bytes(meters), format: .raw)
    case nil:
      return isFloat
        ? try DeflateEncoder.compress(Self.bytes(meters), format: .raw) : try lz4(millimeters)
    }
  }

  /// Changes single pixels by a millimeter until the low ten bits of the block's length are 0x003:
  /// a final DEFLATE block with fixed codes that ends at once.
  private mutating func makeLookalike(_ millimeters: inout [UInt16]) throws {
    for _ in 0..<20_000 {
      if try lz4(millimeters).count & 0x3ff == 0x003 { return }
      let pixel = noise.index(below: millimeters.count)
      millimeters[pixel] ^= 1
    }
    throw SynthesisError("no length of the first record looks like DEFLATE; try another seed")
  }

  private func lz4(_ millimeters: [UInt16]) throws -> [UInt8] {
    let bytes = Bytes.of(millimeters)
    guard let block = LZ4Block.encode(bytes.span.bytes) else {
      throw SynthesisError("liblz4 refuses a depth frame")
    }
    return block
  }

  private static func bytes(_ meters: [Float]) -> [UInt8] {
    meters.flatMap { Bytes.of($0.bitPattern) }
  }

  private static func digest(_ millimeters: [UInt16]) -> Digest {
    Digest(of: Bytes.of(millimeters))
  }
}
