import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

@Suite("The shift codec of the Structure Sensor")
struct StructureShiftTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var shifts: [UInt16]
    var payload: [UInt8]
    var testDescription: String { "\(shifts.count) pixels, \(payload.count) bytes" }
  }

  static let examples = [
    Example(shifts: Array(repeating: 0, count: 8), payload: [0x43]),
    Example(
      shifts: [1, 2, 1, 3, 1, 1, 900, 900, 900, 900, 900, 900],
      payload: [0xf9, 0xac, 0x1d, 0xc2, 0x20, 0x00]),
    Example(
      shifts: Array(repeating: 700, count: 42) + Array(repeating: 701, count: 41),
      payload: [0x75, 0x78, 0xbe, 0x81, 0xaf, 0x80, 0x00]),
    Example(
      shifts: [2047, 0, 2047, 2046, 2044, 1103, 1104, 1105],
      payload: [0x7f, 0xfe, 0xe0, 0x01, 0xff, 0xfc, 0xc7, 0x89, 0xfe]),
  ]

  @Test("Encoding gives the app's own bytes", arguments: examples)
  func encodes(example: Example) {
    #expect(StructureShift.encode(example.shifts) == example.payload)
  }

  @Test("Decoding gives the pixels back", arguments: examples)
  func decodes(example: Example) {
    let result = decodeShifts(example.payload, pixels: example.shifts.count)
    #expect(result.outcome == .success(example.payload.count))
    #expect(result.shifts == example.shifts)
  }

  @Test("Every shorter payload ends early", arguments: examples)
  func truncated(example: Example) {
    for length in 0..<example.payload.count {
      let result = decodeShifts(Array(example.payload[..<length]), pixels: example.shifts.count)
      guard case .failure(let damage) = result.outcome else {
        Issue.record("\(length) bytes were taken for a whole payload")
        continue
      }
      #expect(damage.reason == .endsEarly)
      #expect(damage.bitOffset <= length * 8)
    }
  }

  @Test("A byte too many is corrupt, and the frame before it readable", arguments: examples)
  func bytesLeft(example: Example) {
    let longer = example.payload + [0]
    let strict = decodeShifts(longer, pixels: example.shifts.count)
    #expect(
      strict.outcome
        == .failure(
          StructureShiftDamage(
            reason: .bytesLeft, pixel: example.shifts.count,
            bitOffset: example.payload.count * 8)))
    let prefix = decodeShifts(longer, pixels: example.shifts.count, prefix: true)
    #expect(prefix.outcome == .success(example.payload.count))
    #expect(prefix.shifts == example.shifts)
  }

  @Test("Padding bits may be anything")
  func padding() {
    // One pixel of value 1, then six bits that mean nothing.
    #expect(decodeShifts([0b1111_1111], pixels: 1).outcome == .success(1))
    #expect(decodeShifts([0b1100_0001], pixels: 1).shifts == [1])
  }

  @Test("A run may end at the last pixel but not behind it", arguments: [5, 36])
  func runAtTheEnd(length: Int) {
    let payload = [UInt8(0b0100_0000) | UInt8(length - 5)]
    #expect(decodeShifts(payload, pixels: length).outcome == .success(1))
    for pixels in 1..<length {
      #expect(
        decodeShifts(payload, pixels: pixels).outcome
          == .failure(StructureShiftDamage(reason: .runPassesEnd, pixel: 0, bitOffset: 0)))
    }
  }

  @Test("The predictor wraps at sixteen bits")
  func wraps() {
    #expect(decodeShifts([0b1010_1100], pixels: 4).shifts == [65535, 65534, 65535, 65535])
    #expect(decodeShifts([0b0110_0110], pixels: 2).shifts == [65534, 65535])
  }

  @Test("Frames with every code and run length survive a round trip", arguments: 0..<40)
  func roundTrip(seed: Int) {
    var noise = SeededGenerator(seed: UInt64(seed))
    let frame = noise.frame(pixels: 1 + seed * 97)
    let payload = StructureShift.encode(frame)
    #expect(StructureShift.payloadBytes(pixelCount: frame.count).contains(payload.count))
    let result = decodeShifts(payload, pixels: frame.count)
    #expect(result.outcome == .success(payload.count))
    #expect(result.shifts == frame)
  }

  @Test("Random bytes decode as a plain reader decodes them, or are refused as it refuses them")
  func randomBytes() {
    var noise = SeededGenerator(seed: 2017)
    for round in 0..<3000 {
      let length = Int.random(in: 0...120, using: &noise)
      let payload = (0..<length).map { _ in UInt8.random(in: 0...255, using: &noise) }
      let pixels = Int.random(in: 1...400, using: &noise)
      let plain = decodePlainly(payload, pixels: pixels)
      let result = decodeShifts(payload, pixels: pixels, prefix: true)
      if let plain {
        #expect(result.outcome == .success((plain.bits + 7) / 8), "round \(round)")
        #expect(result.shifts == plain.shifts, "round \(round)")
      } else if case .success = result.outcome {
        Issue.record("round \(round): damage was not seen")
      }
    }
  }

  @Test("A flipped bit never goes past the frame")
  func flips() {
    var noise = SeededGenerator(seed: 5)
    let frame = noise.frame(pixels: 640)
    let payload = StructureShift.encode(frame)
    for position in payload.indices {
      var damaged = payload
      damaged[position] ^= UInt8(1) << UInt8(position % 8)
      let plain = decodePlainly(damaged, pixels: frame.count)
      let result = decodeShifts(damaged, pixels: frame.count, prefix: true)
      if let plain {
        #expect(result.shifts == plain.shifts)
      } else if case .success = result.outcome {
        Issue.record("damage at byte \(position) was not seen")
      }
    }
  }

  @Test("An empty frame is an empty payload")
  func empty() {
    #expect(StructureShift.encode([]) == [])
    #expect(decodeShifts([], pixels: 0).outcome == .success(0))
  }

  @Test("Values beyond eleven bits are stored as the sensor's nothing")
  func clamps() {
    #expect(
      StructureShift.encode([2048, 65535]) == StructureShift.encode([2047, 2047]))
  }

  @Test(
    "A payload has between 36 pixels a byte and 15 bits a pixel",
    arguments: zip(
      [0, 1, 8, 36, 37, 640 * 480, .max],
      [0...0, 1...2, 1...15, 1...68, 2...70, 8534...576_000, 256_204_778_801_521_551...(.max)]))
  func bounds(pixels: Int, expected: ClosedRange<Int>) {
    #expect(StructureShift.payloadBytes(pixelCount: pixels) == expected)
  }
}

