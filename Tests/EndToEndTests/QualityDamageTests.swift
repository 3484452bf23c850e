import Foundation
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

/// Every damage that the synthesizer and the fixtures know, through the pipeline `quality`.
@Suite("The quality of damaged captures", .runsPrograms)
struct QualityDamageTests {
  /// What `docs/quality.md` says of the columns of `quality.csv`.
  static let ranges: [(column: String, range: ClosedRange<Double>)] = [
    ("sharpness", 0...1e7), ("sharpness_relative", 0...1e7), ("blur_px", 0...1e5),
    ("dark_share", 0...1), ("bright_share", 0...1), ("depth_share", 0...1),
    ("confidence_median", 0...255), ("depth_difference_median_mm", 0...65_535),
    ("depth_difference_p90_mm", 0...65_535), ("depth_difference_median_permille", 0...1e6),
    ("depth_difference_p90_permille", 0...1e6), ("pose_rotation_deg", 0...180),
    ("gyroscope_rotation_deg", 0...1e5), ("blur_effect", 0...1),
    ("blur_sigma_px", 0...1000),
  ]

  /// Values of the record that are parts of something.
  private static let shares = ["blurred", "clipped", "duplicates", "depthMissing"]

  @Test(
    "Every generation and damage has a verdict with numbers in their ranges, or a reason why there is none",
    arguments: SyntheticFamilies.names)
  func synthetic(family: String) throws {
    let folder = try TemporaryFolder()
    let all = SyntheticFaultTests.all.filter { $0.family == family }
    let situations =
      Rounds.every(2, of: all.filter { $0.fault == nil })
      + Rounds.every(12, of: all.filter { $0.fault != nil })
    for (number, situation) in situations.enumerated() {
      var options = SynthesisOptions(output: folder.path.appending("in"))
      options.seed = 3
      options.id = "scan-\(number)"
      options.truthPictures = 0
      options.generation =
        family == "arkit-scanner" && situation.fault == "nan-depth" ? "g4" : situation.generation
      options.faults = situation.fault.map { [$0] } ?? []
      options.frames = SyntheticFaultTests.leastFrames[situation.fault ?? ""] ?? 12
      if family != "strabo" { (options.width, options.height) = (96, 72) }
      _ = try SyntheticFamilies.write(family, options)
    }
    let verdicts = try Self.check(
      [folder.path.appending("in")], in: folder, count: situations.count)
    // Most damage leaves something that can be measured.
    #expect(verdicts * 2 > situations.count, "\(verdicts) of \(situations.count)")
  }

  @Test(
    "So has every fixture of an independent encoder", .enabled(if: Fixtures.arePresent),
    arguments: FixtureTests.families)
  func fixtures(family: String) throws {
    let folder = try TemporaryFolder()
    let inputs = Rounds.every(4, of: Fixtures.cases(of: family)).map(\.input)
    let verdicts = try Self.check(inputs, in: folder, count: inputs.count)
    #expect(verdicts > 0, "\(family)")
  }

  /// Runs the pipeline over captures and looks at each; returns how many have a verdict.
  private static func check(
    _ inputs: [FilePath], in folder: TemporaryFolder, count: Int
  ) throws -> Int {
    let output = folder.path.appending("out")
    let result = try Program.run(
      ["run"] + inputs.map(\.string) + [
        "--output", output.string, "--pipeline", "quality", "--json", "--inline",
      ])
    // Some captures cannot be read; nothing else may be wrong.
    #expect(result.status == 0 || result.status == 1, "\(result.status): \(result.errors)")
    let captures = try result.json().objects("captures")
    #expect(captures.count == count)
    var verdicts = 0
    for capture in captures {
      let id = try #require(capture["id"] as? String)
      let stages = try capture.objects("stages")
      let stage = try #require(stages.first { $0["stage"] as? String == "quality" }, "\(id)")
      if stage["outcome"] as? String == "made" {
        verdicts += 1
        try checkRecord(output.appending(id))
        try checkTable(output.appending(id))
      } else {
        #expect(!(stage["message"] as? String ?? "").isEmpty, "\(id): \(stage)")
      }
      // Whatever else fails is a matter of what is in the capture.
      #expect(["input", nil].contains(capture["cause"] as? String), "\(id): \(capture)")
    }
    return verdicts
  }

  /// The verdict is that of the worst subject, and says why if it is not the best.
  private static func checkRecord(_ capture: FilePath) throws {
    let file = capture.appending("quality/artifact.json")
    let recorded = try file.json().object("recorded")
    let order = ["good", "unjudged", "usable", "poor"]
    let verdict = try #require(
      (recorded["verdict"] as? String).flatMap(order.firstIndex), "\(capture)")
    let judged = try #require(recorded["judged"] as? [String: [String: Any]], "\(capture)")
    let levels = try judged.map { name, subject in
      if subject["level"] as? String == "unjudged" {
        #expect(subject["value"] == nil, "\(capture): \(name)")
        return 1
      }
      let value = try #require(subject["value"] as? Double, "\(capture): \(name)")
      #expect(
        value >= 0 && value <= (shares.contains(name) ? 1 : 1e6), "\(capture): \(name) \(value)")
      return try #require((subject["level"] as? String).flatMap(order.firstIndex), "\(capture)")
    }
    #expect(levels.max() == verdict, "\(capture): \(recorded)")
    let reasons = try #require(recorded["reasons"] as? [String], "\(capture)")
    #expect(reasons.isEmpty == (verdict == 0), "\(capture): \(reasons)")
    let document = try capture.appending("capture.json").json()
    let told = try document.object("quality")
    #expect(told["verdict"] as? String == order[verdict], "\(capture)")
  }

  /// One row per frame, every number in its range.
  private static func checkTable(_ capture: FilePath) throws {
    let table = try Table(capture.appending("quality/quality.csv"))
    let frames = try #require(try capture.appending("capture.json").json()["frames"] as? Int)
    #expect(table["frame"] == (0..<frames).map(String.init), "\(capture)")
    for (column, range) in ranges {
      #expect(table.columns.contains(column))
      for (frame, cell) in table[column].enumerated() where !cell.isEmpty {
        let value = try #require(Double(cell), "\(capture): \(column) \(frame): \(cell)")
        #expect(range.contains(value), "\(capture): \(column) of frame \(frame) is \(cell)")
      }
    }
    for (frame, cell) in table["duplicate_of"].enumerated() where !cell.isEmpty {
      #expect((0..<frame).contains(try #require(Int(cell))), "\(capture): \(frame) \(cell)")
    }
    for unit in ["mm", "permille"] {
      let middle = table["depth_difference_median_\(unit)"].map(Double.init)
      let most = table["depth_difference_p90_\(unit)"].map(Double.init)
      for (middle, most) in zip(middle, most) {
        #expect((middle == nil) == (most == nil), "\(capture)")
        if let middle, let most { #expect(middle <= most, "\(capture)") }
      }
    }
  }
}
