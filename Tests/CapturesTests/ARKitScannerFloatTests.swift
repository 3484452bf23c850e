@testable import Captures
@testable import Core
import Testing

@Suite("Float meters become millimeters")
struct ARKitScannerFloatTests {
  private func convert(_ meters: [Float]) -> (pixels: [UInt16], hasNonFinite: Bool) {
    let bytes = meters.flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian) { [UInt8]($0) } }
    var pixels: [UInt16] = []
    let found = ARKitScannerFloatDepth.convert(bytes.span.bytes, into: &pixels)
    #expect(found.tooFar == meters.count { $0 > 100 && $0.isFinite })
    return (pixels, found.hasNonFinite)
  }

  @Test("Nearest, half away from zero, 0 for what has no place")
  func table() {
    let meters: [Float] = [
      0, -0.0, 0.0004, 0.0005, 0.00050000002, 1.0625, 1.2345, 65.535, 65.5354, 65.5355, 65.5356, -1,
      -0.0004, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.49999997,
    ]
    let (pixels, hasNonFinite) = convert(meters)
    #expect(pixels == meters.map { millimeters(fromMeters: Double($0)) })
    #expect(pixels[5] == 1063)
    #expect(!hasNonFinite)
  }

  @Test("NaN and infinity are 0 and said", arguments: [Float.nan, .infinity, -.infinity])
  func nonFinite(value: Float) {
    let (pixels, hasNonFinite) = convert([1, value, 2])
    #expect(pixels == [1000, 0, 2000])
    #expect(hasNonFinite)
  }

  @Test("Every kind of bit pattern is converted as the definition says")
  func patterns() {
    var state: UInt64 = 5
    let meters = (0..<200_000).map { i -> Float in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // Half of them in the range of a room, the others anything.
      let bits = UInt32(truncatingIfNeeded: state >> 32)
      return i % 2 == 0 ? Float(bits % 65_600_000) / 1_000_000 : Float(bitPattern: bits)
    }
    #expect(convert(meters).pixels == meters.map { millimeters(fromMeters: Double($0)) })
  }
}
