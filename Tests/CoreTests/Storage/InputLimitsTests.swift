@testable import Core
import SystemPackage
import Testing

@Suite struct `Limits of input` {
  @Test(
    arguments: [
      InputLimits.pixelsOfPicture, InputLimits.sideOfPicture, InputLimits.scansOfJPEG,
      InputLimits.scannedPixelsOfJPEG, InputLimits.bytesOfPicture, InputLimits.tracksOfMovie,
      InputLimits.samplesOfMovie, InputLimits.bytesOfMovieIndex, InputLimits.boxesOfMovieIndex,
      InputLimits.depthOfMovieIndex, InputLimits.bytesOfJSON, InputLimits.bytesOfLine,
      InputLimits.bytesOfDescription, InputLimits.depthOfJSON, InputLimits.bytesOfSettings,
      InputLimits.depthOfYAML, InputLimits.aliasesOfYAML, InputLimits.bytesOfRecord,
      InputLimits.samplesOfIMU, InputLimits.bytesOfTable, InputLimits.framesOfCapture,
    ])
  func `just at a limit passes, just above tells number, limit and reason`(_ limit: InputLimit)
    throws
  {
    try limit.check(limit.most, of: "file")
    let error = try #require(throws: FileError.self) { try limit.check(limit.most + 1, of: "file") }
    #expect(error.description.hasPrefix("file: "))
    for word in ["\(limit.most + 1) \(limit.what)", "at most \(limit.most) ", limit.reason] {
      #expect(error.description.contains(word))
    }
  }

  private static func aliases(_ count: Int) -> String {
    "a: &a 1\nb: [" + (0..<count).map { _ in "*a" }.joined(separator: ", ") + "]\n"
  }

  @Test(
    arguments: [
      (String(repeating: "[", count: 64), true), (String(repeating: "[", count: 100_000), false),
      (String(repeating: "{a: ", count: 65), false),
      (String(repeating: "- ", count: 63) + "a", true),
      (String(repeating: "- ", count: 5000), false),
      (String(repeating: "? ", count: 5000), false), (aliases(32), true), (aliases(33), false),
      ("a: [1, 2]\n", true), (String(repeating: "a: [1, 2]\n", count: 1000), true),
      ("a: 2 * 3\n", true), (String(repeating: "#", count: 1_048_577), false),
      ((0..<200).map { String(repeating: " ", count: $0) + "a:\n" }.joined(), false),
    ])
  func `YAML is not parsed where it is too deep, too long or endless`(
    _ text: String, _ isFine: Bool
  ) {
    #expect((YAMLNesting.problem(in: text) == nil) == isFine)
  }
}
