/// What the segments before the pixels of a JPEG say.
struct JPEGHeader {
  var width = 0
  var height = 0
  /// EXIF Orientation 1…8; 1 without one, or with another value.
  var orientation = 1

  /// Walks from marker to marker (ITU-T T.81, B.1) up to the first scan; stops where that is not possible.
  init(_ bytes: [UInt8]) {
    var offset = 2
    while offset + 4 <= bytes.count, bytes[offset] == 0xff {
      let marker = bytes[offset + 1]
      if marker == 0xff {
        // A fill byte.
        offset += 1
        continue
      }
      if marker == 0xda || marker == 0xd9 { return }
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      let end = offset + 2 + length
      guard length >= 2, end <= bytes.count else { return }
      let segment = bytes[(offset + 4)..<end]
      switch marker {
      case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
        readSize(Array(segment))
      case 0xe1:
        if let value = EXIFOrientation.find(in: Array(segment)) { orientation = value }
      default: break
      }
      offset = end
    }
  }

  /// Whether a file of that size can hold the picture: a block of 8x8 pixels takes two bits at least, but
  /// luma may be all there is of a picture of 2^28 pixels at most.
  func isPlausible(fileBytes: Int) -> Bool {
    width > 0 && height > 0 && width * height <= 1 << 28
      && width * height / 64 / 4 <= max(fileBytes, 4096)
  }

  private mutating func readSize(_ segment: [UInt8]) {
    guard segment.count >= 5 else { return }
    height = Int(segment[1]) << 8 | Int(segment[2])
    width = Int(segment[3]) << 8 | Int(segment[4])
  }
}

/// The Orientation tag of an EXIF segment.
enum EXIFOrientation {
  /// The value 1…8 in the first directory of an APP1 segment, if it is there.
  ///
  /// The segment is `Exif\0\0` and a TIFF file: byte order, 42, where the directory is; entries of 12 bytes
  /// with tag, type, count and value.
  static func find(in segment: [UInt8]) -> Int? {
    guard segment.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) else { return nil }
    let tiff = Array(segment.dropFirst(6))
    guard tiff.count >= 8 else { return nil }
    let isLittleEndian: Bool
    switch (tiff[0], tiff[1]) {
    case (0x49, 0x49): isLittleEndian = true
    case (0x4d, 0x4d): isLittleEndian = false
    default: return nil
    }
    func number(_ offset: Int, _ count: Int) -> Int? {
      guard offset >= 0, offset + count <= tiff.count else { return nil }
      let bytes = tiff[offset..<(offset + count)]
      return (isLittleEndian ? Array(bytes.reversed()) : Array(bytes))
        .reduce(0) { $0 << 8 | Int($1) }
    }
    guard number(2, 2) == 42, let directory = number(4, 4), let count = number(directory, 2) else {
      return nil
    }
    for entry in 0..<count {
      let place = directory + 2 + 12 * entry
      guard let tag = number(place, 2) else { return nil }
      // Orientation, one SHORT.
      guard tag == 0x0112 else { continue }
      guard number(place + 2, 2) == 3, let value = number(place + 8, 2), (1...8).contains(value)
      else { return nil }
      return value
    }
    return nil
  }
}
