@testable import Captures
import FoundationEssentials
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

@Suite("Synthetic ScanNet captures")
struct SyntheticScanNetTests {
  private func write(_ folder: FilePath, seed: UInt64, faults: [String] = []) throws -> FilePath {
    var options = SynthesisOptions(output: folder)
    options.seed = seed
    options.faults = faults
    options.frames = 4
    options.width = 160
    options.height = 120
    options.id = "scan"
    options.truthPictures = 1
    return try SyntheticFamilies.write("scannet", options).folder
  }

  private func contents(of folder: FilePath) throws -> [String: Digest] {
    var digests: [String: Digest] = [:]
    for name in try FileSystem.names(in: folder) {
      digests[name] = try Digest(ofFileAt: folder.appending(name))
    }
    return digests
  }

  @Test("The same seed gives the same bytes, video included; another seed gives others")
  func seeds() throws {
    let (first, second, third) = (
      try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder()
    )
    let one = try contents(of: write(first.path, seed: 7))
    #expect(Set(one.keys) == ["scan.camera", "scan.depth", "scan.h264", "scan.imu", "scan.txt"])
    #expect(try contents(of: write(second.path, seed: 7)) == one)
    let other = try contents(of: write(third.path, seed: 8))
    for name in ["scan.depth", "scan.h264", "scan.imu"] { #expect(other[name] != one[name]) }
  }

  @Test("What is written is read back as a healthy capture with all frames")
  func readBack() throws {
    let folder = try TemporaryFolder()
    let place = try write(folder.path, seed: 2)
    let registry = CaptureRegistry([ScanNetReader.self])
    let found = try #require(CaptureFinder(registry).find(place).captures.first)
    let capture = try registry.open(found)
    #expect(capture.id == "scan")
    #expect(capture.frames.count == 4)
    #expect(capture.warnings.isEmpty)
    #expect(capture.color.value?.description.width == 160)
    let pictures = try #require(capture.depth.value).pictures()
    #expect(pictures.count == 4)
    #expect(pictures.values.allSatisfy { $0.contains { $0 > 0 } })
  }

  @Test(
    "A missing file is missing",
    arguments: [("missing-imu", "scan.imu"), ("missing-color", "scan.h264")])
  func missing(_ fault: String, _ file: String) throws {
    let folder = try TemporaryFolder()
    let place = try write(folder.path, seed: 3, faults: [fault])
    #expect(try contents(of: place)[file] == nil)
  }

  @Test("What is unknown or there already is refused")
  func refused() throws {
    let folder = try TemporaryFolder()
    _ = try write(folder.path, seed: 1)
    #expect(throws: (any Error).self) { try write(folder.path, seed: 1) }
    #expect(throws: SynthesisError.self) {
      try write(folder.path.appending("x"), seed: 1, faults: ["no-such"])
    }
  }

  @Test(
    "An offset of motion sensors is refused where there are none",
    arguments: [
      ("strabo", nil), ("record3d", nil), ("polycam", nil), ("3d-scanner-app", nil),
      ("multiscan", "ios-lidar"),
    ] as [(String, String?)])
  func offset(_ family: String, _ generation: String?) throws {
    let folder = try TemporaryFolder()
    var options = SynthesisOptions(output: folder.path)
    options.generation = generation
    options.imuOffsetSeconds = 0.02
    options.frames = 2
    #expect(throws: SynthesisError.self) { try SyntheticFamilies.write(family, options) }
    #expect(try FileSystem.names(in: folder.path).isEmpty)
  }
}
