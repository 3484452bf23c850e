import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Media
@testable import Stages

@Suite("export-tum")
struct TUMTests {
  /// Frame 2 has no depth, frame 1 no pose; depth is 2 ms late.
  private static func capture() -> SmallCapture {
    var small = SmallCapture(times: (0..<4).map { 1_999_999_999 + 33_000_000 * $0 })
    for frame in 0..<4 {
      small.capture.frames[frame].depthTimestamp =
        small.capture.frames[frame].timestamp?.advanced(byNanoseconds: 2_000_000)
    }
    small.depthFrames = [0, 1, 3]
    small.addCameras([0, 2, 3])
    return small
  }

  @Test("Every text byte of a small export")
  func snapshot() throws {
    let output = try Self.capture().run(ExportTUM.self, ["share": "copy"])
    try Snapshots.check(output.texts(), "export-tum")
  }

  @Test("Depth is millimeters × 5, nothing above 13,107 mm")
  func depth() throws {
    let output = try Self.capture().run(ExportTUM.self)
    let picture = try PNGReader.depth(at: output.file("depth/2.100999999.png"))
    #expect(
      picture.millimeters
        == [0, 5, 65_535, 0, 0, 5000, 10_000, 15_000, 20_000, 25_000, 30_000, 15])
  }

  @Test("Of two depth pictures of one time the first stays; the other is said")
  func sameDepthTime() throws {
    var small = Self.capture()
    small.capture.frames[1].depthTimestamp = small.capture.frames[0].depthTimestamp
    let output = try small.run(ExportTUM.self)
    #expect(output.names.filter { $0.hasPrefix("depth/") }.count == 2)
    let pairs = try output.text("associations.txt").lines
    #expect(pairs.map { $0.prefix(11) } == ["1.999999999", "2.098999999"])
    #expect(try output.text("export.json").contains("\"depthLeftOut\" : 1"))
    #expect(try output.text("README.txt").contains("1 depth pictures have the time"))
  }

  @Test("Without depth and poses there are color pictures and rgb.txt alone, all shared")
  func colorOnly() throws {
    var small = SmallCapture(times: [0, 10, 10, nil])
    small.pictureHoles = []
    let output = try small.run(ExportTUM.self, ["share": "link"])
    #expect(
      output.names.sorted()
        == [
          "README.txt", "export.json", "frames.csv", "rgb.txt", "rgb/0.000000000.png",
          "rgb/0.000000010.png",
        ])
    let (frames, leftOut) = try output.account()
    #expect(frames == [0, 1])
    #expect(leftOut == ["no-time": 1, "time-not-increasing": 1])
  }

  @Test(
    "With clock=unix times count from 1970 by the start of the recording; unknown, there is no export"
  )
  func clock() throws {
    var small = Self.capture()
    let unix = ["clock": "unix"]
    let error = #expect(throws: StageDoesNotApply.self) { try small.run(ExportTUM.self, unix) }
    #expect(error?.description.contains("start of the recording is not known") == true)
    small.capture.recordedAt = "2026-11-28T05:00:00.250Z"
    let output = try small.run(ExportTUM.self, unix)
    #expect(output.names.contains("rgb/1795842000.250000000.png"))
    #expect(output.names.contains("rgb/1795842000.283000000.png"))
    #expect(output.names.contains("depth/1795842000.252000000.png"))
    #expect(try output.text("groundtruth.txt").contains("\n1795842000.250000000 "))
    // The list of frames stays on the clock of the capture.
    #expect(try output.text("frames.csv").contains("0,1999999999,rgb/1795842000.250000000.png"))
    #expect(try output.text("README.txt").contains("since 1970"))
    // A clock that counts from 1970 already is left alone.
    small.capture.clock = CaptureClock(.unix, unit: "ns")
    #expect(try small.run(ExportTUM.self, unix).names.contains("rgb/1.999999999.png"))
  }

  @Test("A bag with clock=unix moves pictures, poses and samples alike")
  func clockOfBag() throws {
    var small = Self.capture()
    small.addIMU([1_989_999_999, 1_999_999_999])
    small.capture.recordedAt = "2026-11-28T05:00:00Z"
    let output = try small.run(ExportMCAP.self, ["clock": "unix"])
    let times = ParsedMCAP(try output.bytes("bag/bag.mcap")).times
    #expect(times["/imu0"] == [1_795_841_999_990_000_000, 1_795_842_000_000_000_000])
    #expect(times["/cam0/image_raw/compressed"]?.first == 1_795_842_000_000_000_000)
    #expect(times["/pose"]?.first == 1_795_842_000_000_000_000)
  }
}

@Suite("Sequences of the KITTI odometry benchmark")
struct KITTITests {
  @Test(
    "Poses lead to the first exported camera, times begin with it, pictures are numbered without holes"
  )
  func snapshot() throws {
    var capture = GridCapture(frames: 5)
    capture.poses[0] = nil
    capture.poses[3] = nil
    capture.cameras[2]?.fx = 11
    let export = try capture.export(ExportKITTI.self)
    #expect(try export.frames == [1, 2, 4])
    #expect(
      export.output.names.sorted() == [
        "README.txt", "export.json", "frames.csv", "poses/00.txt", "sequences/00/calib.txt",
        "sequences/00/image_2/000000.png", "sequences/00/image_2/000001.png",
        "sequences/00/image_2/000002.png", "sequences/00/times.txt",
      ])
    // Frame 1 looks along (1, 1, 1) turned by 120°: old x is its z, old y its x, old z its y.
    #expect(
      try export.text("poses/00.txt") == """
        1 0 0 0 0 1 0 0 0 0 1 0
        0 1 0 0 0 0 1 0 1 0 0 1
        0 1 0 0 0 0 1 0 1 0 0 3

        """)
    #expect(
      try export.text("sequences/00/times.txt") == "0.000000000\n0.000000100\n0.000000300\n")
    let row = "10 0 7.25 0 0 12 5.5 0 0 0 1 0"
    #expect(
      try export.text("sequences/00/calib.txt")
        == (0..<4).map { "P\($0): \(row)\n" }.joined() + "Tr: 1 0 0 0 0 1 0 0 0 0 1 0\n")
    #expect(try export.account.intrinsicsDeviation == 1)
    #expect(try export.account.leftOut == ["no-pose": 2])
  }
}

