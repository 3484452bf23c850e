import Foundation
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite("Reading PNG files")
struct PNGReaderTests {
  @Test("A picture of another program is read with its values in host order")
  func readsAnotherProgramsPicture() throws {
    let image = try PNGReader.depth(in: PNGSamples.gray16)
    #expect(image == DepthImage(width: 3, height: 2, millimeters: [0, 1, 2, 255, 256, 65_535]))
  }

  @Test("Every kind of file becomes 8-bit RGB", arguments: PNGSamples.colors)
  func everyKindBecomesColor(_ sample: PNGSamples.Color) throws {
    let image = try PNGReader.color(in: sample.bytes)
    #expect(image == ColorImage(width: 2, height: 2, rgb: sample.rgb))
  }

  @Test("Depth and gray readers refuse other kinds of picture")
  func otherKindsAreRefused() {
    for sample in PNGSamples.colors {
      #expect(throws: ImageError.self) { try PNGReader.depth(in: sample.bytes) }
    }
    #expect(throws: ImageError.self) { try PNGReader.gray(in: PNGSamples.gray16) }
  }

  @Test("A file cut anywhere is an error with the place")
  func everyCutIsAnError() {
    for count in 0..<PNGSamples.gray16.count {
      #expect(throws: ImageError.self, "cut after \(count) bytes") {
        try PNGReader.depth(in: Array(PNGSamples.gray16.prefix(count)))
      }
    }
  }

  @Test("Any single wrong byte is an error or leaves the pixels as they were")
  func wrongBytesNeverGiveWrongPixels() throws {
    let truth = try PNGReader.depth(in: PNGSamples.gray16)
    for index in PNGSamples.gray16.indices {
      for mask: UInt8 in [0x01, 0x10, 0x80, 0xff] {
        var bytes = PNGSamples.gray16
        bytes[index] ^= mask
        if let image = try? PNGReader.depth(in: bytes) { #expect(image == truth) }
      }
    }
  }

  @Test("A header that claims more pixels than the file can hold is refused before memory is taken")
  func bombIsRefused() throws {
    // The header alone, 32,768 x 32,768, with its right checksum.
    let error = #expect(throws: ImageError.self) { try PNGReader.depth(in: PNGSamples.bomb) }
    #expect(error?.what.contains("more than the file can hold") == true)
  }

  @Test("A missing file is named")
  func missingFileIsNamed() {
    let error = #expect(throws: ImageError.self) { try PNGReader.gray(at: "/nowhere/at/all.png") }
    #expect(error?.file == "/nowhere/at/all.png")
    #expect(error?.description.contains("/nowhere/at/all.png: cannot be read") == true)
  }
}

/// Small PNG files made by another program (Python's zlib), in base64.
enum PNGSamples {
  private static func base64(_ text: String) -> [UInt8] {
    Array(Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data())
  }

