@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
