@testable import Captures
import Core
import FoundationEssentials
import Media
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

/// The layouts of three loggers that have no reader of their own, and what decides whose a folder is.
@Suite("Open folder: loggers that a capture.yaml describes")
struct OpenFolderTests {
  private func isNear(_ a: Pose, _ b: Pose) -> Bool {
    zip(a.position + a.orientation.rotation, b.position + b.orientation.rotation)
      .allSatisfy { abs($0 - $1) < 1e-9 }
  }

  @Test("Frames with JSON lines, poses and raw float depth are read exactly")
  func frames() throws {
    let scratch = try OpenFolderScratch.frames()
    let capture = try scratch.open()
    #expect(try scratch.open().allCounts() == [:])
    #expect(capture.id == "walk")
    #expect(capture.nanoseconds == [68_414_000_000_001, 68_414_100_000_001, 68_414_200_000_001])
    #expect(capture.clock.base == .uptime)
    // By the number in the name, 8, 9 and 10.
    #expect(
      try (0..<3).map { try capture.depth($0)?.prefix(5) } == [
        [1000, 2, 0, 0, 2000], [2000, 2, 0, 0, 2000], [3000, 2, 0, 0, 2000],
      ])
    let poses = try #require(capture.poses.value).rows
    #expect(poses.map(\.frame) == [0, 1, 2])
    for row in poses { #expect(isNear(row.pose, OpenFolderScratch.pose(row.frame))) }
    let camera = try #require(capture.intrinsics.value?.last)
    #expect([camera.fx, camera.cx, camera.cy] == [12, 7.5, 5.5])
    #expect(capture.alignment?.sharesCamera == true)
    #expect(capture.completeness.isWhole)
    let inputs = try #require(capture.files[.depth]).compactMap(\.name)
    #expect(inputs == ["capture.yaml", "frame_8.bin", "frame_9.bin", "frame_10.bin"])
  }

  @Test("A CSV logger with a video is read as the family of such recordings reads it")
  func video() throws {
    let folder = try TemporaryFolder()
    var options = SynthesisOptions(output: folder.path)
    (options.frames, options.width, options.height) = (12, 64, 48)
    _ = try SyntheticFamilies.write("vi-slam", options)
    let place = try #require(CaptureFinder(.builtIn).find(folder.path).captures.first)
    let known = try CaptureRegistry.builtIn.open(place)
    let scratch = try OpenFolderScratch(copyOf: place.path)
    try scratch.describe(
      """
      color: {video: video.mp4, table: frame_metadata.csv, time: {column: timestamp_ns, unit: ns}}
      motion:
        table: motion.csv
        time: {column: t, unit: us}
        acceleration: g
        rotation: deg/s
        accelerometer: [ax, ay, az]
        gyroscope: [gx, gy, gz]
      """)
    let start = try #require(known.frames.first?.timestamp).nanoseconds / 1000
    let rows = (-10..<100).map { "\(start + Int64($0) * 10_000);0;0;-1;90;0;180" }
    try scratch.write(
      "t;ax [g];ay;az;gx;gy;gz\n" + rows.joined(separator: "\n") + "\n", to: "motion.csv")
    let capture = try scratch.open()
    #expect(capture.nanoseconds == known.nanoseconds && capture.frames.count == 12)
    #expect(capture.frames.map(\.colorTimestamp) == known.frames.map(\.colorTimestamp))
    #expect(capture.color.value?.frameOfPicture == known.color.value?.frameOfPicture)
    #expect(capture.framesShareIMUClock)
    let imu = try #require(capture.imu.value)
    #expect(imu.sensors == ["accelerometer", "gyroscope"] && imu.samples.count == 220)
    #expect(abs(imu.samples[0].z + 9.80665) < 1e-12)
    #expect(abs(imu.samples[1].x - .pi / 2) < 1e-12 && abs(imu.samples[1].z - .pi) < 1e-12)
    #expect(try scratch.open().allCounts() == [:])
  }

