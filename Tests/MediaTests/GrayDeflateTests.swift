import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite("Repeating gray pixels")
struct GrayDeflateTests {
  static let filters: [ScanlineFilter] = [.sub, .up, .paeth]

  /// One pixel wide or high, odd sides, around the steps of the loops, several blocks, rows longer than the
  /// window and than what is looked up at once.
  static let sizes =
    (1...20).map { ($0, 5) } + [(1, 90), (90, 1), (333, 61), (700, 520), (4097, 13), (11_000, 5)]

  @Test(
    "Pictures come back pixel for pixel, whatever they hold, and are never larger than stored",
    arguments: filters)
  func roundTrip(filter: ScanlineFilter) throws {
    var deflate = GrayDeflate()
    for (width, height) in Self.sizes {
      for image in Self.pictures(width: width, height: height) {
        let file = try Self.file(image, filter, &deflate)
        #expect(try PNGReader.color(in: file) == image, "\(width)x\(height)")
        #expect(file.count <= PNGWriterTests.largestFile(width * height * 3, height: height))
      }
    }
  }

  @Test("Wide vectors give the same bytes", .enabled(if: GrayFinder.hasWide))
  func sameOnAllProcessors() throws {
    var plain = GrayDeflate(isWide: false)
    var wide = GrayDeflate(isWide: true)
    var choices = [false, true].map { EncodingStrategy(.fast, isWide: $0) }
    for (width, height) in Self.sizes {
      for image in Self.pictures(width: width, height: height) {
        let expected = try Self.file(image, .paeth, &plain)
        #expect(try Self.file(image, .paeth, &wide) == expected, "\(width)x\(height)")
        #expect(
          image.withLines { choices[0].estimates(of: &$0) }
            == image.withLines { choices[1].estimates(of: &$0) })
      }
    }
  }

  /// Video with and without clipped channels and with a band of noise in between, noise, gray noise over all
  /// values and over few, and one color.
  static func pictures(width: Int, height: Int) -> [ColorImage] {
    var random = SeededGenerator(seed: UInt64(width &* 31 &+ height))
    let count = width * height * 3
    func gray(_ mask: UInt64) -> ColorImage {
      var rgb = [UInt8](repeating: 0, count: count)
      for pixel in stride(from: 0, to: count, by: 3) {
        let value = UInt8(truncatingIfNeeded: random.next() & mask)
        (rgb[pixel], rgb[pixel + 1], rgb[pixel + 2]) = (value, value, value)
      }
      return ColorImage(width: width, height: height, rgb: rgb)
    }
    let noise = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    return VideoContent.allCases.map { $0.picture(width: width, height: height) } + [
      ColorImage(width: width, height: height, rgb: noise),
      gray(255), gray(3),
      ColorImage(width: width, height: height, rgb: [UInt8](repeating: 200, count: count)),
    ]
  }

  /// The picture as a file, whichever way would be chosen.
  static func file(
    _ image: ColorImage, _ filter: ScanlineFilter, _ deflate: inout GrayDeflate
  ) throws -> [UInt8] {
    let lineBytes = image.width * 3 + 1
    let capacity =
      PixelDeflate.largestBytes(lineBytes: lineBytes, height: image.height)
      + PNGChunks.overheadBytes(nil)
    var file = [UInt8](repeating: 0, count: capacity)
    let count = try #require(
      image.withLines { lines in
        file.withUnsafeMutableBufferPointer { file -> Int in
          guard let start = file.baseAddress else { return 0 }
          let bytes = deflate.compress(
            &lines, evenFilter: filter,
            to: UnsafeMutableRawPointer(start + PNGChunks.bytesBeforeData(nil)))
          return PNGChunks.finish(
            file, .rgb8, width: image.width, height: image.height, dataBytes: bytes, color: nil,
            notes: [])
        }
      })
    return Array(file[..<count])
  }
}

/// What is found is compared with a search that looks at everything.
@Suite("Where gray pixels were last")
struct GrayFinderTests {
  /// Widths around the steps of the loops; one row longer than all places that can be told apart.
  @Test(
    "Every pixel is found where it was last, pairs before single ones",
    arguments: [1, 2, 3, 4, 15, 16, 17, 33, 700, 4097, 24_000],
    GrayFinder.hasWide ? [false, true] : [false])
  func lastPlaces(width: Int, isWide: Bool) {
    for kinds in [2, 9, 127] {
      check(width: width, rows: min(40, max(3, 40_000 / width)), kinds: kinds, isWide: isWide)
    }
  }

