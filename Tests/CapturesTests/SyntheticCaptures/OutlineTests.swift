import FoundationEssentials
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Media
@testable import Synthetic

@Suite("Surfaces that are found by their outlines")
struct OutlineTests {
  /// The nearest surface of one ray, with every object tried: slabs for walls and blocks, a quadratic
  /// equation for balls.
  private func hit(_ view: PreparedView, _ u: Int, _ v: Int) -> (depth: Double, surface: Int32) {
    let camera = view.camera
    let x = (Double(u) - camera.cx) * (1 / camera.fx)
    let y = (Double(v) - camera.cy) / camera.fy
    let turn = view.viewpoint.worldFromCamera
    let ray = turn.x * x + (turn.y * y + turn.z)
    var depth = Double.infinity
    var surface: Int32 = 0
    for axis in 0..<3 {
      let wall = (ray[axis] < 0 ? view.low[axis] : view.high[axis]) / ray[axis]
      if wall < depth { (depth, surface) = (wall, Int32(2 * axis + (ray[axis] < 0 ? 0 : 1))) }
    }
    for block in view.blocks {
      let direction = block.turn.x * x + (block.turn.y * y + block.turn.z)
      var enters = -Double.infinity
      var leaves = Double.infinity
      var face: Int32 = 0
      for axis in 0..<3 {
        let inverse = 1 / direction[axis]
        let near = (block.half[axis] * -1 - block.origin[axis]) * inverse
        let far = (block.half[axis] - block.origin[axis]) * inverse
        let isReversed = inverse < 0
        if (isReversed ? far : near) > enters {
          (enters, face) = (isReversed ? far : near, Int32(2 * axis + (isReversed ? 1 : 0)))
        }
        leaves = min(leaves, isReversed ? near : far)
      }
      if enters <= leaves, enters > 0, enters < depth {
        (depth, surface) = (enters, block.firstSurface + face)
      }
    }
    for ball in view.balls {
      let a = x * x + y * y + 1
      let b = x * ball.center.x + y * ball.center.y + ball.center.z
      let rest = ball.center.dot(ball.center) - ball.radius * ball.radius
      let discriminant = b * b - a * rest
      guard discriminant > 0 else { continue }
      let there = (b - discriminant.squareRoot()) / a
      if there > 0, there < depth { (depth, surface) = (there, ball.surface) }
    }
    return (depth, surface)
  }

  /// Rows whose depth or surface differs from that of rays that are cast one by one.
  private func differences(_ view: PreparedView) -> [Int] {
    let width = view.camera.width
    var depths = [Double](repeating: 0, count: width)
    var surfaces = [Int32](repeating: 0, count: width)
    return (0..<view.camera.height).filter { row in
      var depthSpan = depths.mutableSpan
      var surfaceSpan = surfaces.mutableSpan
      view.castRow(row, depths: &depthSpan, surfaces: &surfaceSpan)
      return (0..<width).contains { column in
        let expected = hit(view, column, row)
        return depths[column] != expected.depth || surfaces[column] != expected.surface
      }
    }
  }

  @Test(
    "From anywhere in a room, in every direction, every pixel is as if its ray met every object")
  func anywhere() {
    var random = SeededRandom(seed: 1, "viewpoints")
    let rooms = (0..<5).map { Room.made(seed: $0, isFurnished: true) }
    for number in 0..<Rounds.of(60, soak: 3000) {
      let room = rooms[number % 5]
      // Also inside of objects and close to walls, and level with the tops of tables.
      let position = Vector3(
        random.uniform(room.low.x + 0.01...room.high.x - 0.01),
        number % 4 == 0 ? 0.74 : random.uniform(0.01...room.high.y - 0.01),
        random.uniform(room.low.z + 0.01...room.high.z - 0.01))
      let turn =
        Matrix3.aboutY(random.uniform(0...6.3)) * Matrix3.aboutX(random.uniform(-1.6...1.6))
        * Matrix3.aboutZ(number % 3 == 0 ? 0 : random.uniform(0...6.3))
      let focal = random.uniform(20...200)
      let camera = PinholeCamera(
        width: 61, height: 43, fx: focal, fy: focal * random.uniform(0.9...1.1),
        cx: random.uniform(20...40), cy: random.uniform(15...30))
      let view = PreparedView(
        room: room, camera: camera,
        viewpoint: Viewpoint(position: position, worldFromCamera: turn))
      let wrong = differences(view)
      #expect(wrong.isEmpty, "view \(number), rows \(wrong)")
    }
  }

