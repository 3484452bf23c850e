@testable import Media
import Glibc
import Testing

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
