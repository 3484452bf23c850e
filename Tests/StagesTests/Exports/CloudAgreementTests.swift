@testable import Captures
@testable import Media
import FoundationEssentials
@testable import Core
@testable import Engine
@testable import Processing
import StageSupport
@testable import Stages
import SystemPackage
import TestSupport
import Testing

@Suite("All clouds of a run whose color is undistorted")
struct CloudAgreementTests {
  /// An empty room, whose depth was measured through the lens of a calibration file that the capture
  /// does not state.
  struct Room {
    var name: String
    /// Pose between two cameras; `nil` where depth and color are one.
    var colorFromDepth: RigidTransform?
    var quarterTurns = 0
    var alpha: Double?
    var size: String?
    /// By how many pixels the recorded principal point moves from frame to frame.
    var motion = 0.0

    static let walls = (low: [-2.5, -1.2, -2.0], high: [2.4, 1.3, 2.2])
    static let color = PinholeCamera(
      width: 128, height: 96, fx: 92, fy: 92.5, cx: 63.2, cy: 47.9)
    static let depthSize = PictureSize(width: 64, height: 48)
    static let poses = [
      pose([0.3, -0.2, -0.4], x: 0.05, y: 0.3), pose([0.25, -0.2, -0.35], x: 0.06, y: 0.33),
    ]

    private static func pose(_ position: [Double], x: Double, y: Double) -> Pose {
      let w = (1 - x * x - y * y).squareRoot()
      return Pose(position: position, orientation: Quaternion(x: x, y: y, z: 0, w: w))
    }

    /// What the file states, which is the truth.
    var truth: DepthCalibration {
      let lens = LensDistortion(openCVOrder: [-0.22, 0.07, 0.0009, -0.0006])
      guard let colorFromDepth else {
        return DepthCalibration(
          registered: true, colorIntrinsics: Self.color, colorDistortion: lens)
      }
      return DepthCalibration(
        registered: false, colorFromDepth: colorFromDepth, depthIntrinsics: depthCamera(1.03),
        colorIntrinsics: Self.color, depthDistortion: LensDistortion(openCVOrder: [-0.1]),
        colorDistortion: lens)
    }

    private func depthCamera(_ scale: Double) -> PinholeCamera {
      PinholeCamera(width: 64, height: 48, fx: 55 * scale, fy: 55 * scale, cx: 31.5, cy: 23.5)
    }

    var shape: PictureShape {
      PictureShape(undistorts: true, alpha: alpha, sizing: size.flatMap(PictureSizing.init))
    }

    var uprightColor: LensCamera {
      LensCamera(pinhole: Self.color, distortion: truth.colorDistortion)
        .turnedClockwise(quarterTurns: quarterTurns)
    }

    var capture: Capture {
      var capture = EveryFormat().capture
      capture.familyDescription = ARKitScannerReader.description
      let upright = uprightColor.pinhole
      capture.color = .stills(upright.width, upright.height, frames: 2, turns: quarterTurns)
      capture.frames = Array(capture.frames.prefix(2))
      capture.depth = .lost(
        Self.depthSize.width, Self.depthSize.height, frames: EveryFormat.frameCount)
      capture.poses = .poses([0: Self.poses[0], 1: Self.poses[1]])
      // Nominal: without a lens, and of two cameras with another focal length of depth.
      capture.alignment = DepthCalibration(
        registered: colorFromDepth == nil, colorFromDepth: colorFromDepth ?? .identity,
        depthIntrinsics: colorFromDepth == nil ? nil : depthCamera(1), colorIntrinsics: Self.color)
      capture.intrinsics = .present(
        (0..<2).map { frame in
          IntrinsicsRow(
            frame: frame, width: upright.width, height: upright.height, fx: Self.color.fx,
            fy: Self.color.fy, cx: Self.color.cx + motion * Double(frame), cy: Self.color.cy)
        })
      return capture
    }

    /// Depth of a frame by the rays of the lens.
    func depth(_ frame: Int) throws -> DepthImage {
      let lens = try truth.depthCamera(
        size: Self.depthSize, colorSize: PictureSize(Self.color))
      let worldFromDepth = Self.poses[frame].worldFromCamera * (colorFromDepth ?? .identity)
      let origin = worldFromDepth.apply(to: [0, 0, 0])
      var image = DepthImage(width: Self.depthSize.width, height: Self.depthSize.height)
      for v in 0..<image.height {
        for u in 0..<image.width {
          let ray = try #require(lens.ray(u: Double(u), v: Double(v)))
          let end = worldFromDepth.apply(to: [ray.x, ray.y, 1])
          let z =
            (0..<3).map { axis in
              let step = end[axis] - origin[axis]
              return ((step > 0 ? Self.walls.high : Self.walls.low)[axis] - origin[axis]) / step
            }.min() ?? 0
          image.millimeters[v * image.width + u] = UInt16(z * 1000 + 0.5)
        }
      }
      return image
    }

