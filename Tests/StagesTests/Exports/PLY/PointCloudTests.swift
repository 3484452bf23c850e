@testable import Captures
@testable import Media
@testable import Stages
import FoundationEssentials
@testable import Core
@testable import Engine
import StageSupport
import SystemPackage
import TestSupport
import Testing

@Suite("Point clouds")
struct PointCloudTests {
  /// Six poses, number 4 unknown; positions in meters.
  private static let poses: [Int: Pose] = Dictionary(
    uniqueKeysWithValues: [0, 1, 2, 3, 5].map { frame in
      (
        frame,
        Pose(
          position: [0.1 * Double(frame), -1, 2],
          orientation: Quaternion(x: 0.1, y: 0.05 * Double(frame), z: -0.2, w: 0.9))
      )
    })

  private static func parsed(_ output: StageBench.Output, _ name: String) throws -> ParsedPLY {
    try ParsedPLY(Array(output.file(name).data()))
  }

  private static func world(_ capture: Capture, _ poses: [Int: Pose] = poses) -> Capture {
    var capture = capture
    capture.poses = .poses(poses)
    return capture
  }

  private static func points(_ cloud: ParsedPLY) throws -> [[Double]] {
    let (x, y, z) = (
      try #require(cloud["x"]), try #require(cloud["y"]), try #require(cloud["z"])
    )
    return x.indices.map { [x[$0], y[$0], z[$0]] }
  }