  @Test("Axes of the room and of the camera may be the same, and the camera in the plane of a face")
  func aligned() {
    var room = Room.made(seed: 1, isFurnished: false)
    let material = Material(.plaster, dark: (0, 0, 0), light: (1, 1, 1))
    room.add(center: Vector3(0.5, 1, -1), half: Vector3(0.5, 0.25, 0.25), material: material)
    // Its top is level with the camera, its left side straight ahead.
    room.add(
      center: Vector3(0.25, 1.25, -1.5), half: Vector3(0.25, 0.25, 0.125), material: material)
    for turn in [Matrix3.identity, Matrix3.aboutY(.pi), Matrix3.aboutX(.pi)] {
      let camera = PinholeCamera(width: 64, height: 64, fx: 32, fy: 32, cx: 31.5, cy: 31.5)
      for position in [Vector3(0, 1.5, 0.5), Vector3(0.5, 1, 0.5), Vector3(0.01, 1.51, 1)] {
        let wrong = differences(
          PreparedView(
            room: room, camera: camera,
            viewpoint: Viewpoint(position: position, worldFromCamera: turn)))
        #expect(wrong.isEmpty, "from \(position), rows \(wrong)")
      }
    }
  }
}

/// What was rendered before rendering became faster: a seed means the same scene for ever.
@Suite("A seed gives the bytes that it gave to earlier versions")
struct SameBytesTests {
  private func options(_ folder: TemporaryFolder, seed: UInt64, frames: Int) -> SynthesisOptions {
    var options = SynthesisOptions(output: folder.path)
    options.seed = seed
    options.frames = frames
    options.id = "scan"
    return options
  }

  /// The first 16 digits of the digest of some files, one after the other.
  private func digest(_ files: [FilePath]) throws -> String {
    String(Digest(of: try files.flatMap { try FileBytes.read($0) }).hex.prefix(16))
  }

  @Test(
    "Times, poses, sensors and depth of every family",
    arguments: [
      ("scannet", "64be40fe70604404"), ("arkit-scanner", "f4771f9be46ed5db"),
      ("multiscan", "5f592e4832397edb"), ("vi-slam", "f7a6e2362ed47d2c"),
      ("strabo", "94f1a49b1678cfdf"), ("stray-scanner", "a9a6467330a289da"),
      ("3d-scanner-app", "a1330be5b77da537"), ("record3d", "32f1f952bddde9b6"),
      ("polycam", "05b3e96ac79ffb22"),
    ])
  func families(_ family: String, _ expected: String) throws {
    let folder = try TemporaryFolder()
    var options = options(folder, seed: 3, frames: 8)
    options.width = 96
    options.height = 64
    options.truthPictures = 2
    let truth = try SyntheticFamilies.write(family, options).truth
    #expect(
      try digest([truth.appending("expected.json"), truth.appending("depth_poses.csv")])
        == expected)
  }

  /// A picture, and how it is taken.
  struct Shot: Sendable, CustomTestStringConvertible {
    var seed: UInt64
    var frames = 8
    var size = (width: 130, height: 98)
    var rate = 30.0
    var exposure = 1.0 / 60
    var noise = 1.0
    var hasCode = false
    var isEmpty = false
    var digest: String

    var testDescription: String { "seed \(seed)" }
  }

  // No side is a multiple of the groups of pixels that are computed together.
  @Test(
    "Color, pixel by pixel: sharp and blurred, with and without noise, beyond the borders",
    arguments: [
      Shot(seed: 3, digest: "c24e4fb7c6270614"),
      Shot(seed: 4, rate: 3, exposure: 0.1, digest: "75219d3be3fc07ac"),
      Shot(seed: 5, rate: 2, exposure: 1, noise: 4, digest: "6723fb30f71f3eba"),
      Shot(seed: 6, rate: 2, exposure: 0, noise: 0, digest: "3b7e58544d548d3f"),
      Shot(seed: 7, frames: 4, size: (18, 16), hasCode: true, digest: "94e635e8d7cad8c9"),
      Shot(seed: 8, frames: 4, rate: 1, isEmpty: true, digest: "9f693560015b1a32"),
    ])
  func color(_ shot: Shot) throws {
    let folder = try TemporaryFolder()
    var options = options(folder, seed: shot.seed, frames: shot.frames)
    options.generation = "android-wide"
    options.width = shot.size.width
    options.height = shot.size.height
    options.rate = shot.rate
    options.exposureSeconds = shot.exposure
    options.noise = shot.noise
    options.showsFrameCode = shot.hasCode
    options.roomIsEmpty = shot.isEmpty
    // The family whose pictures are PNG files.
    let pictures = try SyntheticFamilies.write("vi-slam", options).folder.appending("frames")
    let names = try FileSystem.names(in: pictures).sorted()
    #expect(names.count == shot.frames)
    let pixels = try names.flatMap {
      try StillImage.read(pictures.appending($0)).picture.rgb
    }
    #expect(String(Digest(of: pixels).hex.prefix(16)) == shot.digest)
  }
}

