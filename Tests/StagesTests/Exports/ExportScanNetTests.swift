@testable import Captures
@testable import Core
@testable import Engine
import StageSupport
import TestSupport
import Testing

@testable import Stages

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
