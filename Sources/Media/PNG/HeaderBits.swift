/// The encoded header of a block, which may be written many times.
struct HeaderBits {
  private var bytes = [UInt8](repeating: 0, count: DeflateBlockHeader.largestBytes + 16)
  private(set) var bitCount = 0
  private var header = DeflateBlockHeader()

  mutating func make(lengths: [UInt8], distances: [UInt8]) {
    bytes.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      var sink = BitSink(at: start)
      header.write(lengths: lengths, distances: distances, isLast: false, to: &sink)
      bitCount = 8 * (sink.position - start) + Int(sink.bitCount)
    }
  }

  func write(isLast: Bool, to sink: inout BitSink) {
    bytes.withUnsafeBytes { bytes in
      var output = sink
      // The first bit says whether the block is the last.
      var first: UInt64 = isLast ? 1 : 0
      var done = 0
      while done < bitCount {
        let count = min(56, bitCount - done)
        let word = UInt64(
          littleEndian: bytes.loadUnaligned(fromByteOffset: done >> 3, as: UInt64.self))
        output.add(word & ((1 << UInt64(count)) - 1) | first, count: UInt64(count))
        output.flush()
        first = 0
        done += count
      }
      sink = output
    }
  }
}
