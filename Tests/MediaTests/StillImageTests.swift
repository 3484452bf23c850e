@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Still pictures")
struct StillImageTests {
  /// 3x2 pixels, numbered row by row.
  static let numbered = ColorImage(
    width: 3, height: 2, rgb: (1...6).flatMap { [UInt8($0), 0, 0] })

  @Test(
    "Every EXIF orientation is turned and mirrored as defined",
    arguments: [
      (1, [[1, 2, 3], [4, 5, 6]]), (2, [[3, 2, 1], [6, 5, 4]]), (3, [[6, 5, 4], [3, 2, 1]]),
      (4, [[4, 5, 6], [1, 2, 3]]), (5, [[1, 4], [2, 5], [3, 6]]), (6, [[4, 1], [5, 2], [6, 3]]),
      (7, [[6, 3], [5, 2], [4, 1]]), (8, [[3, 6], [2, 5], [1, 4]]), (0, [[1, 2, 3], [4, 5, 6]]),
      (9, [[1, 2, 3], [4, 5, 6]]),
    ] as [(Int, [[UInt8]])])
  func orientations(orientation: Int, rows: [[UInt8]]) {
    let upright = Self.numbered.upright(exifOrientation: orientation)
    #expect((upright.width, upright.height) == (rows[0].count, rows.count))
    let reds: [UInt8] = stride(from: 0, to: upright.rgb.count, by: 3).map { upright.rgb[$0] }
    #expect(reds == rows.flatMap(\.self))
  }

  /// A smooth picture, which JPEG keeps well.
  static func smooth(_ width: Int, _ height: Int) -> ColorImage {
    var image = ColorImage(width: width, height: height)
    for y in 0..<height {
      for x in 0..<width {
        let place = (y * width + x) * 3
        image.rgb[place] = UInt8(x * 255 / width)
        image.rgb[place + 1] = UInt8(y * 255 / height)
        image.rgb[place + 2] = 128
      }
    }
    return image
  }

  static func jpeg(_ image: ColorImage, quality: Int = 95) throws -> [UInt8] {
    var writer = try JPEGWriter(quality: quality)
    var file: [UInt8] = []
    try writer.encode(rgb: image.rgb, width: image.width, height: image.height, into: &file)
    return file
  }

  /// An EXIF segment with an orientation after another entry.
  static func exif(_ orientation: UInt8, isLittleEndian: Bool) -> [UInt8] {
    func number(_ value: Int, _ bytes: Int) -> [UInt8] {
      let little = (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      return isLittleEndian ? little : little.reversed()
    }
    var tiff = Array((isLittleEndian ? "II" : "MM").utf8) + number(42, 2) + number(8, 4)
    tiff += number(2, 2)
    tiff += number(0x0100, 2) + number(4, 2) + number(1, 4) + number(640, 4)
    tiff += number(0x0112, 2) + number(3, 2) + number(1, 4) + number(Int(orientation), 2) + [0, 0]
    tiff += number(0, 4)
    let body = Array("Exif\0\0".utf8) + tiff
    return [0xff, 0xe1, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
  }

  static func write(_ bytes: [UInt8], _ folder: TemporaryFolder) throws -> FilePath {
    let file = folder.path.appending("picture")
    try file.write(bytes)
    return file
  }

  @Test("A JPEG with an orientation comes upright", arguments: 1...8, [true, false])
  func exifIsRead(orientation: Int, isLittleEndian: Bool) throws {
    let folder = try TemporaryFolder()
    let stored = Self.smooth(48, 32)
    var bytes = try Self.jpeg(stored)
    bytes.insert(
      contentsOf: Self.exif(UInt8(orientation), isLittleEndian: isLittleEndian), at: 2)
    let still = try StillImage.read(try Self.write(bytes, folder))
    #expect(still.exifOrientation == orientation)
    #expect((still.picture.width, still.picture.height) == (48, 32))
    let expected = stored.upright(exifOrientation: orientation)
    let upright = still.upright
    #expect((upright.width, upright.height) == (expected.width, expected.height))
    let worst = zip(upright.rgb, expected.rgb).map { abs(Int($0) - Int($1)) }.max() ?? 0
    #expect(worst <= 8)
    let size = try StillImage.header(folder.path.appending("picture")).uprightSize
    #expect(size == PictureSize(width: expected.width, height: expected.height))
  }

  @Test("A PNG is read by its content")
  func pngIsRead() throws {
    let folder = try TemporaryFolder()
    var writer = PNGWriter()
    let image = Self.smooth(21, 13)
    let still = try StillImage.read(try Self.write(try writer.encode(image), folder))
    #expect(still.picture == image)
    #expect(still.exifOrientation == 1)
  }

  @Test("No cut and no wrong byte crashes; what is no picture is refused")
  func damage() throws {
    let folder = try TemporaryFolder()
    var bytes = try Self.jpeg(Self.smooth(48, 32))
    bytes.insert(contentsOf: Self.exif(6, isLittleEndian: true), at: 2)
    for count in 0..<bytes.count {
      let file = try Self.write(Array(bytes.prefix(count)), folder)
      if let still = try? StillImage.read(file) {
        #expect((still.picture.width, still.picture.height) == (48, 32))
      }
    }
    var random = SeededGenerator(seed: 3)
    for _ in 0..<300 {
      var damaged = bytes
      for _ in 0..<3 {
        damaged[Int.random(in: 2..<bytes.count, using: &random)] =
          UInt8.random(in: 0...255, using: &random)
      }
      _ = try? StillImage.read(try Self.write(damaged, folder))
    }
    for text in ["", "GIF89a", "\u{ff}"] {
      let file = try Self.write(Array(text.utf8), folder)
      #expect(throws: ImageError.self) { try StillImage.read(file) }
    }
  }

  @Test("Higher quality is larger and closer, and bytes depend on the picture alone")
  func quality() throws {
    let folder = try TemporaryFolder()
    var noise = SeededGenerator(seed: 1)
    var image = Self.smooth(160, 120)
    for index in image.rgb.indices { image.rgb[index] &+= UInt8(noise.next() % 9) }
    var lastSize = 0
    var lastError = Double.infinity
    for quality in [10, 40, 75, 95] {
      let bytes = try Self.jpeg(image, quality: quality)
      #expect(try Self.jpeg(image, quality: quality) == bytes)
      let read = try StillImage.read(try Self.write(bytes, folder)).picture
      var error = 0.0
      for (value, wanted) in zip(read.rgb, image.rgb) {
        let difference = Double(value) - Double(wanted)
        error += difference * difference
      }
      #expect(bytes.count > lastSize)
      #expect(error < lastError)
      (lastSize, lastError) = (bytes.count, error)
    }
  }
}
