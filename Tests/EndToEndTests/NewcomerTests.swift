import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

/// Somebody gets a capture of an app in some way, and wants to train and to map with it.
@Suite("Captures of other apps as people receive them", .runsPrograms)
struct NewcomerTests {
  /// How a folder came here, and what that left beside and in it.
  enum Way: String, Sendable {
    case phone
    case macOS
    case windows

    var companions: [String] {
      switch self {
      case .phone: []
      case .macOS: [".DS_Store"]
      case .windows: ["Thumbs.db", "desktop.ini"]
      }
    }
  }

  struct Delivery: Sendable, CustomTestStringConvertible {
    var family: String
    var generation: String
    var way: Way
    var testDescription: String { "\(family) \(generation) \(way.rawValue)" }
  }

  static let deliveries = [
    Delivery(family: "stray-scanner", generation: "per-frame-intrinsics", way: .macOS),
    Delivery(family: "stray-scanner", generation: "npy", way: .windows),
    Delivery(family: "3d-scanner-app", generation: "lidar", way: .macOS),
    Delivery(family: "record3d", generation: "r3d", way: .phone),
    Delivery(family: "record3d", generation: "r3d-folder", way: .macOS),
    Delivery(family: "record3d", generation: "exr", way: .windows),
    Delivery(family: "polycam", generation: "lidar", way: .macOS),
  ]

  @Test(
    "One capture without a warning gives nerfstudio, EuRoC and points that lie on the room",
    arguments: deliveries)
  func exports(_ delivery: Delivery) throws {
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in")
    try Program.synthesize(
      """
      \(delivery.family) --generation \(delivery.generation) --frames 6 --seed 7 --width 160 \
      --height 120 --empty-room --id kitchen
      """, to: input)
    let truth = folder.path.appending("truth")
    try FileSystem.rename(input.appending("kitchen.truth"), to: truth)
    try litter(input, delivery.way)
    let output = folder.path.appending("out")
    let result = try Program.run(
      "run \(input) --output \(output) --export nerfstudio,euroc,ply --json"
    ).succeeds()
    let captures = try result.json().objects("captures")
    #expect(captures.count == 1)
    let capture = try #require(captures.first)
    #expect((capture["warnings"] as? [Any])?.isEmpty == true, "\(capture["warnings"] ?? "")")
    let stages = try ExportScene.stages(result)
    for stage in ["export-nerfstudio", "export-ply"] {
      #expect(stages[stage]?["outcome"] as? String == "made", "\(stage)")
    }
    // Only Stray Scanner records the motion that EuRoC consists of.
    let hasMotion = delivery.family == "stray-scanner"
    #expect(
      stages["export-euroc"]?["outcome"] as? String == (hasMotion ? "made" : "not-possible"))
    let place = output.appending(try #require(capture["id"] as? String))
    let room = try RoomBox(truth)
    try checkCloud(place, room)
    // The depth of two pictures, moved by their poses, is one surface, and lies on the walls.
    if Readers.arePresent {
      let reading = try Readers.check(["nerfstudio"], of: place, truth: truth, mistakes: false)
      #expect(reading.status == 0, "\(reading.output)")
    }
    if hasMotion { try checkPictures(place) }
  }

  /// Writes what the ways of copying leave in every folder and beside every file.
  private func litter(_ input: FilePath, _ way: Way) throws {
    guard way != .phone else { return }
    // The resource fork that macOS writes beside files on foreign file systems.
    let fork: [UInt8] = [0, 5, 22, 7, 0, 2, 0, 0] + Array("Mac OS X        ".utf8)
    let names = try input.namesBelow()
    for name in [""] + names {
      let path = name.isEmpty ? input : input.pushing(FilePath(name))
      if FileSystem.isFolder(path) {
        for companion in way.companions {
          try path.appending(companion).write("x")
        }
      }
      guard way == .macOS, !name.isEmpty, let last = path.lastComponent else { continue }
      let beside = path.removingLastComponent().appending("._\(last)")
      try beside.write(fork)
      // An unpacked archive of macOS has the forks once more, in a tree of their own.
      let copy = input.appending("__MACOSX").pushing(FilePath(name)).removingLastComponent()
      try FileSystem.makeFolder(copy)
      try copy.appending("._\(last)").write(fork)
    }
  }

  /// The points of the cloud lie on the walls, within the noise of the sensor.
  private func checkCloud(_ place: FilePath, _ room: RoomBox) throws {
    let path = place.appending("export-ply").appending("cloud.ply")
    let cloud = try ParsedPLY(Array(path.data()))
    let axes = try ["x", "y", "z"].map { try #require(cloud[$0]) }
    try #require(cloud.count > 10_000)
    let distances = (0..<cloud.count).map { index in
      room.distance(axes.map { $0[index] })
    }
    let median = distances.sorted()[cloud.count / 2]
    #expect(median <= 0.005, "median \(median) m from the walls")
  }

  /// Each picture of EuRoC has its row, and each row its picture.
  private func checkPictures(_ place: FilePath) throws {
    let folder = place.appending("export-euroc").appending("mav0")
    let cam = folder.appending("cam0")
    let lines = try cam.appending("data.csv").text()
      .lines.dropFirst()
    let named = lines.compactMap { $0.split(separator: ",").last.map(String.init) }
    #expect(try FileSystem.names(in: cam.appending("data")) == named.sorted())
    let samples = try folder.appending("imu0").appending("data.csv").text()
    #expect(samples.lines.count > 10)
  }
}

/// The walls of a synthetic room.
private struct RoomBox {
  let low: [Double]
  let high: [Double]

