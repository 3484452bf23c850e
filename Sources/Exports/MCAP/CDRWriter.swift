/// Encodes a message's fields as CDR, version 1, little-endian: what ROS 2 puts into bags.
///
/// A primitive is aligned to its own size, counted from the byte after the four of the head.
struct CDRWriter {
  /// Head and fields so far.
  private(set) var bytes: [UInt8] = [0, 1, 0, 0]

  private static let headBytes = 4

  mutating func integer(_ value: some FixedWidthInteger) {
    align(to: value.bitWidth / 8)
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func number(_ value: Double) { integer(value.bitPattern) }

  /// One byte.
  mutating func flag(_ value: Bool) { integer(UInt8(value ? 1 : 0)) }

  /// u32 length with the closing NUL, then UTF-8 and the NUL.
  mutating func text(_ text: String) {
    integer(UInt32(clamping: text.utf8.count + 1))
    bytes += Array(text.utf8)
    bytes.append(0)
  }

  /// An array of fixed length: its elements alone.
  mutating func fixed(_ numbers: [Double]) {
    for value in numbers { number(value) }
  }

  /// The head of a sequence; its elements follow.
  mutating func sequence(of count: Int) { integer(UInt32(clamping: count)) }

  private mutating func align(to size: Int) {
    let past = (bytes.count - Self.headBytes) % size
    if past != 0 { bytes += [UInt8](repeating: 0, count: size - past) }
  }
}
