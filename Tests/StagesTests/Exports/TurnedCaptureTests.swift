@testable import Captures
@testable import Media
import Foundation
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
import SystemPackage
import TestSupport
import Testing

@Suite("Captures whose video is turned")
struct TurnedCaptureTests {
  /// A capture of two frames of registered depth; the camera of each is its own. Turned, its pictures lie in
  /// `color/` upright, everything else is as the unturned one has it.
  private struct Scene {
    static let (width, height) = (16, 12)
    static let depthSize = (width: 8, height: 6)
    var turns = 0
    var isMirrored = false

    static func camera(_ frame: Int) -> PinholeCamera {
      PinholeCamera(
        width: width, height: height, fx: 10 + Double(frame), fy: 12, cx: 7.25 - Double(frame),
        cy: 5)
    }

    static func pose(_ frame: Int) -> Pose {
      Pose(
        position: [Double(frame), 2, -3],
        orientation: Quaternion(x: 0.1, y: -0.7, z: 0.1, w: 0.7))
    }

    static func color(_ frame: Int) -> ColorImage {
      ColorImage(
        width: width, height: height,
        rgb: (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 &* 5 &+ frame &* 40) })
    }

    /// All measured: a slope.
    static func depth(_ frame: Int) -> DepthImage {
      DepthImage(
        width: depthSize.width, height: depthSize.height,
        millimeters: (0..<depthSize.width * depthSize.height).map { UInt16(1000 + $0 + frame) })
    }

    private static let orientations = [1, 6, 3, 8]

    var capture: Capture {
      let isSideways = turns % 2 != 0
      let size = isSideways ? (Self.height, Self.width) : (Self.width, Self.height)
      var capture = Capture.made("turned")
      capture.frames = (0..<2).map {
        CaptureFrame(timestamp: Timestamp(nanoseconds: 1_000_000_000 * Int64($0 + 1)))
      }
      capture.color = .stills(size.0, size.1, frames: 2, turns: turns, isMirrored: isMirrored)
      capture.depth = .lost(Self.depthSize.width, Self.depthSize.height, frames: 2)
      capture.poses = .poses([0: Self.pose(0), 1: Self.pose(1)])
      // The size of the upright picture, the rest of the stored one.
      capture.intrinsics = .present(
        (0..<2).map {
          let camera = Self.camera($0)
          return IntrinsicsRow(
            frame: $0, width: size.0, height: size.1, fx: camera.fx, fy: camera.fy, cx: camera.cx,
            cy: camera.cy)
        })
      capture.alignment = DepthCalibration(registered: true, colorIntrinsics: Self.camera(0))
      return capture
    }

