@testable import Captures
@testable import Core
@testable import Engine
import StageSupport
@testable import Stages
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@Suite("The second camera of a capture")
struct SecondColorTests {
  private static func scene(_ generation: String) throws -> (TemporaryFolder, StageBench) {
    let folder = try TemporaryFolder()
    var options = SynthesisOptions(output: folder.path)
    (options.seed, options.frames, options.width, options.height) = (7, 6, 160, 120)
    options.generation = generation
    let made = try SyntheticFamilies.write("multiscan", options)
    let registry = CaptureRegistry([MultiScanReader.self])
    let found = try #require(CaptureFinder(registry).find(made.folder).captures.first)
    return (folder, try StageBench(try registry.open(found)))
  }

  @Test(
    "Its pictures have the names of the first camera's frames, its tables their times and its own intrinsics"
  )
  func decoded() throws {
    let (folder, bench) = try Self.scene("ios-dual")
    defer { withExtendedLifetime(folder) {} }
    let first = try bench.run(DecodeColor.self, as: "color")
    let second = try bench.run(DecodeSecondColor.self, as: "color2", ["every": "2"])
    let names = ["000000.png", "000002.png", "000004.png"]
    #expect(second.result.frames == 3)
    #expect(second.names.sorted() == names + ["frames.csv", "intrinsics.csv"])
    // Both lenses of a synthetic capture show the same.
    let digests = Dictionary(
      uniqueKeysWithValues: first.artifact.record.outputs.map { ($0.path, $0.sha256) })
    for output in second.artifact.record.outputs where output.path.hasSuffix(".png") {
      #expect(output.sha256 == digests[output.path])
    }
    let frames = try second.file("frames.csv").text().lines.map(String.init)
    let times = bench.capture.frames.map { $0.pictureTime?.nanoseconds ?? -1 }
    #expect(
      frames
        == ["frame,timestamp_ns,color"]
        + zip([0, 2, 4], names).map { "\($0),\(times[$0]),color2/\($1)" })
    let camera = try #require(bench.capture.secondIntrinsics.last)
    let intrinsics = try second.file("intrinsics.csv").text().lines.map(String.init)
    #expect(
      intrinsics.last == "4,160,120,\(camera.fx),\(camera.fy),\(camera.cx),\(camera.cy)")
    #expect(
      second.artifact.record.recorded["pairing"]
        == .string("by time with the pictures of the first camera, 6 of 6 proved"))
    #expect(second.warnings.isEmpty)
  }

  @Test("A capture with one camera has none, and a pipeline with the stage settles what it makes")
  func applicability() throws {
    let (_, single) = try Self.scene("ios-single")
    let parameters = ParameterValues(defaultsOf: DecodeSecondColor.parameters)
    #expect(
      DecodeSecondColor.applicability(parameters, CaptureSummary(single.capture, readerVersion: 1))
        == .notApplicable("the capture has no second camera"))
    let (_, dual) = try Self.scene("ios-dual")
    let told = dual.capture.warnings.filter { $0.code == .multipleStreams }
    #expect(told.count == 1)
    #expect(told.allSatisfy { DecodeSecondColor.settles($0, parameters) })
  }
}