/// A capture with color of 8x6 and depth of 4x3 pixels, small enough to know every byte of an export.
struct RGBDScene {
  static let colorSize = (width: 8, height: 6)
  static let depthSize = (width: 4, height: 3)

  var capture: Capture
  /// `nil` is a hole.
  var color: [ColorImage?]
  var depth: [DepthImage?]
  /// What the stage of depth says of its pictures.
  var depthRecorded: [String: JSONValue] = [:]

  /// Frame k: at 1.000000999 s + k · 1/60 s, x = k meters, fx = 10 + k.
  init(frames: Int = 3, family: CaptureFamily = .arkitScanner) {
    capture = Capture(
      id: "scene", family: family, generation: "g5", folder: "/nowhere",
      clock: CaptureClock(.uptime, unit: "s"))
    capture.familyDescription = CaptureRegistry.builtIn.description(of: family)
    capture.frames = (0..<frames).map { frame in
      let time = Timestamp(nanoseconds: 1_000_000_999 + Int64(frame) * 16_666_667)
      return CaptureFrame(
        timestamp: time, colorTimestamp: time,
        depthTimestamp: time.advanced(byNanoseconds: 2_000_000))
    }
    capture.color = .present(
      ColorStream(
        source: .stills([]),
        description: StreamDescription(
          file: "v.mp4", encoding: "h264", width: Self.colorSize.width,
          height: Self.colorSize.height, frames: frames)))
    capture.depth = .lost(Self.depthSize.width, Self.depthSize.height, frames: frames)
    capture.poses = .present(Self.poses(Array(0..<frames)))
    capture.intrinsics = .present((0..<frames).map(Self.intrinsics))
    capture.alignment = DepthCalibration(registered: true, colorFromDepth: .identity)
    capture.imu = .present(Self.imu(milliseconds: [1000, 1010, 1020]))
    color = (0..<frames).map { Self.color($0) }
    depth = (0..<frames).map { Self.depth($0) }
  }

  static func poses(_ frames: [Int]) -> PoseStream {
    PoseStream(
      description: .untold,
      rows: frames.map {
        PoseStream.Row(
          frame: $0,
          pose: Pose(
            position: [Double($0), 0.5, -0.25],
            orientation: Quaternion(x: 0.5, y: 0.5, z: 0.5, w: 0.5)))
      })
  }

  static func intrinsics(_ frame: Int) -> IntrinsicsRow {
    IntrinsicsRow(
      frame: frame, width: colorSize.width, height: colorSize.height, fx: 10 + Double(frame),
      fy: 11 + Double(frame), cx: 3.5, cy: 2.5)
  }

  /// The IMU of a phone: rotation rate and gravity at every time, acceleration at every second one.
  static func imu(milliseconds: [Int64]) -> IMUStream {
    var samples: [IMUSample] = []
    for (index, time) in milliseconds.enumerated() {
      let time = Timestamp(nanoseconds: time * 1_000_000 + 700)
      samples.append(IMUSample(timestamp: time, sensor: 0, x: 0.5, y: -1, z: Double(index)))
      samples.append(IMUSample(timestamp: time, sensor: 1, x: 0, y: -9.80665, z: 0))
      if index % 2 == 0 {
        samples.append(IMUSample(timestamp: time, sensor: 2, x: 19.6133, y: 0, z: 0))
      }
    }
    return IMUStream.sorting(
      samples, sensorNames: ["rotationRate", "gravity", "userAcceleration"],
      description: .untold, convention: .coremotion
    ).stream
  }

  static func color(_ frame: Int, width: Int = 8, height: Int = 6) -> ColorImage {
    ColorImage(
      width: width, height: height,
      rgb: (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 &* 3 &+ frame &* 40) })
  }

  static func depth(_ frame: Int, width: Int = 4, height: Int = 3) -> DepthImage {
    DepthImage(
      width: width, height: height,
      millimeters: (0..<width * height).map { UInt16($0 == 0 ? 0 : 1000 * (frame + 1) + $0) })
  }

  /// What ran, and the pictures that it read.
  struct Run {
    let output: StageBench.Output
    let color: InputArtifact
    let jpeg: InputArtifact
    let depth: InputArtifact
  }

  /// Runs an export on pictures as the pipeline would hand them to it.
  func run(
    _ kind: any Stage.Type, _ settings: [String: String] = [:], depthPort: String = "depth",
    cores: Int = 2
  ) throws -> Run {
    let bench = try StageBench(capture)
    let color = try bench.color(color)
    let jpeg = try bench.run(JPEGPictures.self, inputs: ["color": color]).artifact
    let depth = try bench.depthPictures(depth, as: "depth", recorded: depthRecorded)
    // As `connects` says.
    let takesJPEG = settings["pictures"] ?? "jpeg" == "jpeg" && settings["quality"] == nil
    var inputs = [depthPort: depth]
    inputs[takesJPEG ? "jpeg" : "color"] = takesJPEG ? jpeg : color
    let output = try bench.run(kind, settings, inputs: inputs, cores: cores)
    return Run(output: output, color: color, jpeg: jpeg, depth: depth)
  }
}