@Suite("Shifts to millimeters")
struct StructureShiftTableTests {
  @Test(
    "The table holds the sensor's distances",
    arguments: zip(
      [0, 1, 100, 500, 613, 614, 615, 800, 1000, 1100, 1103, 1104, 2047, 2048, 65535],
      [0, 264, 289, 472, 574, 575, 577, 895, 2224, 8612, 9424, 0, 0, 0, 0]))
  func entries(shift: UInt16, millimeters: UInt16) {
    #expect(StructureShift.millimeters(ofShift: shift) == millimeters)
  }

  @Test("All entries together have the known digest")
  func digest() {
    #expect(StructureShift.millimeters.count == 2048)
    #expect(
      Digest(ofPixels: StructureShift.millimeters).hex
        == "f04848787857b3c217eb691e6e539ac2f96dd121d697ba5d211478ae73f795c6")
  }

  @Test("Converting a picture agrees with the single lookup for every possible value")
  func wholePicture() {
    let shifts = (0...UInt16.max).map { $0 }
    var pixels = shifts
    var span = pixels.mutableSpan
    StructureShift.convertToMillimeters(&span)
    #expect(pixels == shifts.map(StructureShift.millimeters(ofShift:)))
    #expect(pixels[2048...].allSatisfy { $0 == 0 })
  }
}

@Suite("Recorded shift frames", .enabled(if: Fixtures.arePresent, "needs ../shared/fixtures"))
struct StructureShiftFixtureTests {
  static let pixels = 640 * 480

  struct Expected: Decodable {
    var depthSha256: [String?]
  }

