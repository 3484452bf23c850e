/// Encodes a message's fields as CDR, version 1, little-endian: the encoding of ROS 2 bags.
///
/// A primitive is aligned to its own size, counted from the byte after the header's four bytes.
struct CDRWriter {
  /// Header and fields so far.
  private(set) var bytes: [UInt8] = [0, 1, 0, 0]

  private static let headerBytes = 4

  mutating func integer(_ value: some FixedWidthInteger) {
    align(to: value.bitWidth / 8)
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func number(_ value: Double) { integer(value.bitPattern) }

  /// One byte.
  mutating func flag(_ value: Bool) { integer(UInt8(value ? 1 : 0)) }

  /// Appends the length with the final NUL (u32), then UTF-8 and the NUL.
  mutating func text(_ text: String) {
    integer(UInt32(clamping: text.utf8.count + 1))
    bytes += Array(text.utf8)
    bytes.append(0)
  }

  /// Appends an array of fixed length: its elements only.
  mutating func fixed(_ numbers: [Double]) {
    for value in numbers { number(value) }
  }

  /// Appends the length of a sequence; its elements follow.
  mutating func sequence(of count: Int) { integer(UInt32(clamping: count)) }

  private mutating func align(to size: Int) {
    let past = (bytes.count - Self.headerBytes) % size
    if past != 0 { bytes += [UInt8](repeating: 0, count: size - past) }
  }
}
