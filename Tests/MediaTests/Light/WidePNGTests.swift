import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite("PNG files of 16-bit RGB")
struct WidePNGTests {
  private static let size = (width: 37, height: 23)

  /// Noise, a gradient and the extremes.
  private static func pixels(_ seed: UInt64) -> [UInt16] {
    var random = SeededGenerator(seed: seed)
    return (0..<size.width * size.height * 3).map { place in
      switch place / 300 % 3 {
      case 0: UInt16.random(in: 0...UInt16.max, using: &random)
      case 1: UInt16(truncatingIfNeeded: place * 41)
      default: place % 2 == 0 ? 0 : .max
      }
    }
  }

  @Test("What is written is read", arguments: PNGCompression.allCases)
  func roundTrip(compression: PNGCompression) throws {
    let folder = try TemporaryFolder()
    for color in [nil, PNGColor(primaries: 9, transfer: 8)] {
      let pixels = Self.pixels(3)
      var writer = PNGWriter(compression: compression, color: color)
      var bytes: [UInt8] = []
      // Memory is used again.
      for _ in 0..<2 {
        try writer.encode(
          rgb16: pixels, width: Self.size.width, height: Self.size.height, into: &bytes)
      }
      let file = folder.path.appending("a.png")
      try file.write(bytes)
      let read = try PNGReader.wideColor(at: file)
      #expect(read.width == Self.size.width && read.height == Self.size.height)
      #expect(read.rgb == pixels)
      // As 8 bits it is what libpng rounds.
      let small = try PNGReader.color(at: file)
      for (wide, narrow) in zip(pixels, small.rgb) {
        #expect(abs(Double(wide) / 257 - Double(narrow)) <= 1)
      }
    }
  }

  @Test("A file that is no 16-bit RGB is refused")
  func refused() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("a.png")
    var writer = PNGWriter()
    try file.write(writer.encode(rgb: [1, 2, 3], width: 1, height: 1))
    #expect(throws: ImageError.self) { try PNGReader.wideColor(at: file) }
    #expect(throws: ImageError.self) {
      var bytes: [UInt8] = []
      try writer.encode(rgb16: [1, 2], width: 1, height: 1, into: &bytes)
    }
  }

  @Test(
    "Python finds the chunks in their order, with right checksums, cICP and pixels",
    .enabled(if: PythonScript.isPresent), arguments: PNGCompression.allCases)
  func python(compression: PNGCompression) throws {
    let folder = try TemporaryFolder()
    let pixels = Self.pixels(5)
    var writer = PNGWriter(compression: compression, color: PNGColor(primaries: 12, transfer: 18))
    var bytes: [UInt8] = []
    try writer.encode(rgb16: pixels, width: Self.size.width, height: Self.size.height, into: &bytes)
    try folder.path.appending("a.png").write(bytes)
    let raw = pixels.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    try folder.path.appending("a.raw").write(raw)
    let script = """
      import struct, zlib
      data = open("a.png", "rb").read()
      assert data[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
      at, chunks = 8, []
      while at < len(data):
          size, kind = struct.unpack(">I4s", data[at:at + 8])
          body = data[at + 8:at + 8 + size]
          assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
          chunks.append((kind, body))
          at += 12 + size
      assert [kind for kind, _ in chunks] == [b"IHDR", b"cICP", b"IDAT", b"IEND"], chunks
      width, height, depth, color, a, b, c = struct.unpack(">IIBBBBB", chunks[0][1])
      assert (depth, color, a, b, c) == (16, 2, 0, 0, 0)
      assert tuple(chunks[1][1]) == (12, 18, 0, 1), chunks[1]
      lines, step, before, pixels = zlib.decompress(chunks[2][1]), 6 * width, bytes(6 * width), b""
      assert len(lines) == (step + 1) * height
      for y in range(height):
          way, line = lines[y * (step + 1)], bytearray(lines[y * (step + 1) + 1:(y + 1) * (step + 1)])
          for i in range(step):
              left = line[i - 6] if i >= 6 else 0
              up, corner = before[i], before[i - 6] if i >= 6 else 0
              near = left + up - corner
              paeth = min((abs(near - left), 0, left), (abs(near - up), 1, up), (abs(near - corner), 2, corner))[2]
              line[i] = (line[i] + [0, left, up, (left + up) // 2, paeth][way]) & 255
          pixels += line
          before = line
      assert pixels == open("a.raw", "rb").read()
      """
    try PythonScript.run(["-c", script], in: folder.path).succeeds()
  }
}

