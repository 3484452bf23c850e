import Captures
import Codecs
import Geometry
import Stages
import Storage
import Testing

@Suite("Preview pictures")
struct PreviewTests {
  private func preview(_ bench: StageBench, frames: String) throws -> StageBench.Output {
    let scene = BoardScene()
    let (depth, color) = (scene.depth, scene.color)
    let store = try bench.depth([depth, depth, nil, depth, depth, depth, depth])
    let aligned = try bench.run(AlignDepth.self, inputs: ["frames": store]).artifact
    let pictures = try bench.color([color, color, color, color, color, nil, color])
    return try bench.run(
      Preview.self, ["frames": frames], inputs: ["color": pictures, "aligned": aligned])
  }

  @Test("Evenly spaced frames that have color and depth, first and last included")
  func frames() throws {
    let bench = try StageBench(BoardScene().capture)
    let output = try preview(bench, frames: "3")
    // Frames 0, 1, 3, 4, 6 have both.
    #expect(output.names == ["000000.png", "000003.png", "000006.png"])
  }

  @Test(
    "Depth outlines stand on color outlines; a wrong direction puts them twice the parallax beside")
  func outlines() throws {
    /// Columns of outline pixels in the middle row, over the color half.
    func outlines(_ capture: Capture) throws -> [Int] {
      let bench = try StageBench(capture)
      let output = try preview(bench, frames: "1")
      let picture = try PNGReader.color(at: output.file(try #require(output.names.first)))
      #expect(picture.width == 2 * 240 + 8)
      return (0..<240).filter { x in
        let at = 3 * (90 * picture.width + x)
        return Array(picture.rgb[at..<(at + 3)]) == [255, 40, 200]
      }
    }
    let scene = BoardScene()
    // Edges of the board in the color picture's middle row.
    let edges = [-0.15, 0.25].map { (x: Double) in scene.colorPixel([x, 0, 1]).u }
    func distances(_ found: [Int]) -> [Double] {
      edges.map { edge in found.map { abs(Double($0) - edge) }.min() ?? .infinity }
    }
    // One depth pixel is three color pixels wide.
    for distance in distances(try outlines(scene.capture)) { #expect(distance < 4) }
    var wrong = scene.capture
    wrong.alignment?.colorFromDepth = scene.colorFromDepth.inverse
    // All outlines move 84 pixels (twice 0.2 m at 1 m) to the right: nothing is left at the left edge.
    #expect(try #require(distances(try outlines(wrong)).first) > 20)
  }

  @Test("The scale stands below the pictures")
  func scale() throws {
    let bench = try StageBench(BoardScene().capture)
    let output = try preview(bench, frames: "1")
    let picture = try PNGReader.color(at: output.file(try #require(output.names.first)))
    #expect(picture.height > 180)
    // White digits there, and nothing of it over the depth.
    func whites(_ rows: Range<Int>) -> Int {
      rows.reduce(0) { sum, y in
        sum
          + (248..<picture.width).count { x in
            let at = 3 * (y * picture.width + x)
            return picture.rgb[at..<(at + 3)].allSatisfy { $0 == 255 }
          }
      }
    }
    #expect(whites(0..<180) == 0)
    #expect(whites(180..<picture.height) > 100)
  }
}
