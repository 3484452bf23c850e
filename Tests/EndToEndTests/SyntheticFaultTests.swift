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
    var testDescription: String { "\(family) \(generation) \(fault ?? "healthy")" }
  }

  static let all: [Situation] = SyntheticFamilies.names.flatMap { family in
    let generations = SyntheticFamilies.generations(of: family) ?? []
    let faults = (SyntheticFamilies.faults(of: family) ?? []).map { fault in
      Situation(
        family: family, generation: special[fault.name] ?? generations.first ?? "",
        fault: fault.name)
    }
    return generations.map { Situation(family: family, generation: $0) } + faults
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
    let folder = try TemporaryFolder()
    let input = folder.path.appending("in")
    try Program.run(Self.command(for: situation, output: input)).succeeds()
    let expected = try Expectation(
      file: input.appending("scan.truth").appending("expected.json"))
    let result = try Program.run("run \(input) --output \(folder.path.appending("out")) --json")
    #expect(result.status == expected.exitCode, "\(result.errors)")
    let capture = try expected.onlyCapture(of: result.json())
    try expected.checkFailures(in: capture)
    try expected.checkWarnings(in: capture)
    let place = folder.path.appending("out").appending(try #require(capture["id"] as? String))
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

  private static func command(for situation: Situation, output: FilePath) -> [String] {
    var generation = situation.generation
    if situation.family == "arkit-scanner", situation.fault == "nan-depth" { generation = "g4" }
    let frames = leastFrames[situation.fault ?? ""] ?? Rounds.of(12, soak: 24)
    var words = [
      "synthesize", situation.family, "--output", output.string, "--frames", "\(frames)", "--seed",
      "3", "--id", "scan", "--generation", generation,
    ]
    if pictureFamilies.contains(situation.family) {
      words += ["--frame-code", "--truth-pictures", "1"]
      // Without metadata only the sizes of devices are known.
      if situation.family != "record3d" {
        words += ["--depth-width", "64", "--depth-height", "48"]
      }
    }
    if situation.family != "strabo" { words += ["--width", "160", "--height", "120"] }
    if let fault = situation.fault { words += ["--fault", fault] }
    return words
  }
}