  init(_ truth: FilePath) throws {
    let data = try truth.appending("truth.json").data()
    let json = try data.json()
    let room = try json.object("room")
    low = try #require(room["low"] as? [Double])
    high = try #require(room["high"] as? [Double])
  }

  /// Meters to the nearest wall.
  func distance(_ point: [Double]) -> Double {
    (0..<3).map { min(abs(point[$0] - low[$0]), abs(point[$0] - high[$0])) }.min() ?? .infinity
  }
}

@Suite("What programs of others make of captures", .runsPrograms)
struct HandoffTests {
  private static let absence = ReaderScript.absence(
    of: "cv2, plyfile, pyarrow", for: "no mesh, preview video, blurred face or LeRobot set is made")

  /// Runs a shipped pipeline with the Python of the readers.
  private static func run(_ pipeline: String, _ scene: ExportScene) throws {
    var environment = ProcessInfo.processInfo.environment
    let python = FilePath(ReaderScript.python).removingLastComponent()
    environment["PATH"] = "\(python):\(environment["PATH"] ?? "/usr/bin:/bin")"
    let run = "run \(scene.input) --output \(scene.output)" as Words
    try Program.run(run.list + ["--pipeline", pipeline, "-q"], environment: environment).succeeds()
  }

  private static func check(_ words: [String]) throws {
    let result = try ReaderScript.run("handoff.py", words)
    print(result.output)
    #expect(result.status == 0, "\(result.output) \(result.errors)")
  }

  @Test(
    "The mesh of a room has its walls, in color, and the floor is at z = 0",
    .enabled(if: absence.isEmpty, "needs .build/readers"))
  func mesh() throws {
    let scene = try ExportScene("arkit-scanner", frames: 24)
    try Self.run("mesh", scene)
    try Self.check(["mesh", scene.capture.appending("mesh").string, scene.truth.string])
    // What it was made of is not left behind.
    #expect(!FileSystem.exists(scene.capture.appending("rgbd")))
  }

  @Test(
    "The preview video shows color beside depth at the times of the frames, holes included",
    .enabled(if: absence.isEmpty, "needs .build/readers"),
    .enabled(if: MovieScene.hasFFmpeg, "needs ffmpeg"))
  func video() throws {
    let scene = try ExportScene(
      "multiscan", frames: 16, generation: "ios-lidar", "--fault", "short-video", "cut-depth")
    let words = "run \(scene.input) --output \(scene.output) -q" as Words
    #expect(try Program.run(words).status <= 1)
    try Self.run("preview-video", scene)
    try Self.check([
      "video", scene.capture.appending("video/preview.mp4").string, scene.capture.string,
    ])
  }

  @Test(
    "A face is found, masked and blurred in every picture, and no picture with it is left",
    .enabled(if: absence.isEmpty, "needs .build/readers"),
    .enabled(if: MovieScene.hasFFmpeg, "needs ffmpeg"),
    .enabled(
      if: ReaderScript.absence(of: "skimage", for: "no face is looked for").isEmpty,
      "needs scikit-image"))
  func faces() throws {
    let scene = try ExportScene("stray-scanner", frames: 6, size: (480, 360))
    try Self.check(["paste-face", scene.input.appending("rgb.mp4").string])
    try Self.run("faces", scene)
    let made = try FileSystem.names(in: scene.capture).filter { !$0.hasPrefix(".") }
    #expect(made.sorted() == ["blurred", "capture.json", "masks"])
    let plain = scene.folder.path.appending("plain")
    try Program.run("run \(scene.input) --output \(plain) --until color -q").succeeds()
    try Self.check(
      ["faces"]
        + [scene.capture.appending("blurred"), scene.capture.appending("masks")].map(\.string)
        + [plain.appending("a/color").string])
  }

  @Test(
    "The recipes make a LeRobot set with a picture and a pose for each step, and Parquet with every cell",
    .enabled(if: absence.isEmpty, "needs .build/readers"),
    .enabled(if: MovieScene.hasFFmpeg, "needs ffmpeg"))
  func recipes() throws {
    let scene = try ExportScene(
      "arkit-scanner", frames: 24, "--fault", "corrupt-record", "nan-pose", "--rate", "20")
    try Program.synthesize(
      "record3d --frames 8 --width 64 --height 48 --id b --empty-room",
      to: scene.folder.path.appending("in"))
    let words = "run \(scene.folder.path.appending("in")) --output \(scene.output) -q" as Words
    #expect(try Program.run(words).status <= 1)
    for (script, name) in [("lerobot", "set"), ("parquet", "tables")] {
      let file = Fixtures.projectRoot.appending("docs/\(script).py").string
      let made = scene.folder.path.appending(name).string
      try PythonScript.run(ReaderScript.python, [file, scene.output.string, made], nil, nil)
        .succeeds()
      try Self.check([script, made, scene.output.string])
    }
  }
}
