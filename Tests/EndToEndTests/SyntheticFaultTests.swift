import Foundation
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@Suite("Captures made with known truth come out as it says", .runsPrograms)
struct SyntheticFaultTests {
  /// A capture to be made: a generation without fault, or a fault in the first generation that has it.
  struct Situation: Sendable, CustomTestStringConvertible {
    var family: String
    var generation: String
    var fault: String?
    /// Of its capture.
    var id = ""
    var testDescription: String { "\(family) \(generation) \(fault ?? "healthy")" }
  }

  static let all: [Situation] = SyntheticFamilies.names.flatMap { family in
    let generations = SyntheticFamilies.generations(of: family) ?? []
    let faults = (SyntheticFamilies.faults(of: family) ?? []).map { fault in
      Situation(
        family: family, generation: special[fault.name] ?? generations.first ?? "",
        fault: fault.name)
    }
    let healthy = generations.map { Situation(family: family, generation: $0) }
    return (healthy + faults).enumerated().map { number, situation in
      var situation = situation
      situation.id = "scan-\(number)"
      return situation
    }
  }

  /// Faults that the first generation of their family cannot have.
  private static let special = [
    "motion-partial": "ios-single", "motion-claim": "ios-single",
    "missing-grav": "ios-single", "png-and-array": "npy",
  ]

  /// Families of one file per picture, whose truth names every pose and every camera.
  private static let pictureFamilies = ["stray-scanner", "3d-scanner-app", "record3d", "polycam"]

  @Test(
    "Every generation and every fault gives its warnings and loses no readable frame",
    arguments: all)
  func situation(_ situation: Situation) throws {
    let run = try Self.run(of: situation.family)
    let expected = try Expectation(
      file: run.folder.appending("in/\(situation.id).truth/expected.json"))
    let captures = try run.result.json().objects("captures").filter {
      $0["id"] as? String == situation.id
    }
    #expect(captures.count == 1)
    let capture = try #require(captures.first)
    #expect((capture["outcome"] as? String == "failed") == (expected.exitCode == 1))
    #expect((expected.exitCode...1).contains(run.result.status), "\(run.result.errors)")
    try expected.checkFailures(in: capture)
    try expected.checkWarnings(in: capture)
    let place = run.folder.appending("out/\(situation.id)")
    try expected.checkPictures("depth", in: place)
    try expected.checkPictures("confidence", in: place)
    try expected.checkFrameTimes(in: place)
    try expected.checkColorCount(in: place)
    try expected.checkIMU(in: place)
    if Self.pictureFamilies.contains(situation.family) {
      try expected.checkSubjects(in: capture)
      try expected.checkDocument(in: place)
      try expected.checkColorIndices(in: place)
      try expected.checkCameraTables(in: place)
    }
    try Invariants(place).check()
  }

  /// Frames of faults that need more; the IMU of `imu-short` must end more than a second before the last one.
  static let leastFrames = [
    "imu-short": 60, "imu-late": 60, "dropped-pictures": 24, "imu-gap": 24,
  ]

  /// The captures of all situations of a family, and what one run over all of them printed.
  private struct FamilyRun: Sendable {
    var folder: FilePath
    var result: Program.Result
  }

  private static let runs = Dictionary(
    uniqueKeysWithValues: SyntheticFamilies.names.map { ($0, Once<FamilyRun>()) })

  private static func run(of family: String) throws -> FamilyRun {
    try #require(runs[family]).value {
      let folder = try TemporaryFolder.ofThisProcess().appending("faults-\(family)")
      for situation in all where situation.family == family {
        _ = try SyntheticFamilies.write(
          family, options(for: situation, output: folder.appending("in")))
      }
      // In one process: a worker for each of hundreds of captures takes longer than its work. `FixtureTests` has workers.
      let words: Words =
        "run \(folder.appending("in")) --output \(folder.appending("out")) --json --inline"
      return FamilyRun(folder: folder, result: try Program.run(words))
    }
  }

  private static func options(for situation: Situation, output: FilePath) -> SynthesisOptions {
    var options = SynthesisOptions(output: output)
    (options.id, options.seed, options.truthPictures) = (situation.id, 3, 0)
    options.generation = situation.generation
    if situation.family == "arkit-scanner", situation.fault == "nan-depth" {
      options.generation = "g4"
    }
    options.faults = situation.fault.map { [$0] } ?? []
    options.frames = leastFrames[situation.fault ?? ""] ?? Rounds.of(12, soak: 24)
    if pictureFamilies.contains(situation.family) {
      options.showsFrameCode = true
      // Without metadata only the sizes of devices are known.
      if situation.family != "record3d" {
        (options.depthWidth, options.depthHeight) = (64, 48)
      }
    }
    if situation.family != "strabo" { (options.width, options.height) = (160, 120) }
    return options
  }
}
