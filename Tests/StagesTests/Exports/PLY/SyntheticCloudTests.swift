@testable import Captures
@testable import Media
@testable import Stages
import FoundationEssentials
@testable import Core
import StageSupport
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@Suite("Point clouds and colors of synthetic captures")
struct SyntheticCloudTests {
  /// A capture whose exact depth and poses are known for every frame, without sensor noise.
  private struct Made {
    let folder: TemporaryFolder
    let truth: FilePath
    let capture: Capture
    /// By frame: position and orientation of the color camera at the depth frame's time.
    let poses: [Int: Pose]

    init(_ family: String, generation: String? = nil, frames: Int = 4) throws {
      folder = try TemporaryFolder()
      var options = SynthesisOptions(output: folder.path)
      (options.seed, options.frames, options.width, options.height) = (5, frames, 320, 240)
      (options.noise, options.exposureSeconds, options.id) = (0, 0, "scan")
      (options.generation, options.truthPictures) = (generation, frames)
      let made = try SyntheticFamilies.write(family, options)
      truth = made.truth
      let registry = CaptureRegistry([
        ScanNetReader.self, ARKitScannerReader.self, MultiScanReader.self,
      ])
      let found = try #require(CaptureFinder(registry).find(made.folder).captures.first)
      capture = try registry.open(found)
      let table = try Table(truth.appending("depth_poses.csv"))
      poses = Dictionary(
        uniqueKeysWithValues: table.rows.map { row in
          let n = row.compactMap(Double.init)
          return (
            Int(n[0]),
            Pose(
              position: Array(n[2..<5]),
              orientation: Quaternion(x: n[5], y: n[6], z: n[7], w: n[8]))
          )
        })
    }
  }

  @Test("Points of a registered capture lie where the rendered room is", arguments: [1, 2])
  func registered(cores: Int) throws {
    let made = try Made("multiscan")
    let bench = try StageBench(made.capture)
    let frames = try bench.run(DecompressDepth.self).artifact
    let color = try bench.run(DecodeColor.self).artifact
    let output = try bench.run(
      ExportPLY.self,
      ["layout": "frames", "axes": "camera", "every": "1", "confidence": "true"],
      inputs: ["frames": frames, "color": color], cores: cores)
    #expect(output.clouds.count == 4)
    let rows = try #require(made.capture.intrinsics.value)
    for (frame, name) in output.clouds.enumerated() {
      let cloud = try ParsedPLY(Array(output.file(name).data()))
      let truth = try PNGReader.depth(
        at: made.truth.appending("depth").appending(
          String(name.dropLast(4)) + ".png"))
      #expect(cloud.count > truth.millimeters.count / 2)
      let row = rows[frame]
      let camera = PinholeCamera(
        width: 320, height: 240, fx: row.fx, fy: row.fy, cx: row.cx, cy: row.cy
      ).scaled(toWidth: truth.width, height: truth.height)
      var agreeing = 0
      for index in 0..<cloud.count {
        let (x, y, z) = (
          try #require(cloud["x"])[index], try #require(cloud["y"])[index],
          try #require(cloud["z"])[index]
        )
        let (u, v) = (camera.fx * x / z + camera.cx, camera.fy * y / z + camera.cy)
        // Each point is on a pixel's ray …
        #expect(abs(u - u.rounded()) < 0.01 && abs(v - v.rounded()) < 0.01)
        let pixel = Int(v.rounded()) * truth.width + Int(u.rounded())
        guard truth.millimeters.indices.contains(pixel) else { continue }
        // … at the room's depth, as far as the sensor resolves it.
        if abs(z * 1000 - Double(truth.millimeters[pixel])) < 10 + 0.01 * z * 1000 { agreeing += 1 }
      }
      #expect(Double(agreeing) > 0.95 * Double(cloud.count))
    }
  }