  private func check(width: Int, rows: Int, kinds: Int, isWide: Bool) {
    var random = SeededGenerator(seed: UInt64(width * 1000 + kinds))
    let lineBytes = 3 * width + 1
    var stream: [UInt8] = []
    for _ in 0..<rows {
      stream.append(2)
      for _ in 0..<width {
        let isGray = random.next() % 8 != 0
        let value = Int(random.next() % UInt64(kinds)) - kinds / 2
        // Values that are looked up are 1 … 127 after 64 are added.
        for channel in 0..<3 {
          stream.append(UInt8(truncatingIfNeeded: value + (isGray ? 0 : channel)))
        }
      }
    }
    stream += [0, 0]
    var finder = GrayFinder()
    finder.begin(width: width)
    var distances = [UInt16](repeating: 0, count: width + GrayFinder.slack)
    var steps = [UInt8](repeating: 0, count: width + GrayFinder.slack)
    var reference = LastPlaces()
    // What the second half finds must not lie in the first row.
    let floor = lineBytes
    for row in 0..<rows {
      let place = row * lineBytes + 1
      let lowest = row * 2 < rows ? 0 : floor
      stream.withUnsafeBufferPointer { stream in
        guard let start = stream.baseAddress else { return }
        finder.find(
          start + place, at: place, floor: lowest, isWide: isWide, distances: &distances,
          steps: &steps)
      }
      let expected = reference.row(stream, place: place, width: width, floor: lowest)
      #expect(Array(distances[..<width]) == expected.map(\.distance), "row \(row), \(kinds) kinds")
      #expect(
        zip(steps, expected).allSatisfy { ($0 > 1) == $1.isPair }, "row \(row), \(kinds) kinds")
      for x in 0..<width where steps[x] > 1 {
        let begin = place + 3 * x
        #expect(x + Int(steps[x]) <= width)
        let isRepeated = (0..<3 * Int(steps[x])).allSatisfy {
          stream[begin + $0] == stream[begin + $0 - Int(distances[x])]
        }
        #expect(isRepeated, "row \(row), pixel \(x)")
      }
    }
  }
}

/// Finds last places by dictionaries.
private struct LastPlaces {
  private var pairs: [[UInt8]: Int] = [:]
  private var singles: [UInt8: Int] = [:]

  mutating func row(
    _ stream: [UInt8], place: Int, width: Int, floor: Int
  ) -> [(distance: UInt16, isPair: Bool)] {
    (0..<width).map { x in
      let here = place + 3 * x
      let reach = min(32_768, place - floor)
      var found = (distance: UInt16(0), isPair: false)
      guard let first = code(stream, here) else { return found }
      if let last = singles[first], here - last < min(reach, 4099) {
        found.distance = UInt16(here - last)
      }
      singles[first] = here
      if x + 1 < width, let second = code(stream, here + 3) {
        if let last = pairs[[first, second]], here - last < reach {
          found = (UInt16(here - last), true)
        }
        pairs[[first, second]] = here
      }
      return found
    }
  }

  private func code(_ stream: [UInt8], _ place: Int) -> UInt8? {
    let value = stream[place]
    guard stream[place + 1] == value, stream[place + 2] == value else { return nil }
    let code = value &+ 64
    return (1...127).contains(code) ? code : nil
  }
}

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

@Suite("Huffman codes")
struct PNGHuffmanTests {
  @Test("A code is the shortest possible when the limit does not bind")
  func shortestCode() {
    var code = HuffmanCode()
    code.build(counts: [5, 9, 12, 13, 16, 45], limit: 12)
    #expect(code.lengths == [4, 4, 3, 3, 3, 1])
    #expect(code.bitCount(of: [5, 9, 12, 13, 16, 45]) == 224)
  }

  @Test("Codes are complete, within the limit and prefixes of none other", arguments: 0..<60)
  func codesAreComplete(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var counts = [UInt32](repeating: 0, count: 286)
    let used = 2 + Int(random.next() % 285)
    for _ in 0..<used {
      // From equal counts to ones that would give codes of forty bits.
      let magnitude = random.next() % 31
      counts[Int(random.next() % 286)] = 1 + UInt32(random.next() % (1 << magnitude))
    }
    for limit in [12, 15] {
      var code = HuffmanCode()
      code.build(counts: counts, limit: limit)
      let lengths = code.lengths.map(Int.init)
      #expect(lengths.max() ?? 0 <= limit)
      #expect(zip(counts, lengths).allSatisfy { $0 == 0 || $1 > 0 })
      var places = 0
      for length in lengths where length > 0 { places += 1 << (limit - length) }
      #expect(places == 1 << limit)
      // Complete and all different when cut to the shorter length: no code begins another.
      var seen = Set<Int>()
      for (symbol, length) in lengths.enumerated() where length > 0 {
        for rest in 0..<(1 << (limit - length)) {
          let isNew = seen.insert(Int(code.codes[symbol]) | rest << length).inserted
          #expect(isNew)
        }
      }
      #expect(seen.count == 1 << limit)
    }
  }

