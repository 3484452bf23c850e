import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Keyframes together with what else is done to pictures", .runsPrograms)
struct PickCombinationTests {
  private static let frames = 16

  private static func scene(_ words: [String]) throws -> Scene {
    try Scene(synthesizing: "\(words) --frames \(frames) --width 160 --height 120 --seed 11")
  }

  private static func pictures(_ scene: Scene, _ stage: String) throws -> [Int] {
    let names = try FileSystem.names(in: scene.output.appending("a/\(stage)"))
    return names.filter { $0.hasSuffix(".png") || $0.hasSuffix(".jpg") }
      .compactMap { Int($0.prefix(6)) }.sorted()
  }

  private static func json(_ scene: Scene, _ path: String) throws -> [String: Any] {
    let file = scene.output.appending("a/\(path)").string
    let data = try #require(FileManager.default.contents(atPath: file))
    return try data.json()
  }

  /// Captures, and what else is set.
  static let settings: [(family: [String], more: [String])] = [
    (["arkit-scanner"], ["--set", "color.size=50%"]),
    (["scannet"], ["--set", "color.format=jpeg"]),
    (["arkit-scanner"], ["--set", "color.every=2"]),
    (["scannet", "--fault", "short-color"], []),
    (["scannet", "--fault", "killed-app"], []),
  ]