  /// The payloads that the lengths in front of them give.
  static func payloads(of fixture: FixtureCase) throws -> [[UInt8]] {
    let listed = try FileSystem.names(in: fixture.capture)
    let name = try #require(listed.first { $0.hasSuffix(".depth") })
    let bytes = [UInt8](try fixture.bytes(of: "capture/\(name)"))
    let sizes = StructureShift.payloadBytes(pixelCount: pixels)
    var payloads: [[UInt8]] = []
    var offset = 0
    while let length = bytes.span.bytes.littleEndian(UInt32.self, at: offset).map(Int.init),
      sizes.contains(length), offset + 4 + length <= bytes.count
    {
      payloads.append(Array(bytes[(offset + 4)..<(offset + 4 + length)]))
      offset += 4 + length
    }
    return payloads
  }

  @Test(
    "Every undamaged frame has the expected millimeters and encodes to the same bytes again",
    arguments: Fixtures.cases(of: "scannet"))
  func decodes(fixture: FixtureCase) throws {
    let expected = try fixture.json(Expected.self, from: "expected.json").depthSha256
    let payloads = try Self.payloads(of: fixture)
    #expect(payloads.count >= expected.compactMap { $0 }.count)
    for (payload, expected) in zip(payloads, expected) {
      var result = decodeShifts(payload, pixels: Self.pixels)
      guard let expected else {
        guard case .failure = result.outcome else {
          Issue.record("a damaged frame was taken for a good one")
          continue
        }
        continue
      }
      #expect(result.outcome == .success(payload.count))
      #expect(StructureShift.encode(result.shifts) == payload)
      var span = result.shifts.mutableSpan
      StructureShift.convertToMillimeters(&span)
      #expect(Digest(ofPixels: result.shifts).hex == expected)
    }
  }
}

extension SeededGenerator {
  /// A frame with every kind of code in it: small steps, jumps, runs of all lengths.
  mutating func frame(pixels count: Int) -> [UInt16] {
    var shifts: [UInt16] = []
    var value = 0
    while shifts.count < count {
      switch Int.random(in: 0..<8, using: &self) {
      case 0: value = Int.random(in: 0...2047, using: &self)
      case 1:
        let run = Int.random(in: 1...90, using: &self)
        for _ in 0..<run { shifts.append(UInt16(value)) }
      default: value = min(max(value + Int.random(in: -3...3, using: &self), 0), 2047)
      }
      shifts.append(UInt16(value))
    }
    return Array(shifts.prefix(count))
  }
}

/// The decoder as the table of codes reads, bit by bit: slow and plain, to compare with.
func decodePlainly(_ payload: [UInt8], pixels: Int) -> (shifts: [UInt16], bits: Int)? {
  var shifts: [UInt16] = []
  var position = 0
  var predictor: UInt16 = 0
  func take(_ count: Int) -> Int? {
    guard position + count <= payload.count * 8 else { return nil }
    var value = 0
    for _ in 0..<count {
      value = value << 1 | Int(payload[position / 8] >> UInt8(7 - position % 8) & 1)
      position += 1
    }
    return value
  }
  while shifts.count < pixels {
    guard let first = take(2) else { return nil }
    switch first {
    case 0b00: shifts.append(predictor)
    case 0b10, 0b11:
      predictor = first == 0b11 ? predictor &+ 1 : predictor &- 1
      shifts.append(predictor)
    default:
      guard let third = take(1) else { return nil }
      if third == 0 {
        guard let length = take(5) else { return nil }
        for _ in 0..<(length + 5) { shifts.append(predictor) }
      } else {
        guard let fourth = take(1) else { return nil }
        if fourth == 1 {
          guard let value = take(11) else { return nil }
          predictor = UInt16(value)
        } else {
          guard let sign = take(1) else { return nil }
          predictor = sign == 1 ? predictor &+ 2 : predictor &- 2
        }
        shifts.append(predictor)
      }
    }
  }
  return shifts.count == pixels ? (shifts, position) : nil
}

/// Decodes with the decoder under test into a buffer that held something else before.
func decodeShifts(
  _ payload: [UInt8], pixels: Int, prefix: Bool = false
) -> (outcome: Result<Int, StructureShiftDamage>, shifts: [UInt16]) {
  var shifts = [UInt16](repeating: 0xABCD, count: pixels)
  var target = shifts.mutableSpan
  let bytes = payload.span.bytes
  do throws(StructureShiftDamage) {
    if prefix {
      return (.success(try StructureShift.decodePrefix(of: bytes, into: &target)), shifts)
    }
    try StructureShift.decode(bytes, into: &target)
    return (.success(payload.count), shifts)
  } catch {
    return (.failure(error), shifts)
  }
}
