import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

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
