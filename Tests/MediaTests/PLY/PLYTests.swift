@testable import Media
import TestSupport
import Testing

@Suite("PLY point clouds")
struct PLYTests {
  static let layouts: [PLYLayout] = [
    PLYLayout(), PLYLayout(hasColor: true),
    PLYLayout(hasColor: true, hasConfidence: true, hasFrame: true, comments: ["meters"]),
    PLYLayout(hasDoubleCoordinates: true, hasFrame: true, comments: ["two\nlines", "ümlaut"]),
  ]

  static func points(_ layout: PLYLayout) -> PLYPoints {
    var points = PLYPoints(layout)
    points.append(x: 0.1, y: -2.5, z: 3, color: (1, 2, 3), confidence: 7, frame: 0)
    points.append(
      x: 12_345.678901, y: 1e-9, z: -0.0, color: (255, 0, 128), confidence: 255, frame: 1_000_000)
    points.append(x: 1, y: 2, z: 3, frame: Int.max)
    return points
  }

  @Test("What is written is read back, property by property", arguments: layouts)
  func roundTrip(layout: PLYLayout) throws {
    let points = Self.points(layout)
    #expect(points.count == 3)
    let cloud = try ParsedPLY(layout.header(points: points.count) + points.bytes)
    #expect(cloud.count == 3)
    let coordinates =
      layout.hasDoubleCoordinates
      ? [0.1, 12_345.678901, 1]
      : [0.1, 12_345.678901, 1]
        .map { Double(Float($0)) }
    #expect(cloud["x"] == coordinates)
    #expect(cloud["y"] == [-2.5, layout.hasDoubleCoordinates ? 1e-9 : Double(Float(1e-9)), 2])
    #expect(cloud["z"] == [3, 0, 3])
    #expect(cloud["red"] == (layout.hasColor ? [1, 255, 0] : nil))
    #expect(cloud["blue"] == (layout.hasColor ? [3, 128, 0] : nil))
    #expect(cloud["confidence"] == (layout.hasConfidence ? [7, 255, 0] : nil))
    #expect(cloud["frame"] == (layout.hasFrame ? [0, 1_000_000, Double(Int32.max)] : nil))
    #expect(cloud.comments.count == layout.comments.count + 1)
  }

  @Test("The header has one length for every number of points", arguments: layouts)
  func headerLength(layout: PLYLayout) {
    let lengths = [0, 1, 9, 10, 12_345, 9_999_999_999, Int.max].map {
      layout.header(points: $0).count
    }
    #expect(Set(lengths).count == 1)
  }

  @Test("Memory is reused from frame to frame")
  func restart() {
    var points = Self.points(PLYLayout(hasColor: true))
    points.restart(reserving: 2)
    #expect(points.count == 0)
    points.append(x: 1, y: 2, z: 3)
    #expect(points.bytes.count == 15)
  }
}
