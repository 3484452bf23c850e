import FoundationEssentials
import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

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

@Suite("What point clouds account for")
struct PointCloudAccountTests {
  private static let still = Pose(
    position: [0, 0, 0], orientation: Quaternion(x: 0, y: 0, z: 0, w: 1))

  private static func world(_ capture: Capture, poses: [Int]) -> Capture {
    var capture = capture
    capture.poses = .poses(Dictionary(uniqueKeysWithValues: poses.map { ($0, still) }))
    return capture
  }

  @Test("Every canonical frame is there or left out under one reason")
  func everyFrame() throws {
    let scene = BoardScene()
    let bench = try StageBench(Self.world(scene.capture(frames: 8), poses: [0, 1, 2, 3, 5, 6, 7]))
    let depth = scene.depth
    let inputs = [
      "frames": try bench.depth([depth, depth, nil, depth, depth, depth, depth, depth]),
      "color": try bench.color([
        scene.color, nil, scene.color, scene.color, scene.color, scene.color, scene.color, nil,
      ]),
    ]
    let export = Export(output: try bench.run(ExportPLY.self, ["every": "3"], inputs: inputs))
    #expect(try export.frames == [0, 3, 6])
    let account = try export.account
    #expect(account.leftOut == ["no-picture": 2, "no-depth": 1, "no-pose": 1, "not-selected": 1])
    #expect(account.total == 8)
    #expect(
      try export.text("frames.csv") == """
        frame,timestamp_ns,name
        0,,cloud.ply
        3,,cloud.ply
        6,,cloud.ply

        """)
    #expect(try export.text("README.txt").contains("plyfile.PlyData.read('cloud.ply')"))
  }

  @Test("Without poses a cloud is one frame, the others lack theirs")
  func cameraAxes() throws {
    let scene = BoardScene()
    let bench = try StageBench(scene.capture(frames: 3))
    let inputs = ["frames": try bench.depth([nil, scene.depth, scene.depth])]
    let export = Export(output: try bench.run(ExportPLY.self, ["every": "1"], inputs: inputs))
    #expect(try export.frames == [1])
    #expect(try export.account.leftOut == ["no-depth": 1, "no-pose": 1])
  }

  @Test("Depth of the color camera needs that frame's intrinsics, of that size")
  func intrinsics() throws {
    let scene = BoardScene()
    var capture = Self.world(scene.capture(frames: 3), poses: [0, 1, 2])
    capture.alignment = DepthCalibration(registered: true, colorIntrinsics: scene.colorCamera)
    capture.intrinsics = .present([
      IntrinsicsRow(frame: 0, width: 240, height: 180, fx: 210, fy: 210, cx: 118, cy: 91),
      IntrinsicsRow(frame: 2, width: 480, height: 360, fx: 420, fy: 420, cx: 236, cy: 182),
    ])
    let bench = try StageBench(capture)
    let inputs = ["frames": try bench.depth([scene.depth, scene.depth, scene.depth])]
    let export = Export(output: try bench.run(ExportPLY.self, ["every": "1"], inputs: inputs))
    #expect(try export.frames == [0])
    #expect(try export.account.leftOut == ["no-intrinsics": 2])
  }

  @Test("Why it does not apply is said before anything is read")
  func applicability() throws {
    let parameters = ParameterValues(defaultsOf: ExportPLY.parameters)
    func answer(_ change: (inout Capture) -> Void) -> Applicability {
      var capture = BoardScene().capture
      capture.depth = .lost(80, 60, frames: 6)
      change(&capture)
      return ExportPLY.applicability(parameters, CaptureSummary(capture, readerVersion: 1))
    }
    #expect(answer { _ in } == .applies)
    #expect(
      answer { $0.alignment = DepthCalibration(registered: true) }
        == .notApplicable("no intrinsics: give export-ply.calibration (no color intrinsics)"))
    #expect(
      answer { $0.alignment?.colorFromDepth = nil }
        == .notApplicable("no calibration: give export-ply.calibration (no extrinsics)"))
    #expect(
      answer { $0.depth = .absent("the family records no depth") }
        == .notApplicable("no depth: the family records no depth"))
    #expect(
      answer { $0.frames = [] } == .notApplicable("no frames: the capture has no frames"))
  }

  @Test("Color is made for it only where it is wanted, and there is some")
  func connections() {
    var parameters = ParameterValues(defaultsOf: ExportPLY.parameters)
    let capture = BoardScene().capture
    let summary = CaptureSummary(capture, readerVersion: 1)
    #expect(ExportPLY.connects("color", parameters, summary))
    parameters["color"] = .flag(false)
    #expect(!ExportPLY.connects("color", parameters, summary))
    #expect(ExportPLY.connects("frames", parameters, summary))
    var other = capture
    other.color = .absent("the family records no color")
    let absent = CaptureSummary(other, readerVersion: 1)
    #expect(!ExportPLY.connects("color", ParameterValues(defaultsOf: ExportPLY.parameters), absent))
  }
}

@Suite("Evenly thinned points")
struct EvenThinningTests {
  @Test(
    "Number k of the kept is number ⌊k · total / kept⌋",
    arguments: [
      (10, 4, [0, 2, 5, 7]), (10, 10, Array(0..<10)), (3, 10, [0, 1, 2]), (5, 1, [0]), (5, 0, []),
      (0, 5, []), (7, 3, [0, 2, 4]),
    ] as [(Int, Int, [Int])])
  func kept(total: Int, limit: Int, expected: [Int]) {
    let thinning = EvenThinning(total: total, limit: limit)
    #expect(thinning.kept == expected.count)
    #expect((0..<thinning.kept).map(thinning.position) == expected)
    #expect(thinning.position(of: thinning.kept) == .max)
  }

  @Test(
    "A part of the row finds its own, wherever it begins", arguments: [(10, 4), (97, 13), (5, 9)])
  func parts(total: Int, limit: Int) {
    let thinning = EvenThinning(total: total, limit: limit)
    let positions = (0..<thinning.kept).map(thinning.position)
    for start in 0...total {
      let first = thinning.firstKept(from: start)
      #expect(first == positions.count { $0 < start })
    }
  }

  @Test("Counts near the end of 64 bits do no harm")
  func large() {
    let thinning = EvenThinning(total: .max, limit: .max - 1)
    #expect(thinning.position(of: .max - 2) == .max - 2)
    #expect(thinning.firstKept(from: .max) == .max - 1)
  }
}