@Suite("The loops over pixels")
struct PixelLoopsTests {
  /// How a picture is taken.
  struct Shot: Sendable, CustomTestStringConvertible {
    var name: String
    var width = 131
    var height = 97
    var exposure = 1.0 / 60
    var noise = 1.2

    var testDescription: String { name }
  }

  private func pictures(_ shot: Shot, isWide: Bool) -> [ColorImage] {
    let camera = PinholeCamera(
      width: shot.width, height: shot.height, fx: 100, fy: 101, cx: Double(shot.width) / 2 - 0.3,
      cy: Double(shot.height) / 2 + 0.4)
    let room = Room.made(seed: 9, isFurnished: true)
    let motion = CameraMotion(seed: 9, center: Room.cameraCenter, reach: Room.cameraReach)
    var renderer = ColorRenderer(
      room: room, camera: camera,
      settings: PictureSettings(exposureSeconds: shot.exposure, noiseSteps: shot.noise), seed: 9,
      isWide: isWide)
    return (0..<12).map { renderer.render(frame: $0, state: motion.state(at: Double($0) * 1.7)) }
  }

  @Test(
    "Wide vectors give the bytes of narrow ones, on machines that have them",
    arguments: [
      Shot(name: "as families take pictures"),
      Shot(name: "sharp, without noise", exposure: 0, noise: 0),
      Shot(name: "paths beyond the borders", exposure: 0.5),
      Shot(name: "fewer pixels than a group", width: 7, height: 3, exposure: 0.1),
      Shot(name: "one pixel more than a piece", width: 129, height: 9, exposure: 0.1),
    ])
  func wide(_ shot: Shot) {
    let narrow = pictures(shot, isWide: false)
    // Where there are no wide vectors both are narrow: then only that a picture can be repeated is seen.
    #expect(pictures(shot, isWide: PixelLoops.hasWide) == narrow)
    // A scene that is not there would be equal, too.
    #expect(Set(narrow.flatMap(\.rgb)).count > 8)
  }

  @Test("Whoever asks is told of every frame once", arguments: SyntheticFamilies.names)
  func progress(_ family: String) throws {
    let folder = try TemporaryFolder()
    var options = SynthesisOptions(output: folder.path)
    options.frames = 5
    options.width = 64
    options.height = 48
    options.truthPictures = 0
    let steps = Steps()
    options.progress = { steps.add($0, $1) }
    _ = try SyntheticFamilies.write(family, options)
    #expect(steps.all == (1...5).map { [$0, 5] })
  }
}

