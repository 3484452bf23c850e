import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("The time offset between camera and IMU, measured and applied", .runsPrograms)
struct TimeOffsetTests {
  /// `timeOffset` of `capture.json`.
  private struct Document: Decodable {
    struct Offset: Decodable {
      var state: String
      var reason: String?
      var source: String
      var offsetNs: Int64?
      var lowNs: Int64?
      var highNs: Int64?
    }
    struct Warning: Decodable { var code: String }
    var timeOffset: Offset?
    var warnings: [Warning]
  }

  private static func document(_ scene: Scene) throws -> Document {
    let file = scene.output.appending("a/capture.json")
    let data = try #require(file.contents)
    return try JSONDecoder().decode(Document.self, from: data)
  }

  private static func scene(
    _ family: String, offset: String, frames: String = "180", _ more: String...
  ) throws -> Scene {
    try Scene(
      synthesizing: """
        \(family) --frames \(frames) --rate 30 --width 64 --height 48 --empty-room --quality 51 \
        --imu-offset \(offset) --seed 3 \(more)
        """)
  }

  private static func only(_ stages: String) -> [String] {
    ["--pipeline", "time-offset", "--only", stages]
  }

  @Test(
    "It is found to a millisecond in captures of every family with poses and a gyroscope",
    arguments: [("arkit-scanner", "-0.12"), ("stray-scanner", "0.0071")])
  func found(family: String, seconds: String) throws {
    let scene = try Self.scene(family, offset: seconds)
    try Program.run(scene.arguments(Self.only("time-offset,tables"))).succeeds()
    let document = try Self.document(scene)
    let found = try #require(document.timeOffset)
    let truth = try #require(Double(seconds)) * 1e9
    let (offset, low, high) = try (
      Double(#require(found.offsetNs)), Double(#require(found.lowNs)),
      Double(#require(found.highNs))
    )
    #expect(abs(offset - truth) < 1e6, "\(found)")
    #expect(low < high && low <= offset && offset <= high)
    // The other sign would be wrong by far more than the interval.
    #expect(abs(offset + truth) > 10 * (high - low))
    let isLarge = abs(truth) > 0.5e9 / 30
    #expect(document.warnings.contains { $0.code == "time-offset" } == isLarge)
    // The lowest row of the table is the offset.
    let table = try Table(scene.output.appending("a/time-offset/time_offset.csv"))
    let residuals = table["residual_rad_s"].compactMap { Double($0) }
    let best = try #require(residuals.indices.min { residuals[$0] < residuals[$1] })
    #expect(abs(try #require(Double(table["offset_ns"][best])) - truth) <= 4e6)
  }

  @Test(
    "Where there are no poses, the pictures tell how the camera turns",
    arguments: Rounds.every(
      4,
      of: [
        ("scannet", "-0.0213"), ("vi-slam", "0.0113"),
        // Each motion file has its own rate and its own times; on iOS one callback writes all. Times of
        // pictures come from the start of the recording.
        ("multiscan --generation android-plain", "-0.12"),
        ("multiscan --generation ios-single", "0.0213"),
      ]))
  func pictures(family: String, seconds: String) throws {
    let scene = try Scene(
      synthesizing: """
        \(family.split(separator: " ").map(String.init)) --frames 150 --rate 30 --width 480 \
        --height 360 --imu-offset \(seconds) --seed 3
        """)
    try Program.run(scene.arguments(Self.only("time-offset"))).succeeds()
    let found = try #require(try Self.document(scene).timeOffset)
    let truth = try #require(Double(seconds)) * 1e9
    let (offset, low, high) = try (
      Double(#require(found.offsetNs, "\(found)")), Double(#require(found.lowNs)),
      Double(#require(found.highNs))
    )
    #expect(abs(offset - truth) < 1.5e6, "\(found)")
    #expect((2 * low - offset...2 * high - offset).contains(truth), "\(found)")
    #expect(found.source == "pictures")
    // Poses are asked for, and there are none.
    let refused = try Program.run(
      scene.arguments(Self.only("time-offset") + ["--set", "time-offset.rotation=poses"]))
    #expect(refused.output.contains("not-made=time-offset"), "\(refused.output)")
  }

  @Test(
    "A MultiScan capture without rotation rates has no offset, and it is said why",
    arguments: Rounds.every(
      2,
      of: [
        // Poses but no motion files.
        ("ios-lidar", nil, "no IMU: no motion files"),
        ("android-arcore", nil, "no IMU: no motion files"),
        ("android-plain", "rot", "no gyroscope"), ("ios-single", "rot", "no gyroscope"),
      ] as [(String, String?, String)]))
  func noRates(generation: String, removed: String?, reason: String) throws {
    // Without motion sensors no offset can be asked for.
    let scene = try Self.scene(
      "multiscan", offset: removed == nil ? "0" : "0.0213", frames: "20", "--generation", generation
    )
    if let removed {
      try FileSystem.remove(scene.file("a.\(removed)"))
    }
    // What was named could not be made for any capture.
    let result = try Program.run(scene.arguments(Self.only("time-offset")))
    #expect(result.status == 1, "\(result.errors)")
    #expect(result.output.contains("not-made=time-offset"), "\(result.output)")
    #expect(result.output.contains("note=\"time-offset: \(reason)\""), "\(result.output)")
    #expect(try Self.document(scene).timeOffset == nil)
    #expect(!FileSystem.exists(scene.output.appending("a/time-offset")))
    // Who asks for it is told; where there are no samples there is nothing to match.
    let asked = try scene.run("--until imu --set imu.timeOffset=auto")
    #expect(asked.status == 1, "\(asked.errors)")
    let text = asked.output + asked.errors
    #expect(
      text.contains(
        removed == nil
          ? "imu: no motion files"
          : "imu.timeOffset is auto, and no time offset was measured for this capture: \(reason)"),
      "\(text)")
  }

  @Test("A recording that is too short has no number, but a reason; auto is refused with it")
  func undetermined() throws {
    let scene = try Self.scene("stray-scanner", offset: "0.01", frames: "30")
    try Program.run(scene.arguments(Self.only("time-offset"))).succeeds()
    let found = try #require(try Self.document(scene).timeOffset)
    #expect(found.state == "not-determined")
    #expect(found.offsetNs == nil && found.lowNs == nil)
    let reason = try #require(found.reason)
    #expect(reason.contains("rotations from frame to frame"))
    let refused = try scene.run("--until imu --set imu.timeOffset=auto")
    #expect(refused.status == 1)
    #expect(refused.errors.contains(reason), "\(refused.errors)")
    try scene.run("--until imu --set imu.timeOffset=0s").succeeds()
  }

  @Test("Samples belong to frames by the offset, and nothing but their stage runs again")
  func applied() throws {
    let scene = try Self.scene("stray-scanner", offset: "0.0213")
    try scene.run("--until imu,tables").succeeds()
    let frames = "a/imu/frame_imu.csv"
    let plain = try Table(scene.output.appending(frames))
    let planned = try scene.run("--until imu,tables --set imu.timeOffset=auto -n -v")
    #expect(planned.output.contains("time-offset: run, never-built"), "\(planned.output)")
    #expect(planned.output.contains("imu: run, parameters (timeOffset: 0ns -> auto)"))
    #expect(planned.output.contains("tables: up-to-date"))
    try scene.run("--until imu --set imu.timeOffset=auto").succeeds()
    let offset = try #require(try Self.document(scene).timeOffset?.offsetNs)
    let shifted = try Table(scene.output.appending(frames))
    #expect(shifted.rows != plain.rows)
    for row in [0, shifted.rows.count / 2] {
      let (time, frame, told) = try (
        #require(Int64(shifted["timestamp_ns"][row])),
        #require(Int64(shifted["frame_timestamp_ns"][row])),
        #require(Int64(shifted["offset_ns"][row]))
      )
      #expect(told == time - frame - offset)
    }
    // Back again: the same bytes as at first, and capture.json does not tell what is not asked for.
    try scene.run("--until imu --set imu.timeOffset=default").succeeds()
    #expect(try Table(scene.output.appending(frames)).rows == plain.rows)
    #expect(try Self.document(scene).timeOffset == nil)
  }

  @Test("A duration is taken as it is, by the stage and by all exports")
  func given() throws {
    let scene = try Self.scene("stray-scanner", offset: "0", frames: "20")
    try scene.run("--export kalibr --set imu.timeOffset=7ms").succeeds()
    let list = try Table(scene.output.appending("a/export-kalibr/frames.csv"))
    let name = try #require(FilePath(list["name"][0]).stem)
    #expect(Int64(name) == (Int64(list["timestamp_ns"][0]) ?? 0) + 7_000_000)
    #expect(!FileSystem.exists(scene.output.appending("a/time-offset")))
    let wrong = try scene.run("--until imu --set imu.timeOffset=7")
    #expect(wrong.status == 64)
    #expect(wrong.errors.contains("auto or a duration with its unit"), "\(wrong.errors)")
  }
}
