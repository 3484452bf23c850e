import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Core

@Suite("Keyframes picked by color.pick", .runsPrograms)
struct PickTests {
  private static let frames = 16

  private static func scene(_ family: String, _ more: String...) throws -> Scene {
    try Scene(
      synthesizing: "\(family) --frames \(frames) --width 160 --height 120 --seed 11 \(more)")
  }

  /// The numbers of the pictures in a folder of the output.
  static func pictures(_ scene: Scene, _ stage: String) throws -> [Int] {
    let names = try FileSystem.names(in: scene.output.appending("a/\(stage)"))
    return names.filter { $0.hasSuffix(".png") || $0.hasSuffix(".jpg") }
      .compactMap { Int($0.prefix(6)) }
  }

  private static func bytes(_ scene: Scene, _ path: String) throws -> Data {
    try #require(scene.output.appending("a/\(path)").contents)
  }

  @Test(
    "Of each group the picture that the quality table calls sharpest is written, as it was",
    arguments: Rounds.some(of: ["arkit-scanner", "scannet", "record3d"], 1))
  func sharpest(family: String) throws {
    let scene = try Self.scene(family, "--exposure", "0.03")
    try scene.run("--pipeline quality").succeeds()
    let table = try Table(scene.output.appending("a/quality/quality.csv"))
    let sharpness = table["sharpness"].map { Double($0) ?? 0 }
    #expect(sharpness.count == Self.frames)
    let all = try (0..<Self.frames).map {
      try Self.bytes(scene, "color/" + String(repeating: "0", count: $0 < 10 ? 5 : 4) + "\($0).png")
    }
    try scene.run("--set color.pick=sharpest --set color.count=4").succeeds()
    let picked = try Self.pictures(scene, "color")
    #expect(picked.map { $0 / 4 } == [0, 1, 2, 3])
    for frame in picked {
      let group = sharpness[(frame / 4 * 4)..<(frame / 4 * 4 + 4)]
      // Measured on other planes of the same picture: next to the sharpest at most.
      let most = group.max() ?? 0
      #expect(sharpness[frame] >= 0.97 * most, "\(family) \(frame): \(group)")
      #expect(try Self.bytes(scene, String(format: "color/%06d.png", frame)) == all[frame])
    }
  }

  @Test(
    "Motion is judged by poses, else by the gyroscope; the groups cover all frames in order",
    arguments: [("arkit-scanner", "poses"), ("scannet", "gyroscope")])
  func motion(family: String, means: String) throws {
    let scene = try Self.scene(family)
    try scene.run(
      "--set color.pick=motion --set color.pickAngle=2 --set color.pickDistance=2cm"
    ).succeeds()
    let picked = try Self.pictures(scene, "color")
    #expect(picked.count > 1 && picked.count < Self.frames, "\(picked)")
    let record = String(decoding: try Self.bytes(scene, "color/artifact.json"), as: UTF8.self)
    #expect(record.contains(means), "\(record)")
  }

