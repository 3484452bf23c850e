import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite("Writing PNG files")
struct PNGWriterTests {
  /// Every width up to several steps of the kernels, sides around a stored block, and several megabytes, so that a file
  /// has several blocks.
  static let sizes =
    (1...300).map { ($0, 3) } + [
      (1, 1), (2, 1), (1, 2), (7, 300), (64, 64), (640, 480), (1296, 968), (8192, 3), (1, 8192),
    ]

  /// What a file of stored blocks holds beside the pixels, and 1 %.
  static func largestFile(_ pixelBytes: Int, height: Int) -> Int {
    (pixelBytes + height) * 101 / 100 + 150
  }

  @Test(
    "Every picture comes back through libpng pixel for pixel and is never larger than stored",
    arguments: PNGCompression.allCases, PNGContent.allCases)
  func roundTrip(compression: PNGCompression, content: PNGContent) throws {
    var writer = PNGWriter(compression: compression)
    for (width, height) in Self.sizes
    where Rounds.isSoak || width * height < 1 << 20 || [.smallNoise, .rare].contains(content) {
      let depth = DepthImage(
        width: width, height: height,
        millimeters: content.values(count: width * height, rowLength: width))
      var file = try writer.encode(depth)
      #expect(try PNGReader.depth(in: file) == depth, "\(width)x\(height)")
      #expect(file.count <= Self.largestFile(width * height * 2, height: height))

      let gray = GrayImage(
        width: width, height: height,
        values: content.bytes(count: width * height, rowLength: width))
      file = try writer.encode(gray)
      #expect(try PNGReader.gray(in: file) == gray, "\(width)x\(height)")
      #expect(file.count <= Self.largestFile(width * height, height: height))

      let color = ColorImage(
        width: width, height: height,
        rgb: content.bytes(count: width * height * 3, rowLength: width * 3))
      file = try writer.encode(color)
      #expect(try PNGReader.color(in: file) == color, "\(width)x\(height)")
      #expect(file.count <= Self.largestFile(width * height * 3, height: height))
    }
  }

  @Test("Runs of every length come back")
  func everyRunLength() throws {
    var writer = PNGWriter()
    for length in Array(1...40) + Array(250...300) + Array(510...530) {
      var random = SeededGenerator(seed: UInt64(length))
      var values: [UInt16] = []
      while values.count < 4096 {
        values += [UInt16](repeating: UInt16(values.count), count: length)
        values.append(UInt16(truncatingIfNeeded: random.next()))
      }
      let depth = DepthImage(width: 64, height: 64, millimeters: Array(values[..<4096]))
      #expect(try PNGReader.depth(in: writer.encode(depth)) == depth)
      let row = DepthImage(width: 4096, height: 1, millimeters: depth.millimeters)
      #expect(try PNGReader.depth(in: writer.encode(row)) == row)
    }
  }

  @Test(
    "pngcheck finds nothing to complain about", .enabled(if: PeerProgram.pngcheck.isInstalled),
    arguments: PNGCompression.allCases)
  func strictCheckersAgree(compression: PNGCompression) throws {
    let folder = try TemporaryFolder()
    var writer = PNGWriter(compression: compression)
    for content in PNGContent.allCases {
      for (width, height) in [(1, 1), (33, 5), (640, 480)] {
        let values = content.values(count: width * height * 3, rowLength: width * 3)
        let bytes = content.bytes(count: width * height * 3, rowLength: width * 3)
        let files = [
          try writer.encode(rgb: bytes, width: width, height: height),
          try writer.encode(
            gray8: Array(bytes[..<(width * height)]), width: width, height: height),
          try writer.encode(
            gray16: Array(values[..<(width * height)]), width: width, height: height),
        ]
        for (kind, file) in files.enumerated() {
          let path = folder.path.appending("\(kind).png")
          try path.write(file)
          #expect(try PeerProgram.pngcheck.run(["-v", path.string]) == 0, "\(content) \(width)")
        }
      }
    }
    for content in VideoContent.allCases {
      for (width, height) in [(3, 3), (345, 33), (1296, 968)] {
        let path = folder.path.appending("video.png")
        try path.write(writer.encode(content.picture(width: width, height: height)))
        #expect(try PeerProgram.pngcheck.run(["-v", path.string]) == 0, "\(content) \(width)")
      }
    }
  }

