import StageSupport
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Stages

@Suite("Export to a ScanNet++ scene")
struct ExportScanNetPPTests {
  private static let document = "iphone/pose_intrinsic_imu.json"

  @Test("The document of two frames, byte for byte; names are canonical")
  func snapshot() throws {
    let run = try RGBDScene(frames: 2).run(ExportScanNetPP.self)
    #expect(
      run.output.names == [
        "README.txt", "export.json", "frames.csv", "iphone/depth/frame_000000.png",
        "iphone/depth/frame_000001.png", Self.document, "iphone/rgb/frame_000000.jpg",
        "iphone/rgb/frame_000001.jpg",
      ])
    #expect(
      try run.output.text(Self.document) == """
        {
          "frame_000000": {"timestamp": 1.000000999, "aligned_pose": [[0.0, 0.0, 1.0, 0.0], \
        [1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, -0.25], [0.0, 0.0, 0.0, 1.0]], \
        "intrinsic": [[10.0, 0.0, 3.5], [0.0, 11.0, 2.5], [0.0, 0.0, 1.0]], \
        "imu": {"rotate_rate": [0.5, -1.0, 0.0], "acceleration": [2.0, 0.0, 0.0], \
        "gravity": [0.0, -1.0, 0.0]}},
          "frame_000001": {"timestamp": 1.016667666, "aligned_pose": [[0.0, 0.0, 1.0, 1.0], \
        [1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, -0.25], [0.0, 0.0, 0.0, 1.0]], \
        "intrinsic": [[11.0, 0.0, 3.5], [0.0, 12.0, 2.5], [0.0, 0.0, 1.0]], \
        "imu": {"rotate_rate": [0.5, -1.0, 2.0], "acceleration": [2.0, 0.0, 0.0], \
        "gravity": [0.0, -1.0, 0.0]}}
        }

        """)
  }

  @Test("Every frame has what the format needs; all others are counted under the first reason")
  func damage() throws {
    var scene = RGBDScene(frames: 6)
    scene.color[0] = nil
    scene.depth[1] = nil
    scene.capture.poses = .present(RGBDScene.poses([0, 1, 3, 4, 5]))
    scene.capture.intrinsics = .present([0, 1, 2, 4, 5].map(RGBDScene.intrinsics))
    // A frame without time has no timestamp and no samples.
    scene.capture.frames[4] = CaptureFrame()
    scene.capture.imu = .absent("none")
    let run = try scene.run(ExportScanNetPP.self)
    let text = try run.output.text(Self.document)
    #expect(text.contains("\"frame_000004\": {\"aligned_pose\""))
    #expect(text.contains("\"frame_000005\": {\"timestamp\": 1.083334334,"))
    #expect(!text.contains("\"imu\""))
    #expect(
      try run.output.text("export.json").contains(
        "\"leftOut\" : {\n    \"no-depth\" : 1,\n    \"no-intrinsics\" : 1,\n    \"no-picture\" : 1,\n"
          + "    \"no-pose\" : 1\n  }"))
  }

  @Test(
    "The nearest sample counts up to 50 ms, the earlier of two at one distance",
    arguments: [
      (1_000_000_000, 1_000_000_000), (950_000_000, 1_000_000_000), (949_999_999, nil),
      (1_010_000_000, 1_000_000_000), (1_010_000_001, 1_020_000_000),
      (1_070_000_000, 1_020_000_000), (1_070_000_001, nil), (Int64.min, nil), (Int64.max, nil),
    ] as [(Int64, Int64?)])
  func nearest(time: Int64, expected: Int64?) {
    let samples = [1_000_000_000, 1_020_000_000].map {
      IMUSample(timestamp: Timestamp(nanoseconds: $0), sensor: 0, x: 0, y: 0, z: 0)
    }
    let found = ScanNetPPDocument.nearest(to: Timestamp(nanoseconds: time), in: samples)
    #expect(found?.timestamp.nanoseconds == expected)
    #expect(ScanNetPPDocument.nearest(to: Timestamp(nanoseconds: time), in: []) == nil)
  }

  @Test("Without one clock no sample is given to a frame")
  func otherClock() throws {
    var scene = RGBDScene()
    scene.capture.framesShareIMUClock = false
    #expect(!(try scene.run(ExportScanNetPP.self).output.text(Self.document).contains("\"imu\"")))
  }

  @Test("Depth that the toolbox would misplace is not exported, and fails where it was asked for")
  func otherAspect() throws {
    var scene = RGBDScene()
    scene.capture.depth = .lost(8, 3, frames: 3)
    scene.depth = (0..<3).map { RGBDScene.depth($0, width: 8, height: 3) }
    #expect(throws: StageDoesNotApply.self) { try scene.run(ExportScanNetPP.self) }
    let error = #expect(throws: StageFailure.self) {
      try scene.run(ExportScanNetPP.self, ["depth": "native"])
    }
    #expect(error?.description.hasSuffix("set export-scannetpp.depth to aligned") == true)
    scene = RGBDScene()
    scene.capture.alignment = DepthCalibration(
      registered: false, colorFromDepth: .identity,
      depthIntrinsics: PinholeCamera(width: 4, height: 3, fx: 7, fy: 8, cx: 1, cy: 2))
    #expect(throws: StageFailure.self) {
      try scene.run(ExportScanNetPP.self, ["depth": "native"])
    }
  }

  @Test(
    "Depth that was undistorted to another pinhole than color is refused, beyond half a pixel",
    arguments: [(1.5, false), (1.0, true), (1.1, true), (0.6, false)])
  func otherPinhole(scale: Double, isTaken: Bool) throws {
    var scene = RGBDScene(frames: 1)
    // The camera of color on the grid of depth, 4x3 pixels.
    let camera = PinholeCamera(
      width: 4, height: 3, fx: 5 * scale, fy: 5.5 * scale, cx: 1.5, cy: 1)
    scene.depthRecorded = ["outputIntrinsics": camera.recorded]
    if isTaken {
      _ = try scene.run(ExportScanNetPP.self)
    } else {
      let error = #expect(throws: StageFailure.self) { try scene.run(ExportScanNetPP.self) }
      #expect(
        error?.description.hasSuffix(
          "give depth.undistort and color.undistort the same alpha, or set export-scannetpp.depth to aligned"
        )
          == true)
    }
  }

  @Test("No tracked pose at all is a reason")
  func noPoses() throws {
    var scene = RGBDScene()
    scene.capture.poses = .present(RGBDScene.poses([]))
    let error = #expect(throws: StageDoesNotApply.self) { try scene.run(ExportScanNetPP.self) }
    #expect(error?.description == "no frame is left: 3 no-pose")
    #expect(
      ExportScanNetPP.applicability(
        ParameterValues(defaultsOf: ExportScanNetPP.parameters),
        CaptureSummary(scene.capture, readerVersion: 1))
        == .notApplicable("no poses: no frame was tracked"))
  }
}

