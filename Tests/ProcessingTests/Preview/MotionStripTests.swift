@testable import Core
@testable import Processing
import Testing

@Suite("Motion over time")
struct MotionStripTests {
  private func series(
    _ times: [Double], gap: Int64 = 100_000_000, _ value: (Double) -> Double
  ) -> MotionSeries3 {
    var series = MotionSeries3(title: "acceleration", unit: "m/s²", gapNanoseconds: gap)
    for time in times {
      series.append(Int64(time * 1e9), value(time), 0, -1)
    }
    return series
  }

  /// Whether column `x` of the first panel has a pixel of the red line (the x axis of the sensor).
  private func hasLine(_ picture: ColorImage, _ x: Int) -> Bool {
    (14..<110).contains { y in
      let at = 3 * (y * picture.width + x)
      return Array(picture.rgb[at..<at + 3]) == [255, 96, 96]
    }
  }

  @Test("A gap in the samples is a gap in the line; between samples the line goes on")
  func gaps() throws {
    // 20 samples a second: one in ten columns.
    let times = (0..<40).map { Double($0) / 20 }.filter { !(0.8..<1.2).contains($0) }
    let picture = try #require(MotionStrip.draw([series(times) { $0 }], width: 400))
    for second in [0.1, 0.42, 0.7, 1.3, 1.83] {
      #expect(hasLine(picture, Int(second / 1.95 * 399)), "\(second)")
    }
    for second in [0.85, 1.0, 1.1] { #expect(!hasLine(picture, Int(second / 1.95 * 399))) }
  }

  @Test("Large is above small")
  func direction() throws {
    func row(_ picture: ColorImage, _ x: Int) throws -> Int {
      try #require(
        (14..<110).first { y in
          let at = 3 * (y * picture.width + x)
          return Array(picture.rgb[at..<at + 3]) == [255, 96, 96]
        })
    }
    let times = (0..<400).map { Double($0) / 100 }
    let picture = try #require(MotionStrip.draw([series(times) { $0 }], width: 300))
    #expect(try row(picture, 280) < row(picture, 150))
    #expect(try row(picture, 150) < row(picture, 20))
  }

  @Test("Nothing recorded, nothing drawn; what is odd is drawn somehow")
  func odd() throws {
    #expect(MotionStrip.draw([]) == nil)
    #expect(MotionStrip.draw([series([]) { $0 }]) == nil)
    #expect(MotionStrip.draw([series([5]) { _ in 1 }]) != nil)
    #expect(MotionStrip.draw([series([0, 1]) { $0 == 0 ? 1e300 : -1e300 }]) != nil)
    #expect(MotionStrip.draw([series([0, 1]) { _ in .nan }]) != nil)
    var far = series([0]) { $0 }
    far.append(.max, 1, 1, 1)
    #expect(MotionStrip.draw([far], frames: [.min, .max], shown: [0]) != nil)
  }

  @Test("The times of frames are marked below")
  func frames() throws {
    let times = (0..<100).map { Double($0) / 10 }
    let picture = try #require(
      MotionStrip.draw(
        [series(times) { _ in 0 }], frames: (50..<99).map { Int64($0) * 100_000_000 },
        shown: [7_000_000_000], width: 500))
    func color(_ x: Int, _ y: Int) -> UInt8 { picture.rgb[3 * ((110 + y) * picture.width + x)] }
    #expect((260..<490).contains { color($0, 4) == 130 })
    #expect(!(0..<240).contains { color($0, 4) == 130 })
    #expect(color(352, 7) == 255)
  }
}