  @Test(
    "count is at most so many, spread over the whole: in color, depth, aligned and an export alike")
  func count() throws {
    let scene = try Self.scene("arkit-scanner")
    func run(_ settings: String...) throws {
      let words = ["--pipeline", "exports", "--until", "color,depth,aligned,export-colmap"]
      try Program.run(
        scene.arguments(words + settings.flatMap { ["--set", $0] })
      ).succeeds()
    }
    // The middle one of each of four groups.
    let even = [1, 5, 9, 13]
    try run("color.count=4")
    #expect(try Self.pictures(scene, "color") == even)
    #expect(try Self.pictures(scene, "aligned") == even)
    #expect(try Self.pictures(scene, "depth") == Array(0..<Self.frames))
    // What follows color chooses among the frames of color.
    try run("color.count=4", "aligned.count=2", "depth.count=4")
    #expect(try Self.pictures(scene, "aligned") == [1, 9])
    try run("aligned.every=5")
    #expect(try Self.pictures(scene, "aligned") == [5])
    try run("aligned.every=default")
    #expect(try Self.pictures(scene, "depth") == even)
    // Of those that every leaves; more than there are is all of them.
    try run("depth.every=4", "depth.count=2", "aligned.count=99")
    #expect(try Self.pictures(scene, "depth") == [0, 8])
    #expect(try Self.pictures(scene, "aligned") == even)
    // The other words as well.
    try run("color.count=default", "aligned.count=default", "color.every=3", "color.last=12")
    #expect(try Self.pictures(scene, "color") == [0, 3, 6, 9, 12])
    #expect(try Self.pictures(scene, "aligned") == [0, 3, 6, 9, 12])
    try run("aligned.first=4", "aligned.every=2")
    #expect(try Self.pictures(scene, "aligned") == [6, 12])
    // The sharpest of each group is the same frame wherever it is picked.
    let sharpest = ["depth", "aligned"].flatMap {
      ["--set", "\($0).count=4", "--set", "\($0).pick=sharpest"]
    }
    let whole = ["color.every", "color.last", "aligned.first", "aligned.every", "depth.every"]
      .flatMap { ["--set", "\($0)=default"] }
    try Program.run(
      scene.arguments(["--until", "depth,aligned"] + whole + sharpest)
    ).succeeds()
    let picked = try Self.pictures(scene, "depth")
    #expect(picked.map { $0 / 4 } == [0, 1, 2, 3])
    #expect(try Self.pictures(scene, "aligned") == picked)
    try Program.run(
      scene.arguments([
        "--until", "depth", "--set", "depth.pick=motion", "--set", "depth.pickAngle=2", "--set",
        "depth.pickDistance=2cm",
      ])
    ).succeeds()
    #expect((2..<Self.frames).contains(try Self.pictures(scene, "depth").count))
  }

  @Test(
    "What would have no effect is refused, and who uses a word that is gone is told the new one",
    arguments: [
      ("aligned.pick=sharpest", "aligned.pick: sharpest has no effect without count"),
      ("color.pickMaximum=3", "color.pickMaximum is color.count now"),
      ("color.pickChange=3", "color.pickChange is gone"),
      ("color.measure=true", "color.measure is gone"),
    ])
  func refused(setting: String, message: String) throws {
    let scene = try Self.scene("scannet")
    let result = try scene.run("--set \(setting)")
    #expect(result.status == 64)
    #expect(result.errors.contains(message), "\(result.errors)")
  }
}

@Suite("Keyframes together with what else is done to pictures", .runsPrograms)
struct PickCombinationTests {
  private static let frames = 16

  private static func scene(_ words: [String]) throws -> Scene {
    try Scene(synthesizing: "\(words) --frames \(frames) --width 160 --height 120 --seed 11")
  }

  private static func json(_ scene: Scene, _ path: String) throws -> [String: Any] {
    try scene.output.appending("a/\(path)").json()
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
    let picked = try PickTests.pictures(scene, "color")
    #expect(picked.count >= 2 && picked.count <= 4, "\(picked)")
    #expect(try PickTests.pictures(scene, "aligned") == picked)
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
    #expect(try PickTests.pictures(scene, "color") == picked)
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
    #expect(try PickTests.pictures(scene, "aligned") == both.keys.sorted())
    if pick != "count=3" {
      #expect(
        try Table(scene.output.appending("a/color/picked.csv"))["frame"].map(Int.init)
          == both.keys.sorted())
    }
    let record = try Self.json(scene, "color/artifact.json").object("recorded")
    #expect(record["pictureShape", "undistorted"] as? Bool == true)
    #expect(record["picked", "frames"] as? [Int] == both.keys.sorted())
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
    let picked = try PickTests.pictures(scene, "color")
    #expect(!picked.isEmpty && picked.count <= 2, "\(result.errors)")
    #expect(try PickTests.pictures(scene, "aligned") == picked)
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
      return try PickTests.pictures(scene, "color")
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
