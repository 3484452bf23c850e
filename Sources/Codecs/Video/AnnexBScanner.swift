/// Finds the NAL units of a bare H.264 stream by their start codes (ITU-T H.264, annex B).
enum AnnexBScanner {
  private static let chunkBytes = 1 << 20

  /// Whether a file is said to be a bare stream, or begins like one: zero bytes, a one, and the head of a NAL unit that may
  /// stand at the beginning.
  static func isAnnexB(
    _ input: MediaInput, _ container: VideoContainer
  ) throws(VideoError) -> Bool {
    guard container == .any else { return true }
    let head = try input.bytes(at: 0, count: 64)
    guard let one = head.firstIndex(where: { $0 != 0 }), one >= 2, head[one] == 1,
      one + 1 < head.count
    else { return false }
    // Slices, SEI, parameter sets, access unit delimiter; the top bit must be 0.
    let nal = head[one + 1]
    return nal & 0x80 == 0 && [1, 5, 6, 7, 8, 9].contains(nal & 0x1f)
  }

  /// Calls `body` for every NAL unit with the place of its head, the head and the byte after it.
  ///
  /// A unit at the very end of the file that has no byte after its head is left out. Cost: the file is
  /// read once, in pieces of a megabyte.
  static func forEachUnit(
    _ input: MediaInput, _ body: (_ offset: Int64, _ head: UInt8, _ first: UInt8) -> Void
  ) throws(VideoError) {
    // The last bytes of a piece stand before the next one, for what lies across the edge.
    let carry = 4
    var buffer = [UInt8](repeating: 0xff, count: carry + chunkBytes)
    var offset: Int64 = 0
    while offset < input.byteCount {
      let filled: Int
      do {
        filled = try buffer.withUnsafeMutableBytes {
          try input.read(
            at: offset, into: UnsafeMutableRawBufferPointer(rebasing: $0[carry...]))
        }
      } catch let error as VideoError {
        throw error
      } catch {
        throw VideoError(file: input.file, what: "\(error)", byteOffset: offset)
      }
      if filled == 0 { break }
      let start = offset - Int64(carry)
      buffer.withUnsafeBytes { bytes in
        scan(UnsafeRawBufferPointer(rebasing: bytes[..<(carry + filled)])) { place, head, first in
          body(start + Int64(place), head, first)
        }
      }
      for index in 0..<carry { buffer[index] = buffer[filled + index] }
      offset += Int64(filled)
    }
  }

  /// Start codes whose five bytes `00 00 01 head first` end in `bytes`; those that end in the first four
  /// bytes belong to the piece before.
  private static func scan(
    _ bytes: UnsafeRawBufferPointer, _ body: (Int, UInt8, UInt8) -> Void
  ) {
    guard let base = bytes.baseAddress else { return }
    let count = bytes.count
    var i = 0
    // Eight bytes at a time as long as none is zero: coded pictures rarely have one.
    while i &+ 5 <= count {
      if i &+ 8 <= count {
        let word = base.loadUnaligned(fromByteOffset: i, as: UInt64.self)
        if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 == 0 {
          i &+= 8
          continue
        }
      }
      let end = min(i &+ 8, count &- 4)
      while i < end {
        if bytes[i] == 0, bytes[i &+ 1] == 0, bytes[i &+ 2] == 1 {
          body(i &+ 3, bytes[i &+ 3], bytes[i &+ 4])
          i &+= 3
        } else {
          i &+= 1
        }
      }
    }
  }
}
