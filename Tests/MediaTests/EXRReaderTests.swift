import TestSupport
import Testing

@testable import Media

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

/// An OpenEXR file in the making.
struct EXRSample {
  /// Name and kind (0 integer, 1 half, 2 float), in the order of the header.
  var channels: [(name: String, kind: Int)] = [("R", 1)]
  var width = 5
  var height = 37
  var compression = 3
  var firstLine = 0
  var firstColumn = 0
  var isDecreasing = false
  var version = 2
  /// Whether blocks that shrink are stored as they are nonetheless.
  var storesRaw = false
  var hasWrongTable = false
  var sampling = 1
  var attributes: [(name: String, type: String, value: [UInt8])] = []
  /// The value of a channel at a place.
  var value: (_ channel: String, _ column: Int, _ row: Int) -> Float = { channel, column, row in
    channel == "R" ? Float(column + row) / 4 : -1
  }

  private func number(_ value: Int, _ bytes: Int = 4) -> [UInt8] { ScratchZIP.number(value, bytes) }
  private func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  private func attribute(_ name: String, _ type: String, _ value: [UInt8]) -> [UInt8] {
    text(name) + text(type) + number(value.count) + value
  }

  func make() throws -> [UInt8] {
    let lines = compression == 3 ? 16 : 1
    var bytes: [UInt8] = [0x76, 0x2F, 0x31, 0x01] + number(version)
    var list: [UInt8] = []
    for channel in channels {
      list += text(channel.name) + number(channel.kind) + number(0)
      list += number(sampling) + number(sampling)
    }
    list.append(0)
    bytes += attribute("channels", "chlist", list)
    bytes += attribute("compression", "compression", [UInt8(compression)])
    let window =
      number(firstColumn) + number(firstLine) + number(firstColumn + width - 1)
      + number(firstLine + height - 1)
    bytes += attribute("dataWindow", "box2i", window)
    bytes += attribute("displayWindow", "box2i", window)
    bytes += attribute("lineOrder", "lineOrder", [isDecreasing ? 1 : 0])
    for other in attributes { bytes += attribute(other.name, other.type, other.value) }
    bytes += [0]
    let tableStart = bytes.count
    let starts = Array(stride(from: 0, to: height, by: lines))
    bytes += [UInt8](repeating: 0, count: 8 * starts.count)
    for first in isDecreasing ? starts.reversed() : starts {
      var raw: [UInt8] = []
      for row in first..<min(first + lines, height) {
        for channel in channels.sorted(by: { $0.name < $1.name }) {
          for column in 0..<width {
            let value = value(channel.name, column, row)
            raw +=
              channel.kind == 1
              ? number(Int(Float16(value).bitPattern), 2) : number(Int(value.bitPattern))
          }
        }
      }
      let packed = try pack(raw)
      let offset = number(hasWrongTable ? 17 : bytes.count, 8)
      let place = tableStart + 8 * (first / lines)
      bytes.replaceSubrange(place..<place + 8, with: offset)
      bytes += number(firstLine + first) + number(packed.count) + packed
    }
    return bytes
  }

  private func pack(_ raw: [UInt8]) throws -> [UInt8] {
    if compression == 0 || storesRaw { return raw }
    var split = stride(from: 0, to: raw.count, by: 2).map { raw[$0] }
    split += stride(from: 1, to: raw.count, by: 2).map { raw[$0] }
    let steps = split.indices.map { (index: Int) -> UInt8 in
      index == 0 ? split[0] : split[index] &- split[index - 1] &+ 128
    }
    let packed =
      compression == 1
      ? runs(steps) : try DeflateEncoder.compress(steps, format: .zlib)
    return packed.count < raw.count ? packed : raw
  }

  private func runs(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = []
    var at = 0
    while at < bytes.count {
      var end = at
      while end < bytes.count, bytes[end] == bytes[at], end - at < 128 { end += 1 }
      if end - at > 2 {
        packed += [UInt8(end - at - 1), bytes[at]]
      } else {
        end = min(at + 3, bytes.count)
        packed += [UInt8(bitPattern: Int8(at - end))] + bytes[at..<end]
      }
      at = end
    }
    return packed
  }
}

@Suite("Half-precision numbers")
struct HalfFloatTests {
  /// Value by the definition of the format.
  private func value(_ bits: UInt16) -> Double {
    let sign = bits >> 15 == 1 ? -1.0 : 1.0
    let exponent = Int(bits >> 10 & 31)
    let fraction = Double(bits & 1023)
    return switch exponent {
    case 0: sign * fraction * 0x1p-24
    case 31: fraction == 0 ? sign * .infinity : .nan
    default: sign * (1024 + fraction) * Double(sign: .plus, exponent: exponent - 25, significand: 1)
    }
  }

  @Test("Every pattern has the value that the definition gives it")
  func everyPattern() {
    for bits in 0...UInt16.max {
      let defined = value(bits)
      for found in [HalfFloat.doubles[Int(bits)], Double(HalfFloat.single(bits))] {
        #expect(found == defined || (found.isNaN && defined.isNaN))
      }
    }
  }

  @Test(
    "Meters become millimeters, half away from zero, and 0 where there is no distance",
    arguments: [
      (0x0000, 0), (0x3C00, 1000), (0x4248, 3141), (0x3BFF, 1000), (0x5410, 65_000), (0x5420, 0),
      (0xBC00, 0), (0x7C00, 0), (0xFC00, 0), (0x7E00, 0), (0x0001, 0), (0x8000, 0), (0x1000, 0),
      (0x1019, 1),
    ])
  func millimeters(bits: Int, expected: Int) {
    #expect(Int(HalfFloat.millimeters[bits]) == expected)
  }
}