  @Test("Frames of a moving camera meet in one world")
  func world() throws {
    let made = try Made("multiscan", frames: 12)
    let bench = try StageBench(made.capture)
    let frames = try bench.run(DecompressDepth.self).artifact
    let output = try bench.run(
      ExportPLY.self, ["every": "11", "frame": "true"], inputs: ["frames": frames])
    let cloud = try ParsedPLY(
      Array(output.file("cloud.ply").data()))
    let frameOf = try #require(cloud["frame"])
    #expect(Set(frameOf) == [0, 11])
    let coordinates = try ["x", "y", "z"].map { try #require(cloud[$0]) }
    let rows = try #require(made.capture.intrinsics.value)
    let pose = try #require(made.poses[11])
    let truth = try PNGReader.depth(at: made.truth.appending("depth/000011.png"))
    let camera = PinholeCamera(
      width: 320, height: 240, fx: rows[11].fx, fy: rows[11].fy, cx: rows[11].cx, cy: rows[11].cy
    ).scaled(toWidth: truth.width, height: truth.height)
    // Points of frame 0, carried into the exact camera of frame 11, are at the depth rendered there.
    var (compared, agreeing) = (0, 0)
    for index in frameOf.indices where frameOf[index] == 0 {
      let q = pose.worldFromCamera.inverse.apply(to: coordinates.map { $0[index] })
      guard q[2] > 0.1 else { continue }
      let u = (camera.fx * q[0] / q[2] + camera.cx).rounded()
      let v = (camera.fy * q[1] / q[2] + camera.cy).rounded()
      guard u >= 0, v >= 0, u < Double(truth.width), v < Double(truth.height) else { continue }
      compared += 1
      let z = Double(truth.millimeters[Int(v) * truth.width + Int(u)])
      if abs(z - q[2] * 1000) < 20 + 0.02 * z { agreeing += 1 }
    }
    #expect(compared > 1000)
    #expect(Double(agreeing) > 0.9 * Double(compared))
  }

  @Test("Color in the depth camera resembles color under aligned depth")
  func color() throws {
    let made = try Made("scannet")
    let bench = try StageBench(made.capture)
    let frames = try bench.run(DecompressDepth.self).artifact
    let color = try bench.run(DecodeColor.self).artifact
    let output = try bench.run(AlignColor.self, inputs: ["frames": frames, "color": color])
    #expect(output.names.count == 8)
    let picture = try PNGReader.color(at: output.file("000003.png"))
    let mask = try PNGReader.gray(at: output.file("mask/000003.png"))
    let depth = try #require(made.capture.depth.value)
    #expect((picture.width, picture.height) == (depth.width, depth.height))
    // The depth camera sees hardly more than the color camera.
    let seen = mask.values.count { $0 == 255 }
    #expect(seen > mask.values.count / 2)
    let calibration = try #require(made.capture.alignment)
    let (from, to, transform) = (
      try #require(calibration.depthIntrinsics), try #require(calibration.colorIntrinsics),
      try #require(calibration.colorFromDepth)
    )
    let truth = try PNGReader.depth(at: made.truth.appending("depth/000003.png"))
    let source = try PNGReader.color(
      at: bench.folder.path.appending("decode-color").appending("000003.png"))
    var errors: [Double] = []
    for j in stride(from: 0, to: truth.height, by: 5) {
      for i in stride(from: 0, to: truth.width, by: 5) where mask.values[j * truth.width + i] > 0 {
        let z = Double(truth.millimeters[j * truth.width + i]) / 1000
        let q = transform.apply(to: [
          z * (Double(i) - from.cx) / from.fx, z * (Double(j) - from.cy) / from.fy, z,
        ])
        let u = Int((to.fx * q[0] / q[2] + to.cx).rounded())
        let v = Int((to.fy * q[1] / q[2] + to.cy).rounded())
        guard (0..<source.width).contains(u), (0..<source.height).contains(v) else { continue }
        for channel in 0..<3 {
          let a = Double(picture.rgb[3 * (j * truth.width + i) + channel])
          errors.append(abs(a - Double(source.rgb[3 * (v * source.width + u) + channel])))
        }
      }
    }
    #expect(errors.count > 3000)
    #expect(errors.reduce(0, +) / Double(errors.count) < 8)
  }
}
