@testable import Media
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Recorded shift frames", .enabled(if: Fixtures.arePresent, "needs ../shared/fixtures"))
struct StructureShiftFixtureTests {
  static let pixels = 640 * 480

  struct Expected: Decodable {
    var depthSha256: [String?]
  }

  /// The payloads that the lengths in front of them give.
  static func payloads(of fixture: FixtureCase) throws -> [[UInt8]] {
    let listed = try FileManager.default.contentsOfDirectory(atPath: fixture.capture.string)
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
        guard case .corrupt = result.outcome else {
          Issue.record("a damaged frame was taken for a good one")
          continue
        }
        continue
      }
      #expect(result.outcome == .decoded(bytesUsed: payload.count))
      #expect(StructureShiftEncoder.encode(result.shifts) == payload)
      var span = result.shifts.mutableSpan
      StructureShiftTable.convertToMillimeters(&span)
      #expect(Digest(ofPixels: result.shifts).hex == expected)
    }
  }
}