    /// The nearest wall: its axis, and the distance of a point, meters.
    static func wall(_ point: [Double]) -> (axis: Int, distance: Double) {
      let all = (0..<3).flatMap { axis in
        [walls.low[axis], walls.high[axis]].map { (axis, abs(point[axis] - $0)) }
      }
      return all.min { $0.1 < $1.1 } ?? (0, .infinity)
    }
  }

  static let rooms = [
    Room(name: "one camera"),
    Room(name: "another pinhole, smaller pictures", alpha: 1, size: "75%"),
    Room(name: "turned", quarterTurns: 1, alpha: 0),
    Room(
      name: "two cameras",
      colorFromDepth: RigidTransform(
        rotation: RigidTransform.identity.rotation, translation: [0.04, 0.003, 0.02])),
    Room(name: "intrinsics that move", motion: 12),
  ]

  /// A capture with the artifacts of its color and depth, and the settings that `color.undistort` and
  /// `color.calibration` make for all stages.
  private struct Run {
    let bench: StageBench
    var settings: [String: String]
    let color: InputArtifact
    let frames: InputArtifact

    init(_ room: Room) throws {
      bench = try StageBench(room.capture)
      let file = bench.folder.path.appending("lab.json")
      try OutputFile.write(JSONText.pretty(room.truth.document), to: file)
      settings = [
        "colorUndistort": "true", "colorCalibration": file.string, "every": "1", "up": "app",
        "points": "100000", "pictures": "png",
      ]
      settings["colorAlpha"] = room.alpha.map { "\($0)" }
      settings["colorSize"] = room.size
      let camera = try #require(room.shape.camera(from: room.uprightColor)?.pinhole)
      let picture = ColorImage(
        width: camera.width, height: camera.height,
        rgb: Array(repeating: 90, count: 3 * camera.width * camera.height))
      color = try bench.color(
        [picture, picture],
        recorded: PublishedShape(
          shape: room.shape, camera: camera, removed: room.uprightColor.distortion
        ).recorded)
      frames = try bench.depth([room.depth(0), room.depth(1)])
    }

    func make(
      _ kind: any Stage.Type, _ inputs: [String: InputArtifact], as name: String? = nil,
      _ more: [String: String] = [:]
    ) throws -> StageBench.Output {
      let known = Set(kind.parameters.map(\.name))
      return try bench.run(
        kind, as: name, settings.filter { known.contains($0.key) }.merging(more) { $1 },
        inputs: inputs)
    }
  }

  private static func points(_ output: StageBench.Output, _ name: String) throws -> [[Double]] {
    let bytes = try Array(output.file(name).data())
    guard name.hasSuffix(".ply") else {
      return String(decoding: bytes, as: UTF8.self).lines.filter {
        !$0.hasPrefix("#")
      }.map { $0.split(separator: " ").dropFirst().prefix(3).compactMap { Double($0) } }
    }
    let cloud = try ParsedPLY(bytes)
    let columns = try ["x", "y", "z"].map { try #require(cloud[$0]) }
    return (0..<cloud.count).map { index in columns.map { $0[index] } }
  }

  /// The points of native depth in ScanNet's folder, by its own matrices.
  private static func points(ofScanNet output: StageBench.Output) throws -> [[Double]] {
    func matrix(_ name: String) throws -> [Double] {
      try output.text(name).split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
    }
    let k = try matrix("intrinsic/intrinsic_depth.txt")
    let colorFromDepth = try #require(
      RigidTransform(rowMajor: matrix("intrinsic/extrinsic_depth.txt")))
    var points: [[Double]] = []
    for frame in 0..<2 {
      let pose = try #require(RigidTransform(rowMajor: matrix("pose/\(frame).txt")))
      let depth = try PNGReader.depth(at: output.file("depth/\(frame).png"))
      for (index, millimeters) in depth.millimeters.enumerated() where millimeters > 0 {
        let z = Double(millimeters) / 1000
        let (u, v) = (Double(index % depth.width), Double(index / depth.width))
        points.append(
          (pose * colorFromDepth).apply(to: [(u - k[2]) / k[0] * z, (v - k[6]) / k[5] * z, z]))
      }
    }
    return points
  }

