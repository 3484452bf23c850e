/// The Orientation tag of a JPEG file's EXIF segment.
enum EXIFOrientation {
  /// The orientation, 1…8; `nil` if the file has none or it is damaged. Every offset is checked.
  /// Cost: one walk over the segments before the picture data.
  static func find(in jpeg: [UInt8]) -> Int? {
    var position = 2
    while position + 4 <= jpeg.count, jpeg[position] == 0xFF {
      let marker = jpeg[position + 1]
      if marker == 0xFF {
        position += 1
        continue
      }
      if marker == 0xDA || marker == 0xD9 { return nil }
      let length = Int(jpeg[position + 2]) << 8 | Int(jpeg[position + 3])
      guard length >= 2, position + 2 + length <= jpeg.count else { return nil }
      let segment = jpeg[(position + 4)..<(position + 2 + length)]
      if marker == 0xE1, segment.starts(with: Array("Exif\0\0".utf8)) {
        return orientation(ofTIFF: Array(segment.dropFirst(6)))
      }
      position += 2 + length
    }
    return nil
  }

  private static func orientation(ofTIFF bytes: [UInt8]) -> Int? {
    let isLittleEndian: Bool
    if bytes.starts(with: Array("II".utf8)) {
      isLittleEndian = true
    } else if bytes.starts(with: Array("MM".utf8)) {
      isLittleEndian = false
    } else {
      return nil
    }
    func number(at offset: Int, bytes count: Int) -> Int? {
      guard offset >= 0, offset + count <= bytes.count else { return nil }
      let digits = bytes[offset..<(offset + count)]
      return (isLittleEndian ? Array(digits.reversed()) : Array(digits))
        .reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(at: 4, bytes: 4), let count = number(at: directory, bytes: 2)
    else { return nil }
    for index in 0..<count {
      let entry = directory + 2 + index * 12
      guard let tag = number(at: entry, bytes: 2) else { return nil }
      // 0x0112 = Orientation, a 16-bit number in the entry itself.
      if tag == 0x0112, let value = number(at: entry + 8, bytes: 2), (1...8).contains(value) {
        return value
      }
    }
    return nil
  }
}
