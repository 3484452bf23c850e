import StageSupport
import SystemPackage
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

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

  @Test("The scale is below the pictures")
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

  /// A capture whose six frames have times, with a motion sensor around them.
  private func moving(_ capture: Capture) -> Capture {
    var capture = capture
    capture.frames = (0..<6).map { frame in
      CaptureFrame(timestamp: Timestamp(nanoseconds: Int64(frame) * 100_000_000))
    }
    let samples = (0..<100).map { number in
      IMUSample(
        timestamp: Timestamp(nanoseconds: Int64(number) * 10_000_000), sensor: 0,
        x: Double(number % 10), y: 0, z: -9.8)
    }
    capture.imu = .present(
      IMUStream.sorting(
        samples, sensorNames: ["accelerometer"], description: .untold, convention: .coremotion
      ).stream)
    return capture
  }

  @Test("Without depth one sheet of frames; with a motion sensor a strip of it, for any capture")
  func withoutDepth() throws {
    let scene = BoardScene()
    let bench = try StageBench(moving(scene.capture))
    let pictures = try bench.color([scene.color, nil, scene.color, scene.color])
    let output = try bench.run(Preview.self, inputs: ["color": pictures])
    #expect(output.names == ["imu.png", "sheet.png"])
    #expect(output.result.frames == 3)
    #expect(try PNGReader.color(at: output.file("imu.png")).width == 1288)
    let nothing = try StageBench(moving(scene.capture))
    #expect(try nothing.run(Preview.self).names == ["imu.png"])
  }

  @Test("Depth that is not aligned is drawn next to color, depth without color alone")
  func notAligned() throws {
    let scene = BoardScene()
    let bench = try StageBench(scene.capture)
    let depth = try bench.depthPictures([scene.depth, nil, scene.depth], as: "depth")
    let pictures = try bench.color([scene.color, scene.color, scene.color])
    let both = try bench.run(
      Preview.self, as: "both", inputs: ["color": pictures, "depth": depth])
    #expect(both.names == ["000000.png", "000002.png"])
    #expect(try PNGReader.color(at: both.file("000000.png")).width == 240 + 8 + 80)
    let alone = try bench.run(Preview.self, as: "alone", inputs: ["depth": depth])
    #expect(try PNGReader.color(at: alone.file("000000.png")).width == 80)
  }

  @Test("A picture that cannot be read is left out; only when none can be has the stage failed")
  func damaged() throws {
    let scene = BoardScene()
    let bench = try StageBench(scene.capture)
    let aligned = try bench.depthPictures(
      Array(repeating: DepthImage(width: 240, height: 180), count: 3))
    let pictures = try bench.color([scene.color, scene.color, scene.color])
    let inputs = ["color": pictures, "aligned": aligned]
    // Nothing is measured at all, and yet there are pictures.
    #expect(try bench.run(Preview.self, as: "whole", inputs: inputs).names.count == 3)
    for artifact in [pictures, aligned] {
      try OutputFile.write(Array("no picture".utf8), to: artifact.folder.appending("000001.png"))
    }
    #expect(
      try bench.run(Preview.self, as: "one", inputs: inputs).names == ["000000.png", "000002.png"])
    for artifact in [pictures, aligned] {
      for name in ["000000.png", "000002.png"] {
        try OutputFile.write([], to: artifact.folder.appending(name))
      }
    }
    #expect(throws: ImageError.self) {
      try bench.run(Preview.self, as: "none", inputs: inputs)
    }
    // The pictures were recorded and are not there.
    #expect(throws: StageDoesNotApply("there is no picture to show: those of color were not made"))
    {
      try bench.run(Preview.self, as: "nothing")
    }
  }

  @Test(
    "At most one frame in as many as spacing says, but two where there are two",
    arguments: [(1000, 8, 100, 8), (300, 8, 100, 3), (30, 8, 100, 2), (1, 8, 100, 1), (0, 8, 1, 0)])
  func spacing(frames: Int, most: Int, spacing: Int, count: Int) {
    let chosen = Array(0..<frames).evenly(
      Preview.count(of: frames, count: most, spacing: spacing))
    #expect(chosen.count == count)
    #expect(
      chosen.first == (frames == 0 ? nil : 0) && chosen.last == (frames == 0 ? nil : frames - 1))
  }
}

@Suite("Files of overview pictures")
struct DrawnSheetTests {
  @Test("A file of this program is distinguished from others, as PNG and as JPEG")
  func isOurs() throws {
    var picture = ColorImage(width: 64, height: 48)
    for index in picture.rgb.indices { picture.rgb[index] = UInt8(index % 251) }
    let sheet = DrawnSheet(picture: picture)
    let png = try sheet.encoded(asJPEG: false)
    let jpeg = try sheet.encoded(asJPEG: true)
    #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]) && jpeg.starts(with: [0xFF, 0xD8]))
    #expect(DrawnSheet.isOurs(png) && DrawnSheet.isOurs(jpeg))
    var plainPNG = PNGWriter()
    var plainJPEG = try JPEGWriter(quality: 80)
    var other: [UInt8] = []
    try plainJPEG.encode(rgb: picture.rgb, width: 64, height: 48, into: &other)
    for file in [try plainPNG.encode(picture), other, [], [0xFF, 0xD8], Array("text".utf8)] {
      #expect(!DrawnSheet.isOurs(file))
    }
    for length in 0..<min(png.count, 200) { _ = DrawnSheet.isOurs(Array(png.prefix(length))) }
  }
}
