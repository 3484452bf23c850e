import TestSupport
import Testing

@testable import Media

/// That the pixels come back is tested for every kind of compression (`PNGWriterTests`).
@Suite("Pictures as literals with a code that vectors look up")
struct LiteralDeflateTests {
  /// Widths around the steps of the loops, and runs of zeros that begin and end within a step.
  @Test(
    "Wide vectors write the same bytes as plain loops", .enabled(if: GrayFinder.hasWide),
    arguments: PNGContent.allCases)
  func wide(content: PNGContent) {
    for (width, height) in [(1, 1), (10, 3), (11, 40), (97, 5), (640, 300), (1296, 400)] {
      var pixels = content.bytes(count: width * height * 3, rowLength: width * 3)
      for begin in stride(from: 5, to: pixels.count, by: 3 * width * 2 + 7) {
        for index in begin..<min(begin + 2000, pixels.count) { pixels[index] = pixels[begin] }
      }
      #expect(
        stream(pixels, width, height, isWide: true) == stream(pixels, width, height, isWide: false),
        "\(width)x\(height)")
    }
  }

  /// Their filters are chosen by what the loops estimate.
  @Test(
    "So do lines of 16-bit values", .enabled(if: GrayFinder.hasWide),
    arguments: PNGContent.allCases)
  func wideValues(content: PNGContent) {
    for (width, height) in [(1, 1), (2, 3), (10, 3), (31, 40), (33, 9), (256, 192), (1296, 400)] {
      let values = content.values(count: width * height, rowLength: width)
      let pixels = values.indices.flatMap { index in
        let value = values[index / 4 * 4 % values.count] &+ values[index] % 3
        return [UInt8(value & 255), UInt8(value >> 8)]
      }
      #expect(
        stream(pixels, width, height, .gray16, isWide: true)
          == stream(pixels, width, height, .gray16, isWide: false), "\(width)x\(height)")
    }
  }

  @Test("A flat picture takes less than a fiftieth of its bytes")
  func flat() {
    let bytes = stream([UInt8](repeating: 90, count: 900 * 600 * 3), 900, 600, isWide: false)
    #expect(bytes.count < 900 * 600 * 3 / 50)
  }

  @Test("Noise of three levels takes less than a third of its bytes")
  func noise() {
    var random = SeededGenerator(seed: 3)
    let pixels = (0..<300 * 200 * 3).map { _ in UInt8.random(in: 100...102, using: &random) }
    #expect(stream(pixels, 300, 200, isWide: false).count * 3 < pixels.count)
  }

  private func stream(
    _ pixels: [UInt8], _ width: Int, _ height: Int, _ format: PNGFormat = .rgb8, isWide: Bool
  ) -> [UInt8] {
    var literals = LiteralDeflate(isWide: isWide)
    var values = FastDeflate(isWide: isWide)
    let rowBytes = format.pixelBytes * width
    var scratch = [UInt8](repeating: 0, count: Scanlines.scratchBytes(rowBytes: rowBytes))
    var target = [UInt8](
      repeating: 0, count: FastDeflate.largestBytes(lineBytes: rowBytes + 1, height: height))
    let count = pixels.withUnsafeBytes { pixels in
      scratch.withUnsafeMutableBufferPointer { scratch in
        target.withUnsafeMutableBytes { target in
          guard let pixels = pixels.baseAddress, let scratch = scratch.baseAddress,
            let target = target.baseAddress
          else { return 0 }
          var lines = Scanlines(
            pixels: pixels, width: width, height: height, format: format, scratch: scratch)
          return format == .rgb8
            ? literals.compress(&lines, to: target) : values.compress(&lines, to: target)
        }
      }
    }
    return Array(target[..<count])
  }
}
