import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Media

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

  @Test(
    "pngcheck finds nothing to complain about", .enabled(if: PeerProgram.pngcheck.isInstalled),
    arguments: compressions, VideoContent.allCases)
  func strictCheckersAgree(compression: PNGCompression, content: VideoContent) throws {
    let folder = try TemporaryFolder()
    var writer = PNGWriter(compression: compression)
    for (width, height) in [(3, 3), (345, 33), (1296, 968)] {
      let path = folder.path.appending("\(width).png")
      let file = try writer.encode(content.picture(width: width, height: height))
      try path.write(file)
      #expect(try PeerProgram.pngcheck.run(["-v", path.string]) == 0, "\(width)x\(height)")
    }
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