  @Test("Points of the world lie on the scene's surfaces, in their colors, without what is hidden")
  func worldCloud() throws {
    let scene = BoardScene()
    let (depth, color) = (scene.depth, scene.color)
    let bench = try StageBench(Self.world(scene.capture))
    // Depth frame 2 is lost, picture 3 too, pose 4 is unknown.
    let frames = try bench.depth([depth, depth, nil, depth, depth, depth])
    let pictures = try bench.color([color, color, color, nil, color, color])
    let output = try bench.run(
      ExportPLY.self, ["every": "1", "frame": "true"],
      inputs: ["frames": frames, "color": pictures])
    #expect(
      output.names == ["README.txt", "cloud.ply", "export.json", "frames.csv"])
    #expect(output.result.frames == 3)
    #expect(output.result.recorded["framesWithoutPose"] == .integer(1))
    let cloud = try Self.parsed(output, "cloud.ply")
    #expect(output.result.recorded["points"] == .integer(Int64(cloud.count)))
    let points = try Self.points(cloud)
    let frameOf = try #require(cloud["frame"])
    #expect(Set(frameOf) == [0, 1, 5])
    #expect(frameOf == frameOf.sorted())
    let rgb = try ["red", "green", "blue"].map { try #require(cloud[$0]) }
    for (index, point) in points.enumerated() {
      let pose = try #require(Self.poses[Int(frameOf[index])])
      let inColor = pose.worldFromCamera.inverse.apply(to: point)
      let inDepth = scene.colorFromDepth.inverse.apply(to: inColor)
      let isBoard = abs(inDepth[2] - 1) < 1
      #expect(abs(inDepth[2] - (isBoard ? 1 : 3)) < 1e-5)
      let i = Int((inDepth[0] / inDepth[2] * 70 + 39.5).rounded())
      let j = Int((inDepth[1] / inDepth[2] * 70 + 29.5).rounded())
      let truth = scene.depthHit(i, j)
      for axis in 0..<3 { #expect(abs(inDepth[axis] - truth.point[axis]) < 1e-4) }
      switch scene.expected(i, j) {
      case .seen(let expected):
        for channel in 0..<3 { #expect(abs(rgb[channel][index] - expected[channel]) <= 1) }
      case .hidden: Issue.record("pixel (\(i), \(j)) is hidden from the color camera")
      case .unsure: break
      }
    }
    // All seen pixels of the three frames are there.
    var seen = 0
    for j in 0..<60 {
      for i in 0..<80 {
        if case .seen = scene.expected(i, j) { seen += 1 }
      }
    }
    #expect(cloud.count >= 3 * seen)
  }

  @Test("A file per frame is named by the frame; without poses points are in camera axes")
  func filePerFrame() throws {
    let scene = BoardScene()
    let bench = try StageBench(scene.capture)
    let frames = try bench.depth([scene.depth, nil, scene.depth, scene.depth, scene.depth])
    let output = try bench.run(
      ExportPLY.self, ["layout": "frames", "every": "2", "pixels": "3"],
      inputs: ["frames": frames])
    #expect(output.clouds == ["000000.ply", "000002.ply", "000004.ply"])
    #expect(output.result.recorded["usedAxes"] == .string("camera"))
    let cloud = try Self.parsed(output, "000002.ply")
    #expect(cloud["red"] == nil)
    // 27 columns of 20 rows; color axes are 0.2 m beside those of depth.
    #expect(cloud.count == 27 * 20)
    let first = try #require(try Self.points(cloud).first)
    for (a, b) in zip(first, [-39.5 * 3 / 70 - 0.2, -29.5 * 3 / 70, 3]) {
      #expect(abs(a - b) < 1e-6)
    }
    // One cloud in camera axes holds one frame: others would have axes of their own.
    let single = try bench.run(
      ExportPLY.self, as: "single", ["every": "1", "frame": "true", "first": "1"],
      inputs: ["frames": frames])
    #expect(Set(try #require(try Self.parsed(single, "cloud.ply")["frame"])) == [2])
  }

  @Test("Confidence and distance decide which points stay")
  func thresholds() throws {
    let scene = BoardScene()
    var capture = scene.capture
    let confidence = (0..<4800).map { UInt8($0 % 3) }
    capture.confidence = .present(
      ConfidenceStream(
        description: .untold, width: 80, height: 60,
        access: .indexed(RepeatedPicture(pixels: confidence))))
    let bench = try StageBench(capture)
    let frames = try bench.depth([scene.depth])
    func count(_ name: String, _ settings: [String: String]) throws -> ParsedPLY {
      let output = try bench.run(
        ExportPLY.self, as: name, settings, inputs: ["frames": frames])
      return try Self.parsed(output, "cloud.ply")
    }
    #expect(try count("all", [:]).count == 4800)
    let confident = try count("confident", ["minimumConfidence": "1", "confidence": "true"])
    #expect(confident.count == 3200)
    #expect(Set(try #require(confident["confidence"])) == [1, 2])
    let boardPixels = scene.depth.millimeters.count { $0 == 1000 }
    #expect(try count("near", ["maximumDistance": "1m"]).count == boardPixels)
    let none = #expect(throws: StageDoesNotApply.self) {
      try count("nearer", ["maximumDistance": "999mm"])
    }
    #expect(none?.warnings.map(\.code) == [.nothingLeft])
  }

  @Test("Registered depth follows the intrinsics of each frame")
  func frameIntrinsics() throws {
    let scene = BoardScene()
    var capture = Self.world(
      scene.capture,
      Dictionary(
        uniqueKeysWithValues: (0..<2).map {
          ($0, Pose(position: [0, 0, 0], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1)))
        }))
    capture.alignment = DepthCalibration(registered: true, colorIntrinsics: scene.colorCamera)
    capture.intrinsics = .present(
      [210.0, 250].enumerated().map { frame, focal in
        IntrinsicsRow(
          frame: frame, width: 240, height: 180, fx: focal, fy: focal, cx: 118, cy: 91)
      })
    let bench = try StageBench(capture)
    let frames = try bench.depth([scene.depth, scene.depth])
    let output = try bench.run(
      ExportPLY.self, ["layout": "frames", "every": "1"], inputs: ["frames": frames])
    for (frame, focal) in [210.0, 250].enumerated() {
      let points = try Self.points(try Self.parsed(output, "00000\(frame).ply"))
      // Half-pixel rule: color pixel (3 i + 1, 3 j + 1) is depth pixel (i, j).
      for (index, point) in points.enumerated() {
        let (i, j) = (Double(index % 80), Double(index / 80))
        #expect(abs(point[0] - point[2] * (3 * i + 1 - 118) / focal) < 1e-5)
        #expect(abs(point[1] - point[2] * (3 * j + 1 - 91) / focal) < 1e-5)
      }
    }
  }

  @Test("Worlds beyond a kilometer have double coordinates")
  func farAway() throws {
    let scene = BoardScene()
    let far = Pose(
      position: [123_456.789, 0, 0], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))
    let bench = try StageBench(Self.world(scene.capture, [0: far]))
    let output = try bench.run(
      ExportPLY.self, inputs: ["frames": try bench.depth([scene.depth])])
    let first = try #require(try Self.points(try Self.parsed(output, "cloud.ply")).first)
    #expect(abs(first[0] - (123_456.789 - 39.5 * 3 / 70 - 0.2)) < 1e-6)
  }
}

/// One record, the same picture.
struct RepeatedPicture: IndexedFrameSource {
  typealias Pixel = UInt8
  let pixels: [UInt8]
  var recordCount: Int { 1 }
  func decode(record: Int, into pixels: inout [UInt8]) throws -> RecordOutcome {
    pixels = self.pixels
    return .picture
  }
}

extension StageBench.Output {
  /// The point clouds among its files.
  var clouds: [String] { names.filter { $0.hasSuffix(".ply") } }
}