@Suite("Transfer functions and tone mapping of HDR")
struct TransferTests {
  @Test(
    "PQ at the values that BT.2408 and BT.2100 name",
    arguments: [(0.0, 0.0), (100, 0.508), (203, 0.581), (1000, 0.752), (4000, 0.903), (10_000, 1)])
  func pq(luminance: Double, signal: Double) {
    let found = PerceptualQuantizer.signal(ofLuminance: luminance)
    #expect(abs(found - signal) < 0.0006)
    #expect(
      abs(PerceptualQuantizer.luminance(ofSignal: found) - luminance) <= 1e-9 * max(luminance, 1))
    #expect(abs(found - LightReference.inversePQ(luminance)) < 1e-12)
  }

  @Test(
    "Apple Log at the values of its white paper",
    arguments: [(0.0, 0.150476), (0.18, 0.488272), (0.9, 0.681686), (12, 1.0)])
  func appleLog(light: Double, signal: Double) {
    #expect(abs(AppleLog.light(ofSignal: signal) - light) < 2e-4 * max(light, 0.1))
    #expect(abs(AppleLog.light(ofSignal: signal) - LightReference.appleLog(signal)) < 1e-12)
  }

  @Test(
    "Light below the knee stays, the peak becomes white, and between them nothing jumps or falls",
    arguments: [250.0, 600, 1000, 4000, 10_000])
  func toneMapping(peak: Double) {
    let mapping = ToneMapping(peak: peak)
    #expect(mapping.knee > 0 && mapping.knee < 1)
    #expect(mapping.mapped(0.9 * mapping.knee) == 0.9 * mapping.knee)
    #expect(abs(mapping.mapped(peak / ToneMapping.white) - 1) < 1e-9)
    #expect(mapping.mapped(2 * peak / ToneMapping.white) <= 1)
    var latest = 0.0
    let steps = 4000
    for step in 0...steps {
      let light = peak / ToneMapping.white * Double(step) / Double(steps)
      let mapped = mapping.mapped(light)
      #expect(mapped >= latest && mapped <= light + 1e-12)
      #expect(mapped - latest <= peak / ToneMapping.white / Double(steps) * 1.0001)
      let expected = LightReference.toneMapped(light * 203, peak: peak) / 203
      #expect(abs(mapped - min(expected, 1)) < 1e-9)
      latest = mapped
    }
  }

  @Test(
    "Reference white lies above the knee: it becomes what the documentation says, not white",
    arguments: [(1000, 230), (4000, 210)] as [(Double, Double)])
  func referenceWhite(peak: Double, level: Double) {
    let mapping = ToneMapping(peak: peak)
    #expect((pow(mapping.mapped(1), 1 / 2.4) * 255).rounded() == level)
  }

  @Test("A video that is no brighter than SDR is not mapped, only cut")
  func noMapping() {
    let mapping = ToneMapping(peak: 150)
    #expect(mapping.mapped(0.7) == 0.7 && mapping.mapped(1.5) == 1)
  }

  /// The pairs of Sharma, Wu and Dalal's test data.
  @Test(
    "The color difference that comparisons use is CIEDE2000",
    arguments: [
      ([50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425),
      ([50, -1.3802, -84.2814], [50, 0, -82.7485], 1.0),
      ([50, 2.5, 0], [73, 25, -18], 27.1492),
      ([60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644),
      ([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082),
    ] as [([Double], [Double], Double)])
  func difference(one: [Double], two: [Double], expected: Double) {
    #expect(abs(ColorDifference.between(lab: one, two) - expected) < 1e-4)
  }

  @Test("For looking, white is 255, what is brighter too, and signals are rounded")
  func view() {
    var view: [UInt8] = []
    LightView(white: 0.25).show([0, 16_384, 32_768, 65_535], into: &view)
    #expect(view == [0, 255, 255, 255])
    LightView(white: nil).show([0, 257 * 100, 257 * 100 + 128, 65_535], into: &view)
    #expect(view == [0, 100, 100, 255])
  }
}