/// What a command was told of its progress.
private final class Steps: Sendable {
  private let steps = Mutex<[[Int]]>([])

  var all: [[Int]] { steps.withLock { $0 } }

  func add(_ done: Int, _ all: Int) { steps.withLock { $0.append([done, all]) } }
}

@Suite("Synthetic ScanNet captures")
struct SyntheticScanNetTests {
  private func write(_ folder: FilePath, seed: UInt64, faults: [String] = []) throws -> FilePath {
    var options = SynthesisOptions(output: folder)
    options.seed = seed
    options.faults = faults
    options.frames = 4
    options.width = 160
    options.height = 120
    options.id = "scan"
    options.truthPictures = 1
    return try SyntheticFamilies.write("scannet", options).folder
  }

  private func contents(of folder: FilePath) throws -> [String: Digest] {
    var digests: [String: Digest] = [:]
    for name in try FileSystem.names(in: folder) {
      digests[name] = try Digest(ofFileAt: folder.appending(name))
    }
    return digests
  }

  @Test("The same seed gives the same bytes, video included; another seed gives others")
  func seeds() throws {
    let (first, second, third) = (
      try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder()
    )
    let one = try contents(of: write(first.path, seed: 7))
    #expect(Set(one.keys) == ["scan.camera", "scan.depth", "scan.h264", "scan.imu", "scan.txt"])
    #expect(try contents(of: write(second.path, seed: 7)) == one)
    let other = try contents(of: write(third.path, seed: 8))
    for name in ["scan.depth", "scan.h264", "scan.imu"] { #expect(other[name] != one[name]) }
  }

  @Test("What is written is read back as a healthy capture with all frames")
  func readBack() throws {
    let folder = try TemporaryFolder()
    let place = try write(folder.path, seed: 2)
    let registry = CaptureRegistry([ScanNetReader.self])
    let found = try #require(CaptureFinder(registry).find(place).captures.first)
    let capture = try registry.open(found)
    #expect(capture.id == "scan")
    #expect(capture.frames.count == 4)
    #expect(capture.warnings.isEmpty)
    #expect(capture.color.value?.description.width == 160)
    let pictures = try #require(capture.depth.value).pictures()
    #expect(pictures.count == 4)
    #expect(pictures.values.allSatisfy { $0.contains { $0 > 0 } })
  }

  @Test(
    "A missing file is missing",
    arguments: [("missing-imu", "scan.imu"), ("missing-color", "scan.h264")])
  func missing(_ fault: String, _ file: String) throws {
    let folder = try TemporaryFolder()
    let place = try write(folder.path, seed: 3, faults: [fault])
    #expect(try contents(of: place)[file] == nil)
  }

  @Test("What is unknown or there already is refused")
  func refused() throws {
    let folder = try TemporaryFolder()
    _ = try write(folder.path, seed: 1)
    #expect(throws: (any Error).self) { try write(folder.path, seed: 1) }
    #expect(throws: SynthesisError.self) {
      try write(folder.path.appending("x"), seed: 1, faults: ["no-such"])
    }
  }

  @Test(
    "An offset of motion sensors is refused where there are none",
    arguments: [
      ("strabo", nil), ("record3d", nil), ("polycam", nil), ("3d-scanner-app", nil),
      ("multiscan", "ios-lidar"),
    ] as [(String, String?)])
  func offset(_ family: String, _ generation: String?) throws {
    let folder = try TemporaryFolder()
    var options = SynthesisOptions(output: folder.path)
    options.generation = generation
    options.imuOffsetSeconds = 0.02
    options.frames = 2
    #expect(throws: SynthesisError.self) { try SyntheticFamilies.write(family, options) }
    #expect(try FileSystem.names(in: folder.path).isEmpty)
  }
}

