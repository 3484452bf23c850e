@testable import Captures
@testable import Media
@testable import Stages
import FoundationEssentials
@testable import Core
@testable import Engine
import StageSupport
import Testing

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
