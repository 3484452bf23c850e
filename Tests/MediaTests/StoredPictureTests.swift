@testable import Media
import Testing

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
