@testable import Media
import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The quality of a capture, as the program judges it", .runsPrograms)
struct QualityTests {
  /// What `measure-quality` recorded in its artifact.
  private struct Recorded: Decodable {
    struct Judged: Decodable {
      var value: Double?
      var level: String
    }
    struct Pictures: Decodable, Equatable {
      var judged: Int
      var of: Int
    }
    struct Record: Decodable {
      var verdict: String
      var reasons: [String]
      var judged: [String: Judged]
      var pictures: Pictures?
    }
    var recorded: Record
  }

  private static func recorded(_ scene: Scene, stage: String = "quality") throws -> Recorded.Record
  {
    let file = scene.output.appending("a/\(stage)/artifact.json")
    let data = try #require(file.contents)
    return try JSONDecoder().decode(Recorded.self, from: data).recorded
  }

  /// A file of thresholds.
  private static func limits(_ scene: Scene, _ text: String) throws -> FilePath {
    let file = scene.output.removingLastComponent().appending("mine.yaml")
    try file.write(text)
    return file
  }

  private static func table(_ scene: Scene) throws -> Table {
    try Table(scene.output.appending("a/quality/quality.csv"))
  }

  private static func scene(_ family: String, _ more: String...) throws -> Scene {
    try Scene(synthesizing: "\(family) --frames 16 --width 320 --height 240 \(more)")
  }

  @Test(
    "Pictures that the camera's motion smeared are told from sharp ones, and by how much",
    arguments: [("0", "good"), ("0.06", "usable")])
  func blur(exposure: String, verdict: String) throws {
    let scene = try Self.scene("arkit-scanner", "--exposure", exposure, "--seed", "3")
    let limits = try Self.limits(scene, "blurPixels: 1\nblurredUsable: 0.2\nblurredPoor: 1\n")
    try scene.run("--pipeline quality --set quality.for=\(limits)").succeeds()
    let recorded = try Self.recorded(scene)
    #expect(recorded.verdict == verdict, "\(recorded.reasons)")
    #expect(recorded.reasons.isEmpty == (verdict == "good"))
    #expect(recorded.reasons.allSatisfy { $0.contains("of the pictures are blurred") })
  }

  @Test(
    "A purpose is judged by its own subjects, and the record names the one that failed with its limit"
  )
  func purpose() throws {
    let scene = try Self.scene("arkit-scanner", "--exposure", "0.06", "--seed", "3")
    try scene.run("--pipeline quality --set quality.for=slam").succeeds()
    let recorded = try Self.recorded(scene)
    #expect(recorded.verdict == "poor")
    #expect(recorded.reasons.contains("pictures are exposed for 60 ms (limit 33 ms)"))
    #expect(recorded.judged["exposure"]?.value == 60)
    #expect(recorded.judged["sensorGap"] != nil && recorded.judged["depthMissing"] == nil)
    let status = try Program.run("status \(scene.output) --quality good")
    #expect(status.status == 0 && !status.output.contains("poor"))
  }