  @Test("Fibonacci counts, the deepest tree there is, are held to the limit")
  func deepestTree() {
    var counts: [UInt32] = [1, 1]
    while counts.count < 40 { counts.append(counts[counts.count - 1] + counts[counts.count - 2]) }
    for limit in [6, 7, 12, 15] {
      var code = HuffmanCode()
      code.build(counts: counts, limit: limit)
      #expect(code.lengths.map(Int.init).max() == limit)
      var places = 0
      for length in code.lengths { places += 1 << (limit - Int(length)) }
      #expect(places == 1 << limit)
    }
  }

  @Test("A single symbol gets a partner", arguments: [0, 1, 5])
  func singleSymbol(symbol: Int) {
    var counts = [UInt32](repeating: 0, count: 19)
    counts[symbol] = 7
    var code = HuffmanCode()
    code.build(counts: counts, limit: 7)
    #expect(code.lengths[symbol] == 1)
    #expect(code.lengths.filter { $0 > 0 } == [1, 1])
  }
}

@Suite("Choosing how a picture is written")
struct EncodingStrategyTests {
  /// A picture made for each way.
  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var image: ColorImage
    /// The filter of even rows for gray matches; `nil` for literals.
    var fast: ScanlineFilter?
    var compact: ScanlineFilter?
  }

  static let cases = [
    // What Sub does not predict, Paeth and Up do.
    Case(
      testDescription: "colors change from left to right",
      image: picture { x, _, noise in video(color: x / 2, noise) }, fast: .paeth,
      compact: .up),
    Case(
      testDescription: "colors change from top to bottom",
      image: picture { _, y, noise in video(color: y / 2, noise) }, fast: .sub,
      compact: .sub),
    Case(
      testDescription: "the same, overexposed",
      image: picture { _, y, noise in video(color: y / 2, noise, brightness: 225) },
      fast: .sub, compact: .sub),
    Case(
      testDescription: "noise in all channels",
      image: picture { _, _, noise in
        (0..<3).map { UInt8(truncatingIfNeeded: noise >> (8 * $0)) }
      }, fast: nil, compact: .up),
    Case(
      testDescription: "one color", image: picture { _, _, _ in [9, 9, 9] }, fast: nil,
      compact: nil),
    Case(
      testDescription: "too small to look at",
      image: VideoContent.plain.picture(width: 60, height: 60), fast: nil, compact: .up),
  ]

  @Test("The strategy is the one that the picture is made for", arguments: cases)
  func way(_ example: Case) {
    var choice = EncodingStrategy(.compact)
    #expect((example.image.withLines { choice.fastFilter(of: &$0) } ?? nil) == example.fast)
    #expect((example.image.withLines { choice.compactFilter(of: &$0) } ?? nil) == example.compact)
  }

  @Test("Bits are estimated within a sixth of what is written")
  func estimates() throws {
    for example in Self.cases {
      guard let filter = example.fast else { continue }
      let image = example.image
      var choice = EncodingStrategy(.fast)
      let estimated = try #require(
        image.withLines { choice.estimates(of: &$0) }?.first { $0.evenFilter == filter })
      var deflate = GrayDeflate()
      let written = try GrayDeflateTests.file(image, filter, &deflate).count * 8 * 1024
      let bits = written / (image.width * image.height)
      #expect(abs(estimated.bits - bits) * 6 < bits, "\(example.testDescription)")
    }
  }

  /// A pixel with the noise of a sensor, in one of many colors.
  private static func video(color: Int, _ noise: UInt64, brightness: Int = 120) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(color))
    let luma = brightness + Int(noise % 7) + Int((noise >> 8) % 5)
    return (0..<3).map { _ in UInt8(clamping: luma + Int(random.next() % 50) - 25) }
  }

  private static func picture(_ pixel: (Int, Int, UInt64) -> [UInt8]) -> ColorImage {
    var random = SeededGenerator(seed: 7)
    let (width, height) = (400, 200)
    var rgb: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width { rgb += pixel(x, y, random.next()) }
    }
    return ColorImage(width: width, height: height, rgb: rgb)
  }
}
