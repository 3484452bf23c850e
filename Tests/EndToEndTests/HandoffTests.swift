import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
