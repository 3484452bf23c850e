@testable import Captures
@testable import Stages
import FoundationEssentials
@testable import Core
@testable import Engine
import Media
import StageSupport
import TestSupport
import Testing

@Suite("Scenes for nerfstudio")
struct ExportNerfstudioTests {
  @Test("transforms.json with intrinsics of its own in every frame, byte by byte")
  func snapshot() throws {
    var capture = GridCapture(frames: 2)
    capture.cameras[1]?.fx = 11.125
    let export = try capture.export(ExportNerfstudio.self)
    #expect(
      try export.text("transforms.json") == """
        {
          "camera_model": "OPENCV",
          "w": 16,
          "h": 12,
          "orientation_override": "none",
          "applied_transform": [[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]],
          "ply_file_path": "sparse_pc.ply",
          "frames": [
            {"file_path": "images/frame_000000.png", "depth_file_path": "depths/frame_000000.png", "fl_x": 10.0, "fl_y": 12.0, "cx": 7.75, "cy": 6.0, "transform_matrix": [[0.0, 0.0, -1.0, -3.0], [1.0, 0.0, 0.0, 0.0], [0.0, -1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0]]},
            {"file_path": "images/frame_000001.png", "depth_file_path": "depths/frame_000001.png", "fl_x": 11.125, "fl_y": 12.0, "cx": 7.75, "cy": 6.0, "transform_matrix": [[0.0, -1.0, 0.0, -3.0], [0.0, 0.0, -1.0, 1.0], [1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 1.0]]}
          ]
        }

        """)
    #expect(export.files("images") == ["frame_000000.png", "frame_000001.png"])
    #expect(export.files("depths") == ["frame_000000.png", "frame_000001.png"])
    #expect(
      try export.text("frames.csv") == """
        frame,timestamp_ns,name
        0,0,images/frame_000000.png
        1,100,images/frame_000001.png

        """)
  }

  @Test("Equal intrinsics and the lens are at the top, and then in no frame")
  func oneCamera() throws {
    var capture = GridCapture(frames: 3)
    capture.lens = LensDistortion(openCVOrder: [0.1, -0.2, 0.003, 0.004, 0.5])
    let export = try capture.export(
      ExportNerfstudio.self, ["depth": "none", "up": "app"], hasDepth: false)
    let lines = try export.text("transforms.json").lines.map(String.init)
    #expect(
      lines.prefix(14) == [
        "{", "  \"camera_model\": \"OPENCV\",", "  \"w\": 16,", "  \"h\": 12,", "  \"fl_x\": 10.0,",
        "  \"fl_y\": 12.0,", "  \"cx\": 7.75,", "  \"cy\": 6.0,", "  \"k1\": 0.1,",
        "  \"k2\": -0.2,",
        "  \"k3\": 0.5,", "  \"p1\": 0.003,", "  \"p2\": 0.004,",
        "  \"orientation_override\": \"none\",",
      ])
    // The app's world: nothing is turned, and it is said.
    #expect(
      lines[14]
        == "  \"applied_transform\": [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],"
    )
    #expect(lines[15] == "  \"frames\": [")
    #expect(lines.count == 21)
    for line in lines[16...18] {
      #expect(!line.contains("fl_x") && !line.contains("k1") && !line.contains("depth"))
    }
    #expect(!export.output.names.contains("sparse_pc.ply"))
  }

  @Test("instant-ngp finds depth under its own names, in millimeters")
  func ngp() throws {
    let export = try GridCapture(frames: 1).export(ExportNerfstudio.self, ["ngp": "true"])
    let text = try export.text("transforms.json")
    for part in [
      "\"enable_depth_loading\": true,", "\"integer_depth_scale\": 0.001,", "\"aabb_scale\": 4,",
      "\"depth_path\": \"depths/frame_000000.png\"",
    ] {
      #expect(text.contains(part), "\(part)")
    }
    let plain = try GridCapture(frames: 1).export(
      ExportNerfstudio.self, ["ngp": "true"], hasDepth: false)
    #expect(try !plain.text("transforms.json").contains("depth"))
    #expect(try plain.text("transforms.json").contains("\"aabb_scale\": 4,"))
  }

  @Test("Depth is of every frame or of none: frames without it go, unless depth is not wanted")
  func depthOfEveryFrame() throws {
    var capture = GridCapture(frames: 4)
    capture.depths[1] = nil
    capture.depths[2] = nil
    capture.poses[2] = nil
    let export = try capture.export(ExportNerfstudio.self)
    #expect(try export.frames == [0, 3])
    #expect(try export.account.leftOut == ["no-depth": 2])
    let all = try capture.export(ExportNerfstudio.self, ["depth": "none"], hasDepth: false)
    #expect(try all.frames == [0, 1, 3])
    #expect(try all.account.leftOut == ["no-pose": 1])
    // A stream whose pictures are all lost is no depth.
    capture.depths = [nil, nil, nil, nil]
    let none = try capture.export(ExportNerfstudio.self)
    #expect(try none.frames == [0, 1, 3])
    #expect(try !none.text("transforms.json").contains("depth"))
  }

  @Test("Smaller pictures of JPEG are JPEG")
  func pyramid() throws {
    let export = try GridCapture(frames: 2).export(
      ExportNerfstudio.self, ["pyramid": "true", "pictures": "jpeg", "quality": "90"])
    for (factor, size) in [(2, (8, 6)), (4, (4, 3)), (8, (2, 1))] {
      let names = export.files("images_\(factor)")
      #expect(names == ["frame_000000.jpg", "frame_000001.jpg"], "\(factor)")
      let file = export.output.file("images_\(factor)/frame_000001.jpg")
      let picture = try StillImage.read(file).picture
      #expect((picture.width, picture.height) == size, "\(factor)")
    }
  }

  @Test("Start points lie in the world of the file")
  func points() throws {
    let export = try GridCapture(frames: 1).export(ExportNerfstudio.self)
    let cloud = try ParsedPLY(try export.bytes("sparse_pc.ply"))
    #expect(cloud.count == 4)
    // Old (x, y, z) of pixel (8, 0) is (0.075, 1.541666…, -2); new x is old z, new y old x, new z old y.
    let point = ["x", "y", "z"].compactMap { cloud[$0]?[1] }
    #expect(point == [-2, 0.075, 1.5416666666666667].map { Double(Float($0)) })
    #expect(["red", "green", "blue"].compactMap { cloud[$0]?[1] } == [0, 20, 30])
    let app = try GridCapture(frames: 1).export(ExportNerfstudio.self, ["up": "app"])
    #expect(try ParsedPLY(try app.bytes("sparse_pc.ply"))["z"]?[1] == -2)
  }

  @Test("A lens that the file has no place for is no export")
  func rationalLens() throws {
    var capture = GridCapture()
    capture.lens.k4 = 0.1
    #expect(throws: StageDoesNotApply.self) { try capture.export(ExportNerfstudio.self) }
  }

  @Test("The world of a released ScanNet++ scene has z up already")
  func zUp() throws {
    let small = GridCapture(frames: 1)
    var capture = small.capture
    capture.generation = "scannetpp"
    capture.familyDescription = ARKitScannerReader.description
    let export = try small.export(ExportNerfstudio.self, of: capture)
    #expect(try export.text("transforms.json").contains("\"applied_transform\": [[1.0, 0.0,"))
    #expect(try export.text("README.txt").contains("The world has z up"))
  }

  @Test("A world of which nobody knows what is up is not turned, and the reader may turn it")
  func firstCamera() throws {
    let small = GridCapture(frames: 1)
    var capture = small.capture
    var poses = try #require(capture.poses.value)
    poses.world = .firstCamera
    capture.poses = .present(poses)
    for up in ["z", "app"] {
      let export = try small.export(ExportNerfstudio.self, ["up": up], of: capture)
      let transforms = try export.text("transforms.json")
      #expect(!transforms.contains("orientation_override"))
      #expect(transforms.contains("\"applied_transform\": [[1.0, 0.0,"))
      let readme = try export.text("README.txt")
      #expect(readme.contains("is not known") && !readme.contains("y up)"))
    }
  }

  private struct Parts: Decodable {
    var train_filenames, val_filenames, test_filenames: [String]
  }

  private func names(_ frames: [Int]) -> [String] {
    frames.map { "images/frame_\(FrameFileName.name($0, "png"))" }
  }

  @Test("Parts name the pictures that the reader trains with, and those that it keeps for tests")
  func parts() throws {
    var capture = GridCapture(frames: 9)
    capture.poses[1] = nil
    let export = try capture.export(ExportNerfstudio.self, ["split": "every:4"])
    let parts = try JSONDecoder().decode(
      Parts.self, from: Data(try export.bytes("transforms.json")))
    // Of the exported frames 0, 2, …, 8 each fourth.
    #expect(parts.val_filenames == names([0, 5]))
    #expect(parts.test_filenames == parts.val_filenames)
    #expect(parts.train_filenames == names([2, 3, 4, 6, 7, 8]))
    #expect(try export.text("README.txt").contains("6 for train, 2 for val"))
    let plain = try capture.export(ExportNerfstudio.self)
    #expect(try !plain.text("transforms.json").contains("filenames"))
    #expect(plain.output.artifact.record.parameters["split"] == nil)
    #expect(plain.output.artifact.record.parameters["scene"] == nil)
  }

  @Test("Stretches of time keep neighbors together; frames at their borders are in no part")
  func blocks() throws {
    var capture = GridCapture(frames: 60)
    capture.frames = (0..<60).map {
      CaptureFrame(timestamp: Timestamp(nanoseconds: 1_000 + Int64($0) * 200_000_000))
    }
    let settings = ["split": "blocks:2s", "shares": "train=50,val=25,test=25"]
    let export = try capture.export(ExportNerfstudio.self, settings, cores: 1)
    let parts = try JSONDecoder().decode(
      Parts.self, from: Data(try export.bytes("transforms.json")))
    let lists = [parts.train_filenames, parts.val_filenames, parts.test_filenames]
    let all = lists.flatMap { $0 }
    #expect(Set(all).count == all.count)
    #expect(lists.allSatisfy { !$0.isEmpty })
    #expect(all.count < 60)
    for list in lists {
      for name in list {
        let frame = try #require((0..<60).first { names([$0]) == [name] })
        // The neighbor in time is in the same part, or in none.
        #expect(!lists.contains { $0 != list && $0.contains(names([frame + 1])[0]) })
      }
    }
    let again = try capture.export(ExportNerfstudio.self, settings, cores: 8)
    #expect(
      again.output.artifact.record.outputDigest == export.output.artifact.record.outputDigest)
    #expect(throws: StageDoesNotApply.self) {
      try GridCapture(frames: 4).export(ExportNerfstudio.self, ["split": "blocks:1h"])
    }
  }

  @Test(
    "What is no way to divide one capture is refused",
    arguments: [
      ("split", "scene"), ("split", "every:1"), ("shares", "train=1"),
      ("shares", "test=1,train=1"), ("shares", "train=1,other=1"),
    ])
  func refused(name: String, text: String) throws {
    let parameter = try #require(ExportNerfstudio.parameters.first { $0.name == name })
    #expect(throws: ParameterError.self) { try parameter.value(from: text) }
  }

  @Test("An export with masks of a capture for which none were made counts its frames")
  func noMasks() throws {
    let export = try GridCapture(frames: 4).export(ExportNerfstudio.self, ["masks": "true"])
    #expect(export.output.warnings.map(\.code) == [.masksMissing])
    #expect(export.output.warnings.map(\.count) == [4])
  }

  @Test("scene.json has the numbers of the scene in the world of the file")
  func scene() throws {
    struct Scene: Decodable {
      struct Bounds: Decodable { var low, high: [Double] }
      struct Color: Decodable { var mean, deviation: [Double] }
      var bounds: Bounds
      var center, gravity, depth: [Double]
      var scale, cameraPath: Double
      var color: Color
    }
    let capture = GridCapture(frames: 21)
    let export = try capture.export(ExportNerfstudio.self, ["scene": "true"])
    let scene = try JSONDecoder().decode(Scene.self, from: Data(try export.bytes("scene.json")))
    // Cameras go from (0, 2, -3) to (20, 2, -3) in the app's world; new x is old z, new y old x, new z old y.
    #expect(scene.center == [-3, 10, 2])
    #expect(scene.scale == 0.1)
    #expect(scene.cameraPath == 20)
    #expect(scene.gravity == [0, 0, -1])
    // Frames 0, 10 and 20 have depth of 1, 2 and 3 m, and red of 0, 100 and 200.
    #expect(scene.depth == [1, 3])
    #expect(abs(scene.color.mean[0] - 100 / 255) < 1e-12)
    #expect(abs(scene.color.deviation[0] - (20_000.0 / 3).squareRoot() / 255) < 1e-9)
    #expect(scene.color.deviation[1] < 1e-6)
    let cloud = try ParsedPLY(try export.bytes("sparse_pc.ply"))
    let cameras: [ClosedRange<Double>] = [-3...(-3), 0...20, 2...2]
    for (axis, name) in ["x", "y", "z"].enumerated() {
      let values = try #require(cloud[name])
      let camera = cameras[axis]
      #expect(
        abs(scene.bounds.low[axis] - min(camera.lowerBound, values.min() ?? 0)) < 1e-5)
      #expect(
        abs(scene.bounds.high[axis] - max(camera.upperBound, values.max() ?? 0)) < 1e-5)
    }
    #expect(try !capture.export(ExportNerfstudio.self).output.names.contains("scene.json"))
  }
}