  @Test("transforms.json with pictures and depth is a layout of its own")
  func transforms() throws {
    let scratch = try OpenFolderScratch.transforms()
    let capture = try scratch.open()
    #expect(try scratch.open().allCounts() == [:])
    #expect(capture.nanoseconds == [nil, nil, nil])
    #expect(try capture.depth(2) == [UInt16](repeating: 1001, count: 12))
    for row in try #require(capture.poses.value).rows {
      #expect(isNear(row.pose, OpenFolderScratch.pose(row.frame)))
    }
    #expect(capture.world == .zUp)
    let camera = try #require(capture.intrinsics.value?.first)
    #expect([camera.fx, camera.cx, camera.cy] == [12, 7.5, 5.5])
    #expect(capture.alignment?.colorDistortion == LensDistortion(openCVOrder: [0.1]))
  }

  @Test(
    "Of two streams at one rate the shorter one is told of; one at another rate lacks nothing",
    arguments: [(30, 12, 0), (30, 11, 0), (30, 7, 5), (60, 12, 0), (10, 4, 0)])
  func lostByTime(rate: Int, depths: Int, lost: Int) throws {
    let scratch = try OpenFolderScratch(
      """
      clock: unix
      color: {images: "rgb/*.jpg", time: {name: true, unit: s}}
      depth: {images: "depth/*.png", scale: 0.0002, time: {name: true, unit: s}}
      """)
    func name(_ index: Int, _ rate: Int) -> String {
      let milliseconds = 1_305_031_102_000 + index * 1000 / rate
      let rest = String(milliseconds % 1000)
      return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
    for index in 0..<12 { try scratch.writePicture("rgb/\(name(index, 30)).jpg") }
    for index in 0..<depths {
      try scratch.writeDepth("depth/\(name(index, rate)).png", [UInt16](repeating: 5000, count: 12))
    }
    #expect(try scratch.open().allCounts()["frame-count-mismatch depth"] ?? 0 == lost)
  }

  @Test(
    "Pictures whose names are times belong to the nearest of another stream; others have frames of their own"
  )
  func namesAreTimes() throws {
    let scratch = try OpenFolderScratch(
      """
      clock: unix
      color: {images: "rgb/*.jpg", time: {name: true, unit: s}}
      depth: {images: "depth/*.png", scale: 0.0002, time: {name: true, unit: s}}
      poses:
        table: {file: groundtruth.txt, columns: [t, x, y, z, qx, qy, qz, qw]}
        time: {column: t, unit: s}
        position: [x, y, z]
        quaternion: [qx, qy, qz, qw]
        quaternionOrder: xyzw
        direction: worldFromCamera
        axes: opencv
      """)
    for time in ["1305031102.175304", "1305031102.211214", "1305031102.243211"] {
      try scratch.writePicture("rgb/\(time).jpg")
    }
    for time in [
      "1305031102.160407", "1305031102.226738", "1305031102.262886", "1305031102.295279",
    ] {
      try scratch.writeDepth("depth/\(time).png", [UInt16](repeating: 5000, count: 12))
    }
    try scratch.write(
      "# timestamp tx ty tz qx qy qz qw\n1305031102.1758 1.1  2 3 0 0 0 1\n1305031102.2114 1 2 3 0 0 0 1\n",
      to: "groundtruth.txt")
    let capture = try scratch.open()
    #expect(capture.clock.base == .unix)
    #expect(
      capture.frames.map { $0.colorTimestamp != nil } == [
        true, true, true, false, false,
      ])
    #expect(
      capture.frames.compactMap { $0.depthTimestamp.map { $0.nanoseconds % 1_000_000_000 } } == [
        160_407_000, 226_738_000, 262_886_000, 295_279_000,
      ])
    #expect(try capture.depth(3)?.first == 1000)
    #expect(capture.poses.value?.rows.map(\.frame) == [0, 1])
    #expect(capture.poses.value?.rows.first?.pose.position == [1.1, 2, 3])
    #expect(try scratch.open().allCounts() == [:])
  }

  @Test(
    "Equal names of streams that count for themselves do not decide where their times say otherwise"
  )
  func countersOfTheirOwn() throws {
    let scratch = try OpenFolderScratch(
      """
      color: {table: rgb.csv, file: name, time: {column: t, unit: ms}}
      depth: {table: depth.csv, file: name, time: {column: t, unit: ms}}
      """)
    var tables = ["rgb": "name,t\n", "depth": "name,t\n"]
    for frame in 0..<12 {
      try scratch.writePicture("rgb/\(frame).jpg")
      tables["rgb", default: ""] += "rgb/\(frame).jpg,\(frame * 100)\n"
    }
    for frame in 0..<4 {
      try scratch.writeDepth("depth/\(frame).png", [UInt16](repeating: 1000, count: 12))
      tables["depth", default: ""] += "depth/\(frame).png,\(frame * 300)\n"
    }
    for (name, text) in tables { try scratch.write(text, to: "\(name).csv") }
    let capture = try scratch.open()
    let withDepth = capture.frames.indices.filter { capture.frames[$0].depthTimestamp != nil }
    #expect(withDepth == [0, 3, 6, 9])
    #expect(try scratch.open().allCounts() == [:])
  }

  @Test(
    "Pictures of two streams that lack frames of each other are at the frames of both, and depend on both then",
    arguments: [
      (color: [1, 2, 3], depth: [0, 1, 2, 3]), ([0, 1, 3], [0, 1, 2, 3]),
      ([0, 1, 2, 5], [0, 1, 2, 3, 4, 5]),
      ([0, 1, 2, 3], [1, 2]), ([0, 1, 2], [0, 1, 2]),
    ])
  func framesOfBoth(color: [Int], depth: [Int]) throws {
    let scratch = try OpenFolderScratch(
      """
      color: {table: rgb.csv, file: name, time: {column: t, unit: ms}}
      depth: {table: depth.csv, file: name, time: {column: t, unit: ms}}
      """)
    var tables = ["rgb": "name,t\n", "depth": "name,t\n"]
    for frame in color {
      try scratch.writePicture("rgb/\(frame).jpg")
      tables["rgb", default: ""] += "rgb/\(frame).jpg,\(frame * 100)\n"
    }
    for frame in depth {
      try scratch.writeDepth("depth/\(frame).png", [UInt16](repeating: 1000, count: 12))
      tables["depth", default: ""] += "depth/\(frame).png,\(frame * 100)\n"
    }
    for (name, text) in tables { try scratch.write(text, to: "\(name).csv") }
    let capture = try scratch.open()
    let all = Set(color + depth).sorted()
    #expect(capture.nanoseconds == all.map { Int64($0) * 100_000_000 })
    let places = color.compactMap(all.firstIndex)
    #expect(capture.color.value?.frameOfPicture ?? Array(color.indices) == places)
    #expect(capture.frames.indices.filter { capture.frames[$0].colorTimestamp != nil } == places)
    for (frame, number) in all.enumerated() {
      #expect(try (capture.depth(frame) != nil) == depth.contains(number))
    }
    func names(_ part: CapturePart) -> Set<String> {
      Set(capture.files[part, default: []].compactMap(\.name))
    }
    #expect(names(.color).contains("depth.csv") == (places != Array(color.indices)))
    #expect(
      names(.depth).contains("rgb.csv")
        == (depth.compactMap(all.firstIndex) != Array(depth.indices)))
  }

  @Test(
    "The warning of a table that lost rows counts the rows, and the pictures that have none",
    arguments: [
      (5, [2], "5 items, 4 frames; 1 item belongs to none of them and is a frame of its own"),
      (5, [1, 3], "5 items, 3 frames; 2 items belong to none of them and are frames of their own"),
      (
        4, [1],
        "4 items, 4 frames; 1 item belongs to none of them and is a frame of its own; frame 4 has none, "
          + "all others are at their places"
      ),
    ])
  func lostRows(pictures: Int, lost: [Int], told: String) throws {
    let scratch = try OpenFolderScratch(
      "color: {images: \"*.jpg\", table: d.csv, number: n, time: {column: t, unit: s}}")
    for number in 0..<pictures { try scratch.writePicture("\(number).jpg") }
    let rows = (0..<5).filter { !lost.contains($0) }.map { "\($0),\(5 + $0)\n" }
    try scratch.write("n,t\n" + rows.joined(), to: "d.csv")
    let warnings = try scratch.open().warnings.filter { $0.code == .frameCountMismatch }
    #expect(warnings.map(\.message) == [told])
  }

  @Test("A row of depth's own table without a picture is told, and numbers beyond a time are none")
  func ownTable() throws {
    let scratch = try OpenFolderScratch(
      "depth: {images: \"*.png\", table: d.csv, number: n, time: {column: t, unit: s}}")
    for number in [0, 1, 3] {
      try scratch.writeDepth("\(number).png", [UInt16](repeating: 1000, count: 12))
    }
    try scratch.write("n,t,\n0,5,\n1,6,\n2,7,\n3.0,8,\n", to: "d.csv")
    #expect(try scratch.open().nanoseconds == [5, 6, 8].map { $0 * 1_000_000_000 })
    #expect(try scratch.open().allCounts() == ["frame-count-mismatch depth": 1])
    try scratch.describe("color: {table: d.csv, file: name, number: n, time: {rate: 10}}")
    try scratch.write("n,name,\n-9223372036854775808,a.jpg,\n9e18,b.jpg,\n", to: "d.csv")
    for name in ["a.jpg", "b.jpg"] { try scratch.writePicture(name) }
    #expect(try scratch.open().nanoseconds == [0, nil])
  }

  @Test("A folder with a capture.yaml is that capture and nothing else, whatever else lies in it")
  func wins() throws {
    let folder = try TemporaryFolder()
    for (family, generation) in [("arkit-scanner", nil), ("polycam", nil), ("record3d", "r3d")]
      as [(String, String?)]
    {
      var options = SynthesisOptions(output: folder.path.appending(family))
      (options.generation, options.frames, options.width, options.height) = (generation, 2, 64, 48)
      _ = try SyntheticFamilies.write(family, options)
      let found = try #require(CaptureFinder(.builtIn).find(options.output).captures.first)
      #expect(found.family.rawValue == family)
      let file = found.folder.appending("capture.yaml")
      func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: file.string))
      }
      try write("---\n# ours\nscanmill-capture: 1\n")
      for registry in [.builtIn, CaptureRegistry(CaptureRegistry.builtIn.readers.reversed())] {
        #expect(CaptureFinder(registry).find(found.folder).captures.map(\.family) == [.openFolder])
      }
      try write("name: scanmill-capture\n")
      #expect(
        CaptureFinder(.builtIn).find(found.folder).captures.map(\.family.rawValue) == [family])
    }
  }
}