  private static func quantile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? .infinity : sorted[Int(Double(sorted.count - 1) * share)]
  }

  @Test(
    "They lie on the walls, and on one another: ply, colmap, nerfstudio and native depth of a dataset",
    arguments: rooms.indices)
  func clouds(_ index: Int) throws {
    let room = Self.rooms[index]
    let run = try Run(room)
    let aligned = try run.make(AlignDepth.self, ["frames": run.frames], as: "aligned")
    let images = ["color": run.color, "aligned": aligned.artifact]
    let depth = try run.make(
      ExportImages.self, ["frames": run.frames], as: "depth", ["undistort": "true"])
    let outputs = [
      "ply": try run.make(ExportPLY.self, ["frames": run.frames, "color": run.color]),
      "colmap": try run.make(ExportColmap.self, images),
      "nerfstudio": try run.make(ExportNerfstudio.self, images),
      "scannet": try run.make(
        ExportScanNet.self, ["color": run.color, "depth": depth.artifact], ["depth": "native"]),
    ]
    var clouds = try [
      "ply": Self.points(try #require(outputs["ply"]), "cloud.ply"),
      "colmap": Self.points(try #require(outputs["colmap"]), "sparse/0/points3D.txt"),
      "nerfstudio": Self.points(try #require(outputs["nerfstudio"]), "sparse_pc.ply"),
    ]
    clouds["scannet"] = try Self.points(ofScanNet: try #require(outputs["scannet"]))
    for (name, points) in clouds.sorted(by: { $0.key < $1.key }) {
      let offsets = points.map { 1000 * Room.wall($0).distance }
      let (median, most) = (Self.quantile(offsets, 0.5), Self.quantile(offsets, 0.9))
      // Depth is whole millimeters; each pixel of undistorted depth takes the nearest value, which on a
      // slanted wall is half a pixel away.
      let limits = name == "scannet" ? (12.0, 30.0) : (1.0, 2.0)
      #expect(points.count > 50, "\(name)")
      #expect(
        median < limits.0 && most < limits.1,
        "\(room.name): \(name): median \(median), p90 \(most) mm from the walls")
    }
    let ply = try #require(clouds["ply"])
    let colmap = try #require(clouds["colmap"])
    let nerfstudio = try #require(clouds["nerfstudio"])
    #expect(colmap.count == nerfstudio.count)
    #expect(zip(colmap, nerfstudio).allSatisfy { Self.square($0, $1) < 1e-10 })
    // Along the normal of the wall, to the nearest point of the other cloud.
    let offsets = stride(from: 0, to: colmap.count, by: max(1, colmap.count / 20)).map {
      index -> Double in
      let point = colmap[index]
      let nearest = ply.min { Self.square($0, point) < Self.square($1, point) } ?? []
      let axis = Room.wall(point).axis
      return nearest.isEmpty ? .infinity : 1000 * abs(point[axis] - nearest[axis])
    }
    #expect(Self.quantile(offsets, 0.5) < 1.5, "\(room.name): ply against colmap: \(offsets)")
    // One camera for frames whose own differ is told by every stage that takes the file.
    for output in Array(outputs.values) + [aligned, depth] {
      #expect(
        output.warnings.map(\.code) == (room.motion == 0 ? [] : [.intrinsicsVary]),
        "\(room.name): \(output.warnings)")
    }
  }

  private static func square(_ a: [Double], _ b: [Double]) -> Double {
    let (x, y, z) = (a[0] - b[0], a[1] - b[1], a[2] - b[2])
    return x * x + y * y + z * z
  }

  @Test(
    "measure-quality and color-on-depth have these cameras, too: poses and depth agree better with the lens"
  )
  func others() throws {
    var run = try Run(Self.rooms[0])
    let color = try run.make(AlignColor.self, ["frames": run.frames, "color": run.color])
    let mask = try PNGReader.gray(at: color.file("mask/000000.png"))
    #expect(mask.values.contains(255))
    func difference(_ name: String) throws -> Double {
      let quality = try run.make(MeasureQuality.self, ["frames": run.frames], as: name)
      let table = try Table(quality.file("quality.csv"))
      return try #require(table["depth_difference_median_mm"].compactMap(Double.init).first)
    }
    let withLens = try difference("with")
    run.settings = [:]
    let without = try difference("without")
    #expect(withLens < without, "\(withLens) mm, and \(without) mm as that of a pinhole")
  }

  @Test("A stage that the calibration of color did not reach refuses pictures of another lens")
  func notReached() throws {
    var run = try Run(Self.rooms[0])
    run.settings = run.settings.filter { !$0.key.hasPrefix("color") }
    for kind in [ExportPLY.self, AlignColor.self] as [any Stage.Type] {
      let error = #expect(throws: StageFailure.self) {
        try run.make(kind, ["frames": run.frames, "color": run.color])
      }
      #expect(error?.description.contains("with another calibration file") == true)
    }
    // Depth of two cameras through a lens of its own, beside undistorted color.
    run = try Run(Self.rooms[3])
    let depth = try run.bench.depthPictures([Self.rooms[3].depth(0), Self.rooms[3].depth(1)])
    let error = #expect(throws: StageFailure.self) {
      try run.make(
        ExportScanNet.self, ["color": run.color, "depth": depth], ["depth": "native"])
    }
    #expect(error?.description.contains("depth of another lens is not") == true)
  }
}
