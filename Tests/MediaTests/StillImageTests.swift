import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

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

@Suite struct `Heads of pictures` {
  /// A progressive JPEG with nothing but scans in it.
  private static func jpeg(_ width: Int, _ height: Int, scans: Int) -> [UInt8] {
    func pair(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
    let size: [UInt8] = [0xFF, 0xC2, 0, 11, 8] + pair(height) + pair(width) + [1, 1, 0x11, 0]
    let scan: [UInt8] = [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0x34, 0xFF, 0x00]
    return [0xFF, 0xD8] + size + (0..<scans).flatMap { _ in scan } + [0xFF, 0xD9]
  }

  @Test func `a JPEG tells its size and its scans`() throws {
    let head = try ImageHeader(Self.jpeg(640, 480, scans: 7), file: nil)
    #expect((head.width, head.height, head.scans, head.kind) == (640, 480, 7, .jpeg))
  }

  @Test(
    arguments: [
      (64, 64, 100, nil), (64, 64, 101, "101 scans"), (40_000, 8, 1, "40000 pixels along"),
      (16_000, 16_000, 1, "256000000 pixels in a picture"),
      (8192, 8192, 1, "more than"), (4000, 4000, 60, nil),
      (5000, 3000, 100, nil), (4096, 4096, 101, "101 scans"),
    ] as [(Int, Int, Int, String?)])
  func `limits are looked at before anything is decoded`(
    _ width: Int, _ height: Int, _ scans: Int, _ problem: String?
  ) throws {
    let bytes = Self.jpeg(width, height, scans: scans)
    guard let problem else {
      #expect(try ImageHeader(bytes, file: nil).scans == scans)
      return
    }
    let error = try #require(throws: ImageError.self) { try ImageHeader(bytes, file: "a.jpg") }
    #expect(error.description.contains(problem))
    #expect(error.description.hasPrefix("a.jpg: "))
  }

  @Test func `a PNG is whole or refused, at every cut and with every byte changed`() throws {
    let whole = PNGSamples.gray16
    let head = try ImageHeader(whole, file: nil)
    #expect((head.width, head.height, head.kind) == (3, 2, .png))
    for length in 0..<whole.count {
      #expect(throws: ImageError.self) { try ImageHeader(Array(whole.prefix(length)), file: nil) }
    }
    for index in whole.indices {
      var changed = whole
      changed[index] ^= 0x10
      #expect(throws: ImageError.self) { try ImageHeader(changed, file: nil) }
    }
  }

  @Test func `a claim of a thousand million pixels is refused with the number and the limit`()
    throws
  {
    let error = try #require(throws: ImageError.self) {
      try ImageHeader.check(
        width: 32_768, height: 32_768, ofFileBytes: 130_000, kind: .png, file: "bomb.png")
    }
    #expect(error.description.contains("1073741824 pixels"))
    #expect(error.description.contains("\(InputLimits.pixelsOfPicture.most)"))
  }
}

@Suite("JPEG pictures")
struct JPEGWriterTests {
  /// Pictures whose blocks have few, many, large and widely spaced coefficients.
  enum Content: CaseIterable {
    case noise, blackAndWhite, smooth, tiles, stripes

    func picture(_ width: Int, _ height: Int, _ numbers: inout SeededGenerator) -> [UInt8] {
      var rgb: [UInt8] = []
      for y in 0..<height {
        for x in 0..<width {
          for channel in 0..<3 { rgb.append(value(x, y, channel, &numbers)) }
        }
      }
      return rgb
    }

    private func value(
      _ x: Int, _ y: Int, _ channel: Int, _ numbers: inout SeededGenerator
    ) -> UInt8 {
      switch self {
      case .noise: UInt8(truncatingIfNeeded: numbers.next())
      case .blackAndWhite: numbers.next() & 1 == 0 ? 0 : 255
      case .smooth: UInt8((x * 3 + y * 2 + channel * 60) & 255)
      case .tiles: (x / 8 + y / 5 + channel) & 1 == 0 ? 0 : 255
      case .stripes: (x + channel) & 1 == 0 ? 8 : 247
      }
    }
  }

