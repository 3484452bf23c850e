@testable import Media
@testable import Core
@testable import Stages
import Testing

@Suite("Files of overview pictures")
struct DrawnSheetTests {
  @Test("A file of this program is distinguished from others, as PNG and as JPEG")
  func isOurs() throws {
    var picture = ColorImage(width: 64, height: 48)
    for index in picture.rgb.indices { picture.rgb[index] = UInt8(index % 251) }
    let sheet = DrawnSheet(picture: picture)
    let png = try sheet.encoded(asJPEG: false)
    let jpeg = try sheet.encoded(asJPEG: true)
    #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]) && jpeg.starts(with: [0xFF, 0xD8]))
    #expect(DrawnSheet.isOurs(png) && DrawnSheet.isOurs(jpeg))
    var plainPNG = PNGWriter()
    var plainJPEG = try JPEGWriter(quality: 80)
    var other: [UInt8] = []
    try plainJPEG.encode(rgb: picture.rgb, width: 64, height: 48, into: &other)
    for file in [try plainPNG.encode(picture), other, [], [0xFF, 0xD8], Array("text".utf8)] {
      #expect(!DrawnSheet.isOurs(file))
    }
    for length in 0..<min(png.count, 200) { _ = DrawnSheet.isOurs(Array(png.prefix(length))) }
  }
}