  @Test(
    "color and aligned have the same frames, the frames are those picked without it, and nothing is left to do",
    arguments: Rounds.every(2, of: settings))
  func together(family: [String], more: [String]) throws {
    let scene = try Self.scene(family)
    let pick = ["--until", "aligned", "--set", "color.pick=sharpest", "--set", "color.count=4"]
    try Program.run(scene.arguments(pick + more)).succeeds()
    let picked = try Self.pictures(scene, "color")
    #expect(picked.count >= 2 && picked.count <= 4, "\(picked)")
    #expect(try Self.pictures(scene, "aligned") == picked)
    #expect(
      try Table(scene.output.appending("a/color/picked.csv"))["frame"].map(Int.init) == picked)
    // The next run has nothing to do.
    let again = try Program.run(scene.arguments(pick + more + ["-n", "-v"])).output
    #expect(
      again.contains("color: up-to-date") && again.contains("aligned: up-to-date"), "\(again)")
    // What is done to a picture does not change which one is picked; which are selected does.
    guard !more.isEmpty, !more.contains("color.every=2") else { return }
    let plain = more.map { $0.replacing(/=.+/, with: "=default") }
    let plan = try Program.run(scene.arguments(pick + plain + ["-n", "-v"])).output
    #expect(plan.contains("color: run, parameters"), "\(plan)")
    try Program.run(scene.arguments(pick + plain)).succeeds()
    #expect(try Self.pictures(scene, "color") == picked)
  }

  @Test(
    "An undistorted capture has the frames that are picked without it, and each picture is the undistorted one",
    arguments: Rounds.some(
      of: [
        ("pick=sharpest count=4", "scannet"), ("count=3", "scannet"),
        ("pick=motion pickAngle=2 pickDistance=2cm", "arkit-scanner"),
      ], 1))
  func undistorted(pick: String, family: String) throws {
    let scene = try Self.scene([family])
    let lab = scene.folder.path.appending("lab.json")
    try LabCalibration.write(lab, of: scene.input.appending("a"))
    let chosen =
      ["--until", "aligned,tables"]
      + pick.split(separator: " ").flatMap { ["--set", "color.\($0)"] }
    let straight = [
      "--set", "color.undistort=true", "--set", "color.calibration=\(lab)", "--set",
      "color.alpha=0",
    ]
    func run(_ words: [String]) throws -> [Int: Data] {
      try Program.run(scene.arguments(words)).succeeds()
      return try MovieScene.pictures(scene.output.appending("a"))
    }
    let recorded = try run(chosen)
    let all = try run(["--until", "aligned,tables"] + straight)
    let both = try run(chosen + straight)
    #expect(both.count >= 2 && both.count < Self.frames, "\(both.keys.sorted())")
    #expect(both.keys.sorted() == recorded.keys.sorted())
    for (frame, picture) in both {
      #expect(picture == all[frame], "\(frame)")
      #expect(picture != recorded[frame], "\(frame)")
    }
    #expect(try Self.pictures(scene, "aligned") == both.keys.sorted())
    if pick != "count=3" {
      #expect(
        try Table(scene.output.appending("a/color/picked.csv"))["frame"].map(Int.init)
          == both.keys.sorted())
    }
    let record = try Self.json(scene, "color/artifact.json").object("recorded")
    #expect((record["pictureShape"] as? [String: Any])?["undistorted"] as? Bool == true)
    #expect((record["picked"] as? [String: Any])?["frames"] as? [Int] == both.keys.sorted())
    let plan = try Program.run(scene.arguments(chosen + straight + ["-n", "-v"])).output
    #expect(plan.contains("color: up-to-date") && plan.contains("aligned: up-to-date"), "\(plan)")
  }

  @Test("A damaged picture is not picked while its group has a whole one, and the damage is told")
  func damaged() throws {
    let scene = try Self.scene(["scannet"])
    let video = scene.file("a.h264")
    var bytes = try video.data()
    for at in bytes.count * 5 / 8..<bytes.count * 5 / 8 + 40 { bytes[at] ^= 0x55 }
    try video.write(bytes)
    let words = [
      "--until", "aligned", "--set", "color.pick=sharpest", "--set", "color.count=2",
    ]
    let result = try Program.run(scene.arguments(words))
    let picked = try Self.pictures(scene, "color")
    #expect(!picked.isEmpty && picked.count <= 2, "\(result.errors)")
    #expect(try Self.pictures(scene, "aligned") == picked)
    #expect(
      try Program.run(scene.arguments(words + ["-n", "-v"])).output.contains("color: up-to-date"))
    let warnings = try #require(Self.json(scene, "color/artifact.json")["warnings"] as? [Any])
    #expect(!warnings.isEmpty)
  }

  @Test(
    "Without poses and gyroscope the pictures tell; a turned video is picked as it is shown",
    arguments: Rounds.every(
      3,
      of: [
        ["strabo", "--fault", "left-turn"], ["strabo"], ["strabo", "--fault", "no-turn"],
        ["scannet", "--fault", "missing-imu"],
      ]))
  func byPictures(family: [String]) throws {
    let scene = try Self.scene(family)
    let motion = ["--until", "color", "--set", "color.pick=motion"]
    func run(_ more: String...) throws -> [Int] {
      try Program.run(scene.arguments(motion + more)).succeeds()
      return try Self.pictures(scene, "color")
    }
    let some = try run()
    #expect(!some.isEmpty && some.count < Self.frames, "\(some)")
    let table = try Table(scene.output.appending("a/color/picked.csv"))
    #expect(table["begun_by"] == ["start"] + Array(repeating: "pictures", count: some.count - 1))
    let (first, last) = (table["first"].compactMap(Int.init), table["last"].compactMap(Int.init))
    #expect(first == [0] + last.dropLast().map { $0 + 1 } && last.last == Self.frames - 1)
    let document = try Self.json(scene, "capture.json").object("picked")
    #expect(document["pick"] as? String == "motion" && document["picked"] as? Int == some.count)
    #expect(document["of"] as? Int == Self.frames)
    #expect((document["means"] as? String)?.hasPrefix("by the change between pictures") == true)
    // Groups are joined: the one picture is the sharpest of all.
    #expect(try run("--set", "color.count=1").count == 1)
  }

  @Test("capture.json says what was picked, and nothing where every picture is written")
  func document() throws {
    let scene = try Self.scene(["scannet"])
    try scene.run("--until color").succeeds()
    let plain = try Self.json(scene, "capture.json")
    #expect(plain["picked"] == nil)
    let two = ["--set", "color.count=2", "--set", "color.pick=sharpest"]
    try Program.run(scene.arguments(["--until", "color"] + two)).succeeds()
    let picked = try Self.json(scene, "capture.json").object("picked")
    #expect(
      picked as NSDictionary
        == ["pick": "sharpest", "picked": 2, "of": Self.frames, "means": "by number"])
    let back = ["--set", "color.count=default", "--set", "color.pick=default"]
    try Program.run(scene.arguments(["--until", "color"] + back)).succeeds()
    #expect(try Self.json(scene, "capture.json") as NSDictionary == plain as NSDictionary)
  }
}