  @Test(
    "Bytes are those of libjpeg-turbo for every content, side and quality",
    arguments: Content.allCases)
  func bytesOfTheLibrary(content: Content) throws {
    var numbers = SeededGenerator(seed: 1)
    for quality in [1, 10, 50, 75, 90, 95, 98, 100] {
      var writer = try JPEGWriter(quality: quality)
      var library = try JPEGWriter(quality: quality, byLibraryAlone: true)
      for _ in 0..<20 {
        let width = Int.random(in: 1...70, using: &numbers)
        let height = Int.random(in: 1...70, using: &numbers)
        let rgb = content.picture(width, height, &numbers)
        var (file, expected): ([UInt8], [UInt8]) = ([], [])
        try writer.encode(rgb: rgb, width: width, height: height, into: &file)
        try library.encode(rgb: rgb, width: width, height: height, into: &expected)
        #expect(file == expected, "\(width)x\(height), quality \(quality)")
      }
    }
  }

  @Test("Every width and height modulo the size of a block, with one writer for all of them")
  func edges() throws {
    var numbers = SeededGenerator(seed: 2)
    var writer = try JPEGWriter(quality: 95)
    var library = try JPEGWriter(quality: 95, byLibraryAlone: true)
    var (file, expected): ([UInt8], [UInt8]) = ([], [])
    for width in 1...34 {
      for height in 1...34 {
        let rgb = Content.noise.picture(width, height, &numbers)
        try writer.encode(rgb: rgb, width: width, height: height, into: &file)
        try library.encode(rgb: rgb, width: width, height: height, into: &expected)
        #expect(file == expected, "\(width)x\(height)")
      }
    }
  }

  @Test("A picture of more data than wait at once: 512x512 of noise")
  func manyPieces() throws {
    var numbers = SeededGenerator(seed: 3)
    let rgb = Content.noise.picture(512, 512, &numbers)
    var writer = try JPEGWriter(quality: 100)
    var library = try JPEGWriter(quality: 100, byLibraryAlone: true)
    var (file, expected): ([UInt8], [UInt8]) = ([], [])
    try writer.encode(rgb: rgb, width: 512, height: 512, into: &file)
    try library.encode(rgb: rgb, width: 512, height: 512, into: &expected)
    #expect(file == expected)
    #expect(file.count > 300_000)
  }

  @Test(
    "Bytes that are no picture of that size are refused",
    arguments: [(0, 1, 0), (1, 0, 0), (2, 2, 11), (65_501, 1, 65_501 * 3)])
  func refused(width: Int, height: Int, count: Int) throws {
    var writer = try JPEGWriter(quality: 95)
    var file: [UInt8] = []
    #expect(throws: ImageError.self) {
      try writer.encode(
        rgb: [UInt8](repeating: 0, count: count), width: width, height: height, into: &file)
    }
  }
}

@Suite("What the first bytes of a picture say")
struct StoredPictureTests {
  @Test("Size, depth and channels are read from PNG files", arguments: PNGSamples.colors)
  func png(_ sample: PNGSamples.Color) throws {
    let picture = try #require(StoredPicture(sample.bytes))
    #expect((picture.kind, picture.width, picture.height) == (.png, 2, 2))
    let isPlain = sample.testDescription == "8-bit RGB"
    #expect((picture.bitDepth == 8 && picture.channels == 3) == isPlain)
  }

  @Test("Size, depth and channels are read from JPEG files")
  func jpeg() throws {
    var writer = try JPEGWriter(quality: 80)
    var file: [UInt8] = []
    try writer.encode(
      rgb: [UInt8](repeating: 9, count: 21 * 10 * 3), width: 21, height: 10, into: &file)
    let picture = try #require(StoredPicture(file))
    #expect((picture.kind, picture.width, picture.height) == (.jpeg, 21, 10))
    #expect((picture.bitDepth, picture.channels) == (8, 3))
  }

  @Test("Files that are cut within the header, and other files, give nothing")
  func others() throws {
    var writer = try JPEGWriter(quality: 80)
    var file: [UInt8] = []
    try writer.encode(rgb: [1, 2, 3], width: 1, height: 1, into: &file)
    for count in 0..<100 { #expect(StoredPicture(Array(file.prefix(count))) == nil) }
    for count in 0..<26 { #expect(StoredPicture(Array(PNGSamples.gray16.prefix(count))) == nil) }
    #expect(StoredPicture(Array("P6 1 1 255 abc".utf8)) == nil)
    #expect(StoredPicture([0xff, 0xd8] + [UInt8](repeating: 0xff, count: 40)) == nil)
  }
}
