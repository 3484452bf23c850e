@testable import Media
import TestSupport
import Testing

@Suite("OpenEXR files")
struct EXRReaderTests {
  private func expectWhole(_ sample: EXRSample, _ channel: String = "R") throws {
    let picture = try EXRReader.picture(in: try sample.make())
    #expect(picture.width == sample.width)
    #expect(picture.height == sample.height)
    for row in 0..<sample.height {
      for column in 0..<sample.width {
        #expect(picture.values[row * sample.width + column] == sample.value(channel, column, row))
      }
    }
  }

  @Test(
    "Every compression, kind of number and order of lines",
    arguments: [0, 1, 2, 3], [1, 2])
  func forms(compression: Int, kind: Int) throws {
    for isDecreasing in [false, true] {
      for hasWrongTable in [false, true] {
        for storesRaw in [false, true] {
          var sample = EXRSample()
          sample.channels = [("R", kind)]
          sample.compression = compression
          (sample.isDecreasing, sample.hasWrongTable) = (isDecreasing, hasWrongTable)
          sample.storesRaw = storesRaw
          (sample.firstLine, sample.firstColumn) = (-3, 9)
          try expectWhole(sample)
          #expect(try EXRReader.picture(in: try sample.make()).isHalf == (kind == 1))
        }
      }
    }
  }

  @Test(
    "The channel with the depth",
    arguments: [
      (["R"], "R"), (["B", "G", "R", "A"], "R"), (["A", "Y"], "Y"), (["A", "Z"], "Z"),
      (["depth.V"], "depth.V"), (["Z", "Y"], "Y"),
    ])
  func channels(names: [String], expected: String) throws {
    for kinds in [[1, 2, 1, 2], [2, 1, 0, 1]] {
      var sample = EXRSample()
      sample.channels = zip(names, kinds).map { name, kind in
        (name, name == expected ? max(kind, 1) : kind)
      }
      sample.value = { channel, column, row in
        channel == expected ? Float(column * row) : -2
      }
      try expectWhole(sample, expected)
    }
  }

  @Test("NaN and infinities stay as stored")
  func specials() throws {
    var sample = EXRSample()
    sample.value = { _, column, _ in [.nan, .infinity, -.infinity, -1, 0][column] }
    let values = try EXRReader.picture(in: try sample.make()).values.prefix(5)
    #expect(values[0].isNaN)
    #expect(Array(values[1...]) == [.infinity, -.infinity, -1, 0])
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var change: @Sendable (inout EXRSample) -> Void
  }

  @Test(
    "What is not read is named",
    arguments: [
      Refusal(testDescription: "tiled") { $0.version |= 0x200 },
      Refusal(testDescription: "long names") { $0.version |= 0x400 },
      Refusal(testDescription: "deep") { $0.version |= 0x800 },
      Refusal(testDescription: "parts") { $0.version |= 0x1000 },
      Refusal(testDescription: "version 1") { $0.version = 1 },
      Refusal(testDescription: "PIZ") { $0.compression = 4 },
      Refusal(testDescription: "77") { $0.compression = 77 },
      Refusal(testDescription: "integers") { $0.channels = [("R", 0)] },
      Refusal(testDescription: "A, B") { $0.channels = [("A", 1), ("B", 1)] },
      Refusal(testDescription: "it has none") { $0.channels = [] },
      Refusal(testDescription: "less than one number") { $0.sampling = 2 },
      Refusal(testDescription: "unknown kind 3") { $0.channels = [("R", 3)] },
    ])
  func refused(_ refusal: Refusal) throws {
    var sample = EXRSample()
    refusal.change(&sample)
    let bytes = try sample.make()
    let error = #expect(throws: ImageError.self) { try EXRReader.picture(in: bytes) }
    #expect(error?.what.contains(refusal.testDescription) == true, "\(error?.what ?? "")")
  }

  @Test("Sizes that the file cannot hold are refused before memory is used")
  func sizes() throws {
    for (width, height) in [(16_384, 16_384), (16_385, 1), (1, 1 << 30), (0, 5), (5, 0)] {
      var sample = EXRSample()
      sample.attributes = [
        (
          "dataWindow", "box2i",
          ScratchZIP.number(0, 4) + ScratchZIP.number(0, 4) + ScratchZIP.number(width - 1, 4)
            + ScratchZIP.number(height - 1, 4)
        )
      ]
      let bytes = try sample.make()
      #expect(throws: ImageError.self) { try EXRReader.picture(in: bytes) }
    }
  }

  @Test("A file cut anywhere is refused", arguments: [0, 1, 2, 3])
  func cut(compression: Int) throws {
    var sample = EXRSample()
    sample.compression = compression
    let bytes = try sample.make()
    for length in bytes.indices {
      #expect(throws: ImageError.self) { try EXRReader.picture(in: Array(bytes[..<length])) }
    }
  }

  @Test("Whatever is changed in a file, reading ends", arguments: [0, 1, 2, 3])
  func mutations(compression: Int) throws {
    var random = SeededGenerator(seed: UInt64(compression))
    var sample = EXRSample()
    sample.compression = compression
    sample.channels = [("A", 2), ("R", 1)]
    let bytes = try sample.make()
    for _ in 0..<Rounds.of(500, soak: 20_000) {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(
          in: 0..<(random.chance(2) ? changed.count : 300), using: &random)
        changed[place] = random.chance(3) ? 0xFF : UInt8.random(in: 0...255, using: &random)
      }
      guard let picture = try? EXRReader.picture(in: changed) else { continue }
      #expect(picture.values.count == picture.width * picture.height)
    }
  }
}
