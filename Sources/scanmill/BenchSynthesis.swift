import Benchmarking
import Core
import SystemPackage

/// The synthetic capture that `bench` creates if none is named.
struct BenchSynthesis {
  var family: String
  var frames: Int
  var seed: UInt64
  var noise: Double
  /// In seconds.
  var exposure: Double
  var quality: Int

  /// A description for the report.
  var origin: String {
    "synthesized: \(family), \(frames) frames, seed \(seed), noise \(noise), "
      + "exposure \(exposure) s, quality \(quality)"
  }

  /// The message before it is created.
  var announcement: String { "synthesize \(family), \(frames) frames" }

  /// Creates the capture in a separate process, because this process's memory would count as memory
  /// of the programs that it starts. Returns the capture's folder.
  func make(
    with program: FilePath, in folder: FilePath, _ runner: ProgramRunner
  ) throws -> FilePath {
    let captures = folder.appending("captures")
    let outcome = try runner.run(
      program.string,
      [
        "synthesize", family, "--output", captures.string, "--frames", "\(frames)", "--seed",
        "\(seed)", "--noise", "\(noise)", "--exposure", "\(exposure)", "--quality", "\(quality)",
        "--truth-pictures", "0",
      ])
    let words = String(decoding: outcome.output, as: UTF8.self)
    guard outcome.end.isSuccess, let capture = words.split(separator: "\n").first else {
      throw BenchmarkError(
        "the capture cannot be made: " + String(decoding: outcome.error, as: UTF8.self))
    }
    return FilePath(String(capture))
  }
}