@Suite("Export to ScanNet's folder")
struct ExportScanNetTests {
  @Test("The folder of three frames, every text byte for byte, pictures with the digests they have")
  func snapshot() throws {
    let run = try RGBDScene().run(ExportScanNet.self)
    #expect(
      run.output.names == [
        "README.txt", "color/0.jpg", "color/1.jpg", "color/2.jpg", "depth/0.png", "depth/1.png",
        "depth/2.png", "export.json", "frames.csv", "intrinsic/extrinsic_color.txt",
        "intrinsic/extrinsic_depth.txt", "intrinsic/intrinsic_color.txt",
        "intrinsic/intrinsic_depth.txt", "pose/0.txt", "pose/1.txt", "pose/2.txt",
      ])
    #expect(try run.output.text("pose/1.txt") == "0 0 1 1\n1 0 0 0.5\n0 1 0 -0.25\n0 0 0 1\n")
    let identity = "1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"
    #expect(try run.output.text("intrinsic/extrinsic_color.txt") == identity)
    #expect(try run.output.text("intrinsic/extrinsic_depth.txt") == identity)
    #expect(
      try run.output.text("intrinsic/intrinsic_color.txt")
        == "11 0 3.5 0\n0 12 2.5 0\n0 0 1 0\n0 0 0 1\n")
    #expect(
      try run.output.text("intrinsic/intrinsic_depth.txt")
        == "5.5 0 1.5 0\n0 6 1 0\n0 0 1 0\n0 0 0 1\n")
    #expect(
      try run.output.text("frames.csv") == """
        frame,timestamp_ns,name
        0,1000000999,color/0.jpg
        1,1016667666,color/1.jpg
        2,1033334333,color/2.jpg

        """)
    let outputs = run.output.artifact.record.outputs
    #expect(
      outputs.filter { $0.path.hasPrefix("color/") }.map(\.sha256)
        == run.jpeg.record.outputs.map(\.sha256))
    #expect(
      outputs.filter { $0.path.hasPrefix("depth/") }.map(\.sha256)
        == run.depth.record.outputs.map(\.sha256))
  }

  @Test(
    "Numbers have no holes: frames without picture, depth or pose are left out, for every reason once"
  )
  func damage() throws {
    var scene = RGBDScene(frames: 6)
    scene.color[0] = nil
    scene.depth[2] = nil
    scene.capture.poses = .present(RGBDScene.poses([0, 1, 2, 4, 5]))
    scene.capture.intrinsics = .present([5].map(RGBDScene.intrinsics))
    let run = try scene.run(ExportScanNet.self)
    #expect(
      run.output.names.filter { $0.hasPrefix("pose/") } == [
        "pose/0.txt", "pose/1.txt", "pose/2.txt",
      ])
    #expect(
      try run.output.text("frames.csv").lines.dropFirst().map {
        $0.split(separator: ",").first
      } == ["1", "4", "5"])
    let json = try run.output.text("export.json")
    #expect(
      json.contains(
        "\"leftOut\" : {\n    \"no-depth\" : 1,\n    \"no-picture\" : 1,\n    \"no-pose\" : 1\n  }")
    )
    #expect(
      try run.output.text("intrinsic/intrinsic_color.txt").hasPrefix("15 0 3.5 0\n0 16 2.5 0\n"))
  }

  @Test("untracked: keep writes sixteen -inf, as ScanNet does")
  func keepUntracked() throws {
    var scene = RGBDScene()
    scene.capture.poses = .present(RGBDScene.poses([0, 2]))
    let run = try scene.run(ExportScanNet.self, ["untracked": "keep"])
    #expect(
      try run.output.text("pose/1.txt")
        == "-inf -inf -inf -inf\n-inf -inf -inf -inf\n-inf -inf -inf -inf\n-inf -inf -inf -inf\n")
    #expect(run.output.result.frames == 3)
  }

  @Test("A capture without any pose has no pose/ at all", arguments: ["drop", "keep"])
  func noPoses(untracked: String) throws {
    var scene = RGBDScene()
    for state in [StreamState.absent("none"), .present(RGBDScene.poses([]))] {
      scene.capture.poses = state
      let run = try scene.run(ExportScanNet.self, ["untracked": untracked])
      #expect(run.output.result.frames == 3)
      #expect(!run.output.names.contains { $0.hasPrefix("pose/") })
    }
  }

  @Test(
    "Unregistered native depth has its extrinsic, and the README says that most readers ignore it")
  func nativeExtrinsic() throws {
    var scene = RGBDScene()
    scene.capture.alignment = DepthCalibration(
      registered: false,
      colorFromDepth: RigidTransform(
        rotation: [0, -1, 0, 1, 0, 0, 0, 0, 1], translation: [0.25, 0.5, -1]),
      depthIntrinsics: PinholeCamera(width: 4, height: 3, fx: 7, fy: 8, cx: 1, cy: 2))
    let run = try scene.run(ExportScanNet.self, ["depth": "native"])
    #expect(
      try run.output.text("intrinsic/extrinsic_depth.txt")
        == "0 -1 0 0.25\n1 0 0 0.5\n0 0 1 -1\n0 0 0 1\n")
    #expect(
      try run.output.text("README.txt").replacing("\n  ", with: " ").contains(
        "Most readers ignore it"))
  }
}