  @Test("A file has no chunks but IHDR, IDAT and IEND")
  func onlyNecessaryChunks() throws {
    var writer = PNGWriter()
    let file = try writer.encode(DepthImage(width: 20, height: 10))
    var types: [String] = []
    var offset = 8
    while offset + 8 <= file.count {
      let length = file[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
      types.append(String(decoding: file[(offset + 4)..<(offset + 8)], as: UTF8.self))
      offset += length + 12
    }
    #expect(types == ["IHDR", "IDAT", "IEND"])
    #expect(offset == file.count)
  }

  @Test("Sizes that fit no picture are refused")
  func wrongSizesAreRefused() {
    var writer = PNGWriter()
    #expect(throws: ImageError.self) { try writer.encode(rgb: [0, 0], width: 1, height: 1) }
    #expect(throws: ImageError.self) { try writer.encode(gray8: [], width: 0, height: 0) }
    #expect(throws: ImageError.self) { try writer.encode(gray16: [1], width: -1, height: -1) }
    #expect(throws: ImageError.self) {
      try writer.encode(gray16: [1], width: .max / 2, height: .max / 2)
    }
  }
}

@Suite("PNG files of 16-bit values: filters by row, runs at any place")
struct PNGDepthTests {
  @Test(
    "Aligned depth comes back, whatever its zoom and noise", arguments: [1, 2, 3, 8], [0, 1, 5, 60])
  func comesBack(zoom: Int, noise: Int) throws {
    // One writer for all: nothing of an earlier picture may show.
    var writer = PNGWriter()
    for (width, height) in [(9, 5), (13, 40), (67, 31), (256, 192), (517, 300), (1296, 400)] {
      let depth = ZoomedDepth(zoom: zoom, noise: noise).picture(
        width: width, height: height)
      let file = try writer.encode(depth)
      #expect(try PNGReader.depth(in: file) == depth, "\(width)x\(height)")
      var fresh = PNGWriter()
      #expect(try fresh.encode(depth) == file, "\(width)x\(height)")
    }
  }

  @Test(
    "compact comes back and is never larger than fast", arguments: [1, 2, 8], [0, 1, 60])
  func compact(zoom: Int, noise: Int) throws {
    var (compact, fast) = (PNGWriter(compression: .compact), PNGWriter(compression: .fast))
    for (width, height) in [(9, 5), (67, 31), (256, 192), (517, 130)] {
      let depth = ZoomedDepth(zoom: zoom, noise: noise).picture(
        width: width, height: height)
      let file = try compact.encode(depth)
      #expect(try PNGReader.depth(in: file) == depth, "\(width)x\(height)")
      #expect(try file.count <= fast.encode(depth).count, "\(width)x\(height)")
    }
  }

  @Test("Rows that repeat the one above cost a bit of the first")
  func repeatedRows() throws {
    var random = SeededGenerator(seed: 4)
    let rows = (0..<20).map { _ in
      (0..<640).map { _ in UInt16.random(in: 2000..<2040, using: &random) }
    }
    func size(times: Int) throws -> Int {
      let values = rows.flatMap { row in (0..<times).flatMap { _ in row } }
      var writer = PNGWriter()
      return try writer.encode(gray16: values, width: 640, height: 20 * times).count
    }
    #expect(try Double(size(times: 8)) < 1.1 * Double(size(times: 1)))
  }

  @Test("Runs of every short length, at even and odd places, between other values, come back")
  func shortRuns() throws {
    var writer = PNGWriter()
    for seed in UInt64(0)..<40 {
      var random = SeededGenerator(seed: seed)
      var values: [UInt16] = []
      // Differences that repeat are runs after prediction; a high byte that stays makes runs of odd length.
      var value = 3000
      while values.count < 300 * 20 {
        let step = Int.random(in: -3...3, using: &random) * (seed % 3 == 0 ? 256 : 1)
        for _ in 0..<Int.random(in: 1...9, using: &random) {
          value = min(max(value + step, 0), 65_535)
          values.append(UInt16(value))
        }
      }
      let depth = DepthImage(width: 300, height: 20, millimeters: Array(values[..<6000]))
      #expect(try PNGReader.depth(in: writer.encode(depth)) == depth, "seed \(seed)")
    }
  }
}