/// Small files of synthetic captures, texts cut at every byte, pictures at every third, in `make test` at every fifth of
/// these: opening and decoding come to an end, and nothing that is told is wrong.
@Suite("Synthetic captures of one file per picture: files that are cut")
struct SyntheticTruncationTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var family: String
    var generation: String
    var file: String
    /// Bytes between two lengths.
    var step = 1
    var testDescription: String { "\(generation) \(file)" }
  }

  static let rows = [
    Row(family: "stray-scanner", generation: "per-frame-intrinsics", file: "odometry.csv"),
    Row(family: "stray-scanner", generation: "per-frame-intrinsics", file: "imu.csv"),
    Row(family: "stray-scanner", generation: "raw-imu", file: "camera_matrix.csv"),
    Row(family: "stray-scanner", generation: "png", file: "depth/000001.png", step: 3),
    Row(family: "stray-scanner", generation: "png", file: "confidence/000001.png", step: 3),
    Row(family: "stray-scanner", generation: "npy", file: "depth/000001.npy", step: 3),
    Row(family: "3d-scanner-app", generation: "lidar", file: "frame_00001.json"),
    Row(family: "3d-scanner-app", generation: "lidar", file: "info.json"),
    Row(family: "3d-scanner-app", generation: "lidar", file: "depth_00001.png", step: 3),
    Row(family: "record3d", generation: "exr", file: "EXR_RGBD/metadata.json"),
    Row(family: "record3d", generation: "exr", file: "EXR_RGBD/depth/1.exr", step: 3),
  ]

  /// What a capture says, for comparison.
  private struct Content {
    var poses: [Int: PoseStream.Row]
    var times: [Int: Int64]
    var samples: [IMUSample]
    var intrinsics: [IntrinsicsRow]
    var depth: [Int: [UInt16]]

    init(_ capture: Capture) throws {
      poses = Dictionary(
        (capture.poses.value?.rows ?? []).map { ($0.frame, $0) }
      ) { first, _ in first }
      times = [:]
      for (frame, content) in capture.frames.enumerated() {
        times[frame] = content.timestamp?.nanoseconds
      }
      samples = capture.imu.value?.samples ?? []
      intrinsics = capture.intrinsics.value ?? []
      depth = try capture.depth.value?.pictures() ?? [:]
    }
  }

  private static func open(_ path: FilePath) throws -> Content? {
    let found = CaptureFinder(.builtIn).find(path).captures.first
    guard let found, let capture = try? CaptureRegistry.builtIn.open(found) else { return nil }
    return try Content(capture)
  }

  @Test("What a cut file still tells is what the whole one tells", arguments: rows)
  func cut(_ row: Row) throws {
    let folder = try TemporaryFolder()
    var options = SynthesisOptions(output: folder.path)
    (options.frames, options.width, options.height) = (4, 64, 48)
    (options.depthWidth, options.depthHeight) = (32, 24)
    (options.generation, options.id, options.truthPictures) = (row.generation, "a", 0)
    let made = try SyntheticFamilies.write(row.family, options).folder
    let whole = try #require(try Self.open(made))
    try #require(whole.depth.count == 4 && whole.poses.count == 4 && whole.times.count == 4)
    let file = made.pushing(FilePath(row.file))
    let bytes = [UInt8](try file.data())
    for length in Rounds.every(5, of: Array(stride(from: 0, to: bytes.count, by: row.step))) {
      try Data(bytes[..<length]).write(to: URL(filePath: file.string))
      guard let cut = try Self.open(made) else { continue }
      #expect(cut.poses.allSatisfy { whole.poses[$0.key] == $0.value }, "\(length)")
      #expect(cut.times.allSatisfy { whole.times[$0.key] == $0.value }, "\(length)")
      #expect(cut.samples.elementsEqual(whole.samples.prefix(cut.samples.count)), "\(length)")
      // A row that lost its own has those of the camera matrix.
      #expect(
        row.file == "odometry.csv" || cut.intrinsics.allSatisfy(whole.intrinsics.contains),
        "\(length)")
      #expect(cut.depth.allSatisfy { whole.depth[$0.key] == $0.value }, "\(length)")
    }
  }
}