    func export(
      _ kind: any ExportStage.Type, _ settings: [String: String] = [:]
    ) throws -> Export {
      let bench = try StageBench(capture)
      let summary = CaptureSummary(capture, readerVersion: 1)
      var parameters = ParameterValues(defaultsOf: kind.parameters)
      for (name, text) in settings {
        parameters[name] = try kind.parameters.first { $0.name == name }?.value(from: text)
      }
      var inputs = [
        "color": try bench.color(
          (0..<2).map { Self.color($0).upright(exifOrientation: Self.orientations[turns]) }),
        "frames": try bench.depth((0..<2).map { Self.depth($0) }),
      ]
      inputs["jpeg"] = try bench.run(JPEGPictures.self, inputs: inputs).artifact
      inputs["depth"] = try bench.depthPictures((0..<2).map { Self.depth($0) }, as: "depth")
      inputs["aligned"] = try bench.run(AlignDepth.self, as: "aligned", inputs: inputs).artifact
      inputs = inputs.filter { kind.connects($0.key, parameters, summary) }
      if kind != ExportPLY.self { inputs["frames"] = nil }
      return Export(output: try bench.run(kind, settings, inputs: inputs))
    }
  }

  /// How a format says that a picture was taken: OpenCV axes, pixel centers at integers.
  private struct View {
    /// Camera to world, 16 numbers by rows.
    var pose: [Double]
    var fx, fy, cx, cy: Double

    /// The ray of a pixel: where it begins, and its point at depth 1.
    func ray(_ x: Double, _ y: Double) -> [Double] {
      let d = [(x - cx) / fx, (y - cy) / fy, 1.0]
      var point = [pose[3], pose[7], pose[11]]
      for row in 0..<3 {
        for column in 0..<3 { point[row] += pose[4 * row + column] * d[column] }
      }
      return [pose[3], pose[7], pose[11]] + point
    }
  }

  private static func numbers(_ text: some StringProtocol) -> [Double] {
    text.split { " \n,[]".contains($0) }.compactMap { Double($0) }
  }

  private static func matrix(position: [Double], x: Double, y: Double, z: Double, w: Double)
    -> [Double]
  {
    RigidTransform(
      rotation: Quaternion(x: x, y: y, z: z, w: w).rotation, translation: position
    ).rowMajor
  }

  /// The view of frame 1 as the files of a format state it.
  private static func view(_ kind: any ExportStage.Type, _ export: Export) throws -> View {
    switch kind.name {
    case "export-tum":
      let row = try #require(try export.text("groundtruth.txt").lines.last)
      let n = numbers(row)
      let camera = Dictionary(
        try export.text("camera.yaml").lines.map { line in
          let parts = line.split(separator: ": ")
          return (String(parts[0]), Double(parts[1]) ?? 0)
        }
      ) { first, _ in first }
      return View(
        pose: matrix(position: Array(n[1...3]), x: n[4], y: n[5], z: n[6], w: n[7]),
        fx: camera["fx"] ?? 0, fy: camera["fy"] ?? 0, cx: camera["cx"] ?? 0, cy: camera["cy"] ?? 0)
    case "export-nerfstudio":
      struct File: Decodable {
        struct Frame: Decodable {
          var fl_x, fl_y, cx, cy: Double
          var transform_matrix: [[Double]]
        }
        var frames: [Frame]
      }
      let file = try JSONDecoder().decode(
        File.self, from: Data(try export.bytes("transforms.json")))
      let frame = try #require(file.frames.last)
      var pose = frame.transform_matrix.flatMap { $0 }
      for row in 0..<3 {
        pose[4 * row + 1] *= -1
        pose[4 * row + 2] *= -1
      }
      return View(
        pose: pose, fx: frame.fl_x, fy: frame.fl_y, cx: frame.cx - 0.5, cy: frame.cy - 0.5)
    case "export-colmap":
      let images = try export.text("sparse/0/images.txt").lines
      let last = try #require(images.last { $0.hasSuffix(".png") })
      let n = numbers(last.split(separator: " ").dropLast().joined(separator: " "))
      // World to camera.
      let cameraFromWorld = RigidTransform(
        rotation: Quaternion(x: n[2], y: n[3], z: n[4], w: n[1]).rotation,
        translation: Array(n[5...7]))
      let cameras = try export.text("sparse/0/cameras.txt").lines
      let camera = try #require(cameras.last { $0.hasPrefix("\(Int(n[8])) ") })
      let c = numbers(camera.split(separator: " ").dropFirst(2).joined(separator: " "))
      return View(
        pose: cameraFromWorld.inverse.rowMajor,
        fx: c[2], fy: c[3], cx: c[4] - 0.5, cy: c[5] - 0.5)
    case "export-open3d":
      let log = try export.text("trajectory.log").lines
      let json = try JSONDecoder().decode(
        Open3DCamera.self, from: Data(try export.bytes("intrinsic.json")))
      let m = json.intrinsic_matrix
      return View(
        pose: numbers(log.suffix(4).joined(separator: " ")), fx: m[0], fy: m[4], cx: m[6], cy: m[7])
    case "export-scannet":
      let m = numbers(try export.text("intrinsic/intrinsic_color.txt"))
      return View(
        pose: numbers(try export.text("pose/1.txt")), fx: m[0], fy: m[5], cx: m[2], cy: m[6])
    case "export-scannetpp":
      struct Frame: Decodable {
        var aligned_pose, intrinsic: [[Double]]
      }
      let frames = try JSONDecoder().decode(
        [String: Frame].self, from: Data(try export.bytes("iphone/pose_intrinsic_imu.json")))
      let frame = try #require(frames["frame_000001"])
      return View(
        pose: frame.aligned_pose.flatMap { $0 }, fx: frame.intrinsic[0][0],
        fy: frame.intrinsic[1][1], cx: frame.intrinsic[0][2], cy: frame.intrinsic[1][2])
    default:
      let sens = try ParsedSens(try export.bytes("turned.sens"))
      let m = sens.matrices[0].map(Double.init)
      let frame = try #require(sens.frames.last)
      return View(pose: frame.pose.map(Double.init), fx: m[0], fy: m[5], cx: m[2], cy: m[6])
    }
  }

  private struct Open3DCamera: Decodable {
    var intrinsic_matrix: [Double]
  }

  private static let kinds: [any ExportStage.Type] = [
    ExportTUM.self, ExportNerfstudio.self, ExportColmap.self, ExportOpen3D.self,
    ExportScanNet.self, ExportScanNetPP.self, ExportSens.self,
  ]

  /// Where a stored pixel lies in the picture that was turned.
  private static func upright(_ u: Int, _ v: Int, turns: Int) -> (Double, Double) {
    let (right, bottom) = (Scene.width - 1, Scene.height - 1)
    return switch turns {
    case 1: (Double(bottom - v), Double(u))
    case 2: (Double(right - u), Double(bottom - v))
    case 3: (Double(v), Double(right - u))
    default: (Double(u), Double(v))
    }
  }

  @Test(
    "Every pixel looks along the same ray of the world, in every format", arguments: 1...3,
    kinds.indices)
  func rays(turns: Int, index: Int) throws {
    let kind = Self.kinds[index]
    let still = try Self.view(kind, Scene().export(kind))
    let turned = try Self.view(kind, Scene(turns: turns).export(kind))
    // .sens holds 32-bit floats.
    let tolerance = kind == ExportSens.self ? 1e-5 : 1e-9
    for v in 0..<Scene.height {
      for u in 0..<Scene.width {
        let (x, y) = Self.upright(u, v, turns: turns)
        let (one, other) = (still.ray(Double(u), Double(v)), turned.ray(x, y))
        let isSame = zip(one, other).allSatisfy { abs($0 - $1) <= tolerance }
        #expect(isSame, "\(kind.name), \(turns) turns, pixel \(u), \(v): \(one) \(other)")
        if !isSame { return }
      }
    }
  }

  @Test("Point clouds of turned captures are those of unturned ones", arguments: 1...3)
  func clouds(turns: Int) throws {
    let settings = ["every": "1"]
    let still = try Scene().export(ExportPLY.self, settings)
    let turned = try Scene(turns: turns).export(ExportPLY.self, settings)
    #expect(try turned.frames == [0, 1])
    // Colors between pixels may be rounded another way; places are the same to the last bit.
    #expect(try turned.account.points == still.account.points)
    let places = ["every": "1", "color": "false"]
    #expect(
      try Scene(turns: turns).export(ExportPLY.self, places).bytes("cloud.ply")
        == Scene().export(ExportPLY.self, places).bytes("cloud.ply"))
    let bare = ["every": "1", "color": "false", "axes": "camera", "layout": "frames"]
    #expect(
      try Scene(turns: turns).export(ExportPLY.self, bare).bytes("000001.ply")
        == Scene().export(ExportPLY.self, bare).bytes("000001.ply"))
  }

  @Test("A row of intrinsics of another size than the upright picture is none of its camera")
  func otherSize() throws {
    var capture = Scene(turns: 1).capture
    capture.intrinsics = capture.intrinsics.mapping { rows in
      rows.map { row in
        var row = row
        // As it is stored, which is not the size that rows state.
        (row.width, row.height) = (row.height, row.width)
        return row
      }
    }
    let bench = try StageBench(capture)
    let inputs = ["frames": try bench.depth((0..<2).map { Scene.depth($0) })]
    #expect(throws: StageDoesNotApply("no frame is left: 2 no-intrinsics")) {
      try bench.run(ExportPLY.self, ["every": "1", "color": "false"], inputs: inputs)
    }
  }

  @Test(
    "Pictures that a display matrix mirrors have no camera: pictures and samples alone are exported"
  )
  func mirrored() throws {
    let scene = Scene(isMirrored: true)
    let summary = CaptureSummary(scene.capture, readerVersion: 1)
    for kind in Self.kinds + [ExportPLY.self] where kind != ExportTUM.self {
      let answer = kind.applicability(ParameterValues(defaultsOf: kind.parameters), summary)
      guard case .notApplicable(let why) = answer else {
        Issue.record("\(kind.name): \(answer)")
        continue
      }
      #expect(why.contains("mirror"), "\(kind.name): \(why)")
    }
    #expect(
      !ExportTUM.connects("aligned", ParameterValues(defaultsOf: ExportTUM.parameters), summary))
    let bench = try StageBench(scene.capture)
    let color = try bench.color((0..<2).map { Scene.color($0) })
    let export = Export(output: try bench.run(ExportTUM.self, inputs: ["color": color]))
    #expect(try export.frames == [0, 1])
    let names = export.output.names
    #expect(!names.contains("groundtruth.txt") && !names.contains("camera.yaml"), "\(names)")
    #expect(try export.text("README.txt").contains("mirrors its pictures"))
  }
}

extension StreamState {
  fileprivate func mapping(_ change: (Value) -> Value) -> StreamState {
    if case .present(let value) = self { .present(change(value)) } else { self }
  }
}
