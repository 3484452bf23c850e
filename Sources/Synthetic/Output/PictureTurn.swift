import Media
import Core

/// Turns upright pictures into those of a sensor that was held differently.
enum PictureTurn {
  /// The EXIF orientation that turns a stored picture clockwise.
  static func orientation(clockwiseQuarterTurns turns: Int) -> Int {
    [1, 6, 3, 8][(turns % 4 + 4) % 4]
  }

  /// The stored picture that `turns` clockwise quarter turns make equal to `upright`.
  static func stored(_ upright: ColorImage, clockwiseQuarterTurns turns: Int) -> ColorImage {
    upright.upright(exifOrientation: orientation(clockwiseQuarterTurns: -turns))
  }

  /// A JPEG file with an EXIF segment that contains only the orientation.
  static func tag(_ jpeg: [UInt8], orientation: Int) -> [UInt8] {
    var segment = Array("Exif\0\0II".utf8)
    segment += Bytes.of(UInt16(42))
    segment += Bytes.of(UInt32(8)) + Bytes.of(UInt16(1))
    // Tag 0x0112, one 16-bit number.
    segment += Bytes.of(UInt16(0x0112)) + Bytes.of(UInt16(3)) + Bytes.of(UInt32(1))
    segment += Bytes.of(UInt32(orientation)) + Bytes.of(UInt32(0))
    var file = Array(jpeg.prefix(2))
    file += [0xff, 0xe1]
    file += Bytes.bigEndian(UInt16(segment.count + 2))
    file += segment
    file += jpeg.dropFirst(2)
    return file
  }
}