  struct Color: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var rgb: [UInt8]
  }

  /// 3x2 pixels of 16-bit gray: 0 1 2 / 255 256 65535.
  static let gray16: [UInt8] = base64(
    """
    iVBORw0KGgoAAAANSUhEUgAAAAMAAAACEAAAAADoj+WFAAAAFklEQVR42mNgYGBgZGBiYPjPyPD/PwAIJAMCfk/B
    WAAAAABJRU5ErkJggg==
    """)

  /// A header of 32,768 x 32,768 pixels of 16 bits and two bytes of data.
  static let bomb: [UInt8] = base64("iVBORw0KGgoAAAANSUhEUgAAgAAAAIAAEAAAAACxhyDgAAAACklEQVR42g==")

  /// 2x2 pixels in several kinds of file, with the RGB values they stand for.
  static let colors: [Color] = [
    Color(
      testDescription: "8-bit RGB",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR42mNgZGL+z9DAwM7BeSLFCAASEgL8jC8W
        vQAAAABJRU5ErkJggg==
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
    Color(
      testDescription: "8-bit RGB with alpha",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAGklEQVR42mNgZGJm+M/QwMnAzsH5/0SKESMAHY8E
        BeYiKloAAAAASUVORK5CYII=
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
    Color(
      testDescription: "palette with transparency",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAMAAABFaP0WAAAADFBMVEUBAgP/AIAHCAnIZDLayZOqAAAAAnRSTlMA
        gJsrThgAAAAOSURBVHjaY2BgZGBiBgAAEQAHg8pkZAAAAABJRU5ErkJggg==
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
    Color(
      testDescription: "palette of 2 bits",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACAgMAAAAP2OW3AAAADFBMVEUBAgP/AIAHCAnIZDLayZOqAAAADElEQVR4
        2mMQYNgAAADkAMEZVTv7AAAAAElFTkSuQmCC
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
    Color(
      testDescription: "8-bit gray",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAAAAABX3VL4AAAADklEQVR42mNg+M8gyAkABC0BGtRZmmsAAAAASUVO
        RK5CYII=
        """),
      rgb: [0, 0, 0, 255, 255, 255, 17, 17, 17, 9, 9, 9]),
    Color(
      testDescription: "8-bit gray with alpha",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAQAAADYv8WvAAAAEklEQVR42mNgYPzPxCDIzMkCAAd6ASQohooBAAAA
        AElFTkSuQmCC
        """),
      rgb: [0, 0, 0, 255, 255, 255, 17, 17, 17, 9, 9, 9]),
    Color(
      testDescription: "gray of 1 bit",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACAQAAAABazTCJAAAADElEQVR42mNwYGgAAAFEAMEEh8/6AAAAAElFTkSu
        QmCC
        """),
      rgb: [0, 0, 0, 255, 255, 255, 255, 255, 255, 0, 0, 0]),
    Color(
      testDescription: "16-bit RGB, rounded",
      bytes: base64(
        """
        iVBORw0KGgoAAAANSUhEUgAAAAIAAAACEAIAAACtREYwAAAAI0lEQVR42mNgZGRiYmb+/5+BoaGBgW0x+xKOpSdS
        UhgMzwEAT/UHmyumNwIAAAAASUVORK5CYII=
        """),
      rgb: [1, 2, 3, 255, 0, 128, 7, 8, 9, 200, 100, 50]),
  ]
}

@Suite("Notes in PNG files")
struct PNGTextTests {
  private static let picture = DepthImage(
    width: 3, height: 2, millimeters: [1, 2, 3, 4, 5, 65_535])

  @Test("A note is in the file, the pixels stay the same", arguments: PNGCompression.allCases)
  func notes(compression: PNGCompression) throws {
    let notes = try [
      #require(PNGText(keyword: "Software", text: "scanmill é\nline two")),
      #require(PNGText(keyword: "a", text: "")),
    ]
    var writer = PNGWriter(compression: compression, notes: notes)
    let file = try writer.encode(Self.picture)
    #expect(try PNGReader.depth(in: file) == Self.picture)
    let chunk = "tEXtSoftware\0scanmill \u{e9}\nline two".unicodeScalars.map { UInt8($0.value) }
    #expect(file.firstRange(of: chunk) != nil)
    var plain = PNGWriter(compression: compression)
    #expect(try plain.encode(Self.picture).count == file.count - 12 - 9 - 19 - 12 - 2)

    let folder = try TemporaryFolder()
    let path = folder.path.appending("note.png")
    try OutputFile.write(file, to: path)
    if PeerProgram.pngcheck.isInstalled {
      #expect(try PeerProgram.pngcheck.run(["-v", path.string]) == 0)
    }
  }

  @Test(
    "What cannot stand in a file is no note",
    arguments: [
      ("", "text"), (" a", "text"), ("a ", "text"), ("a  b", "text"), ("a\n", "text"),
      (String(repeating: "k", count: 80), "text"), ("key", "null \0"), ("key", "snow ☃"),
      ("key", String(repeating: "x", count: 65_537)),
    ])
  func refused(keyword: String, text: String) {
    #expect(PNGText(keyword: keyword, text: text) == nil)
  }
}

@Suite("Writing frames of videos as PNG")
struct PNGVideoTests {
  static let compressions: [PNGCompression] = [.fast, .compact]

  /// Below, at and above the width from which rows are blocks of their own; several blocks; rows that
  /// are longer than the window; odd heights.
  static let sizes =
    (1...70).map { ($0, 7) } + (338...350).map { ($0, 33) } + [
      (400, 1), (400, 2), (400, 3), (640, 481), (1296, 968), (1297, 811), (8192, 131), (11_000, 50),
    ]

  @Test(
    "They come back pixel for pixel and are never larger than stored",
    arguments: compressions, VideoContent.allCases)
  func roundTrip(compression: PNGCompression, content: VideoContent) throws {
    var writer = PNGWriter(compression: compression)
    for (width, height) in Self.sizes {
      let image = content.picture(width: width, height: height)
      let file = try writer.encode(image)
      #expect(try PNGReader.color(in: file) == image, "\(width)x\(height)")
      #expect(file.count <= PNGWriterTests.largestFile(width * height * 3, height: height))
    }
  }

  @Test("The bytes do not depend on what was written before", arguments: compressions)
  func bytesDependOnPixelsAlone(compression: PNGCompression) throws {
    var used = PNGWriter(compression: compression)
    for (width, height) in [(1296, 400), (400, 900), (640, 481), (350, 7), (1296, 400)] {
      for content in VideoContent.allCases {
        let image = content.picture(width: width, height: height)
        var fresh = PNGWriter(compression: compression)
        let expected = try fresh.encode(image)
        #expect(try used.encode(image) == expected, "\(width)x\(height) \(content)")
      }
    }
  }

  @Test(
    "Repetitions make them much smaller than literals alone, also where channels are clipped",
    arguments: [(VideoContent.plain, 60), (.clipped, 65), (.streaked, 75)])
  func repetitionsPay(content: VideoContent, percent: Int) throws {
    let image = content.picture(width: 1296, height: 400)
    var fast = PNGWriter()
    var compact = PNGWriter(compression: .compact)
    let fastBytes = try fast.encode(image).count
    let compactBytes = try compact.encode(image).count
    let lineBytes = image.width * 3 + 1
    var target = [UInt8](
      repeating: 0, count: FastDeflate.largestBytes(lineBytes: lineBytes, height: image.height))
    var literals = FastDeflate()
    let literalBytes =
      image.withLines { lines in
        target.withUnsafeMutableBytes { target in
          target.baseAddress.map { literals.compress(&lines, to: $0) } ?? 0
        }
      } ?? 0
    #expect(fastBytes * 100 < literalBytes * percent)
    #expect(compactBytes < fastBytes)
  }
}

extension ColorImage {
  /// Lets `body` read the picture as an encoder does.
  func withLines<Result>(_ body: (inout Scanlines) -> Result) -> Result? {
    var scratch = [UInt8](repeating: 0, count: Scanlines.scratchBytes(rowBytes: width * 3))
    return rgb.withUnsafeBytes { pixels in
      scratch.withUnsafeMutableBufferPointer { scratch in
        guard let pixels = pixels.baseAddress, let scratch = scratch.baseAddress else { return nil }
        var lines = Scanlines(
          pixels: pixels, width: width, height: height, format: .rgb8, scratch: scratch)
        return body(&lines)
      }
    }
  }
}