  @Test("Noise of depth shows in the difference of depth between frames, and only there")
  func noise() throws {
    var judged: [[String: Recorded.Judged]] = []
    for noise in ["0", "8"] {
      let scene = try Self.scene(
        "arkit-scanner", "--noise", noise, "--exposure", "0", "--seed", "3")
      try scene.run("--pipeline quality").succeeds()
      judged.append(try Self.recorded(scene).judged)
    }
    let differences = try judged.map { try #require($0["depthDisagreement"]?.value) }
    #expect(differences[1] > 2 * differences[0] && differences[0] < 5, "\(differences)")
    #expect(judged.allSatisfy { $0["blurred"]?.level == "good" && $0["clipped"]?.level == "good" })
  }

  /// Poses of `trans.json`, by time: column-major, ARKit axes.
  private static func edit(_ scene: Scene, _ change: (Int, inout [Double]) -> Void) throws {
    let file = URL(filePath: scene.file("trans.json").string)
    var poses = try JSONDecoder().decode([String: String].self, from: Data(contentsOf: file))
    let times = poses.keys.sorted { (Double($0) ?? 0) < (Double($1) ?? 0) }
    for (frame, time) in times.enumerated() {
      var matrix = try JSONDecoder().decode([Double].self, from: Data((poses[time] ?? "").utf8))
      change(frame, &matrix)
      poses[time] = "[\(matrix.map { "\($0)" }.joined(separator: ","))]"
    }
    try JSONEncoder().encode(poses).write(to: file)
  }

  @Test("Poses that turn otherwise than the gyroscope says show by as much in rotations")
  func drift() throws {
    func judged(_ scene: Scene) throws -> Recorded.Judged {
      try scene.run("--pipeline quality").succeeds()
      return try #require(Self.recorded(scene).judged["rotationDisagreement"])
    }
    let scene = try Self.scene("arkit-scanner", "--noise", "0", "--exposure", "0", "--seed", "3")
    let small = try judged(scene)
    // 2° per frame about the optical axis: far more than the camera turns.
    try Self.edit(scene) { frame, matrix in
      let angle = 2 * Double(frame) * .pi / 180
      for axis in 0..<3 {
        let (x, y) = (matrix[axis], matrix[4 + axis])
        matrix[axis] = cos(angle) * x + sin(angle) * y
        matrix[4 + axis] = cos(angle) * y - sin(angle) * x
      }
    }
    let large = try judged(scene)
    #expect((small.value ?? 1) < 0.1 && small.level == "good", "\(small)")
    #expect((1.2...2.2).contains(large.value ?? 0) && large.level == "poor", "\(large)")
  }

  @Test(
    "Pictures are judged as they were recorded, all of them, whichever are published in which shape"
  )
  func recordedPictures() throws {
    let scene = try Self.scene("scannet")
    let published = [
      "whole": "", "before": "", "few": "every: 3, first: 2", "part": "every: 2, last: 9",
      "picked": "pick: sharpest, count: 2", "small": "size: 25%", "even": "count: 5",
    ].sorted { $0.key < $1.key }
    let pipeline = try scene.pipeline(
      published.map { name, settings in
        """
          \(name): {uses: decode-color, with: {\(settings)}}
          \(name)-quality: {uses: measure-quality, needs: {color: \(name)}}

        """
      }.joined())
    // These pictures are there before anybody wants to measure them.
    try scene.run("--pipeline \(pipeline) --only before").succeeds()
    try scene.run("--pipeline \(pipeline)").succeeds()
    let whole = try Self.recorded(scene, stage: "whole-quality")
    for (name, _) in published {
      let found = try Self.recorded(scene, stage: "\(name)-quality")
      #expect(found.pictures == Recorded.Pictures(judged: 16, of: 16), "\(name)")
      #expect(found.verdict == whole.verdict && found.reasons == whole.reasons, "\(name)")
      let table = scene.output.appending("a/\(name)/measures.csv").string
      #expect(FileManager.default.fileExists(atPath: table) == (name != "before"), "\(name)")
      #expect(
        FileManager.default.contentsEqual(
          atPath: scene.output.appending("a/\(name)-quality/quality.csv").string,
          andPath: scene.output.appending("a/whole-quality/quality.csv").string), "\(name)")
    }
  }

  @Test("Positions in a wrong unit are not good: no pair of frames sees the same, which is said")
  func unit() throws {
    let scene = try Self.scene("arkit-scanner", "--exposure", "0", "--seed", "3")
    // Micrometers: in millimeters a pair at a turning point of this camera still overlaps, and is poor.
    try Self.edit(scene) { _, matrix in for axis in 12..<15 { matrix[axis] *= 1_000_000 } }
    try scene.run("--pipeline quality --only color,depth,quality").succeeds()
    let recorded = try Self.recorded(scene)
    #expect(recorded.verdict == "unjudged", "\(recorded)")
    #expect(recorded.judged["depthDisagreement"]?.level == "unjudged")
    #expect(recorded.reasons.count == 1)
    #expect(recorded.reasons.allSatisfy { $0.contains("none of 15 pairs of neighboring frames") })
    let status = try Program.run("status \(scene.output)").unwrapped
    #expect(status.contains("  quality unjudged: ") && status.contains("none of 15 pairs"))
  }

  @Test("A row per frame in quality/quality.csv, what is not recorded is empty; what runs again")
  func rows() throws {
    let scene = try Self.scene("scannet")
    let measures = scene.output.appending("a/color/measures.csv")
    try scene.run("--pipeline quality").succeeds()
    let table = try Self.table(scene)
    #expect(table.rows.count == 16)
    #expect(table["frame"] == (0..<16).map { "\($0)" })
    #expect(table["sharpness"].allSatisfy { Double($0) ?? 0 > 0 })
    // ScanNet's app records no poses.
    #expect(table["pose_rotation_deg"].allSatisfy { $0.isEmpty })
    #expect(table["depth_share"].allSatisfy { (0.0...1).contains(Double($0) ?? -1) })
    // Only the stage whose limit changed.
    let result = try scene.run("--pipeline quality --set quality.for=slam -n -v")
    #expect(result.output.contains("quality: run, parameters"), "\(result.output)")
    #expect(result.output.contains("color: up-to-date"))
    let refused = try scene.run("--pipeline quality --set quality.clippedUsable=0.6")
    #expect(refused.status == 64)
    #expect(
      refused.errors.contains(
        "quality.clippedUsable is a threshold in the file that quality.for names: `scanmill list quality default`"
      ))
    // Pictures that are made once more without their measures change nobody's input.
    #expect(FileSystem.exists(measures))
    try scene.run("--only color -R color").succeeds()
    #expect(!FileSystem.exists(measures))
    for pipeline in ["default", "quality"] {
      #expect(
        try scene.run("--pipeline \(pipeline)").errors.contains("nothing to do"), "\(pipeline)")
    }
  }
}
