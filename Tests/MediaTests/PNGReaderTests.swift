@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
