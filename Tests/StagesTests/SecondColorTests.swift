import Foundation
import Media
import StageSupport
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Engine
@testable import Stages
@testable import Synthetic

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

@Suite("How many threads decode")
struct DecodingThreadsTests {
  @Test(
    "are as many as keep the cores busy, and none for the last few percent",
    arguments: [
      (1, 0.9, 1), (2, 0.28, 1), (2, 0.5, 1), (2, 0.54, 1), (2, 0.56, 2), (2, 1, 2), (4, 0.2, 1),
      (4, 0.3, 2), (4, 0.64, 3), (64, 0.5, 8), (2, 0, 1), (2, .nan, 1), (2, .infinity, 1),
      (2, -1, 1), (0, 0.9, 1), (2, 7, 2),
    ])
  func count(cores: Int, share: Double, threads: Int) {
    #expect(SharedVideoDecoder.threads(cores: cores, share: share) == threads)
  }

  @Test(
    "A likely share is near what was measured on real recordings",
    arguments: [
      // 1920x1440 at 386 KB a picture, 1920x1080 at 17 KB, 480x360 at 2 KB, HEVC 1376x1840 at 28 KB.
      ("h264", 386_000, 1920.0 * 1440, 0.5...0.75), ("h264", 16_700, 1920.0 * 1080, 0.2...0.4),
      ("h264", 2_000, 480.0 * 360, 0.2...0.4), ("hevc", 27_500, 1376.0 * 1840, 0.25...0.45),
      (nil, 0, 0, 0...0),
    ] as [(String?, Double, Double, ClosedRange<Double>)])
  func likely(encoding: String?, bytes: Double, pixels: Double, range: ClosedRange<Double>) {
    let work = SharedVideoDecoder.workNanosecondsPerPixel(format: .png, compression: .fast)
    let share = SharedVideoDecoder.likelyShare(
      encoding: encoding, bytesPerPicture: bytes, pixels: pixels, workNanosecondsPerPixel: work)
    #expect(range.contains(share), "\(share)")
  }
}

@Suite("What stages are expected to write")
struct ExpectedBytesTests {
  /// What a stage expects for 100 frames of color of 8x6 and depth of 4x3 pixels.
  private static func expected(
    _ kind: any Stage.Type, _ settings: [String: String]
  ) throws -> ExpectedBytes? {
    let capture = RGBDScene(frames: 3).capture
    var values = ParameterValues(defaultsOf: kind.parameters)
    for (name, text) in settings {
      let parameter = try #require(
        kind.parameters.first {
          ($0.sharedName.map { "\($0.stage).\($0.parameter)" } ?? $0.name) == name
        })
      values[parameter.name] = try parameter.value(from: text)
    }
    var opened = OpenedCapture(capture, CaptureSummary(capture, readerVersion: 1))
    opened.color?.count = 100
    opened.depth?.count = 100
    return kind.expectedBytes(values, opened)
  }

  @Test(
    "Only frames that are chosen count, and those that color picks may lack depth",
    arguments: [
      (DecodeColor.self, [:], 3600, 4752), (DecodeColor.self, ["count": "5"], 180, 237),
      (DecodeColor.self, ["every": "10", "count": "50"], 360, 475),
      (DecodeColor.self, ["pick": "motion"], 36, 475), (AlignDepth.self, [:], 480, 1920),
      (AlignDepth.self, ["color.count": "5"], 0, 96),
      (AlignDepth.self, ["color.count": "5", "count": "2"], 0, 38),
      // Files of other stages are named, not written.
      (ExportNerfstudio.self, [:], nil, nil), (ExportNerfstudio.self, ["count": "5"], 0, 237),
    ] as [(any Stage.Type, [String: String], Int64?, Int64?)])
  func chosen(
    _ kind: any Stage.Type, _ settings: [String: String], _ least: Int64?, _ usual: Int64?
  ) throws {
    let found = try Self.expected(kind, settings)
    #expect(found?.least == least && found?.usual == usual, "\(String(describing: found))")
  }
}

@Suite("What programs print, kept small")
struct ProgramOutputTests {
  @Test(
    "Both ends are kept and what is between is counted",
    arguments: [
      (5, "abcde"), (10, "abcdefghij"), (20, "abcdefghijklmnopqrst"),
      (26, "abcdefghij\n[... 6 bytes of output left out here ...]\nqrstuvwxyz"),
    ])
  func ends(count: Int, expected: String) throws {
    let folder = try TemporaryFolder()
    let log = LogFile(folder.path.appending("log"))
    let ends = try FileDescriptor.pipe()
    try ends.writeEnd.writeAll("abcdefghijklmnopqrstuvwxyz".utf8.prefix(count))
    try ends.writeEnd.close()
    var output = ProgramOutput(ends.readEnd, log, keeping: 10)
    while output.take(withinMilliseconds: 10) {}
    output.finish()
    try ends.readEnd.close()
    #expect(try log.path.text() == expected)
  }
}
