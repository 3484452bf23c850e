@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Recognition of MultiScan captures")
struct MultiScanRecognitionTests {
  typealias Samples = MultiScanSamples

  private func recognize(_ folder: FilePath) throws -> [Recognition] {
    MultiScanReader.recognize(try FolderListing(of: folder))
  }

  @Test(
    "Captures of other families are not taken for one", .enabled(if: Fixtures.arePresent),
    arguments: ["scannet", "arkit-scanner", "vi-slam", "strabo"].flatMap(Fixtures.cases(of:)))
  func otherFamilies(_ fixture: FixtureCase) throws {
    let listing = try FolderListing(of: fixture.capture)
    #expect(MultiScanReader.recognize(listing).isEmpty)
    for folder in listing.subfolders {
      #expect(try recognize(fixture.capture.appending(folder)).isEmpty)
    }
  }

  @Test("Several stems of one folder are several captures; foreign files are none")
  func mixed() throws {
    let folder = try Samples.lidar(frames: 1)
    for name in folder.names(ending: "") {
      let other = name.replacing(Samples.stem, with: "renamed scan-00")
      try folder.write(other, try folder.bytes(of: name))
    }
    for kind in Samples.motionKinds {
      try folder.write("third.\(kind)", Samples.motion(kind, records: 0..<4))
      try folder.write("third.\(kind).txt", "ply\nformat ascii 1.0\n")
      try folder.write("third.\(kind)_ascii", "ply\n")
    }
    try folder.write("third-primary.mp4", [0])
    try folder.write("third-secondary.mp4", [0])
    for junk in [
      "notes.txt", "settings.json", "movie.mp4", "clip-primary.mp4", "lines.jsonl", "model.rot",
      "._third.rot", ".depth.zlib", "third_depth.txt", "third_thumb.jpg", "third_preview.mp4",
      "process.log", "processed.txt", "a.zlib", "depth.zlib.bak",
    ] {
      try folder.write(junk, "{\"a\": 1} junk")
    }
    let found = try recognize(folder.path)
    #expect(found.map(\.id) == [Samples.stem, "renamed scan-00", "third"].sorted())
    #expect(found.allSatisfy { $0.certainty == .certain })
    let third = try MultiScanReader.open(#require(found.first { $0.id == "third" }))
    #expect(third.generation == "ios-dual")
    #expect(third.imu.value?.sampleCounts.count == 5)
  }

  @Test("An ending alone is not enough for certainty")
  func endings() throws {
    let folder = try MultiScanFolder()
    try folder.write("a.depth.zlib", "")
    try folder.write("b.rot", "this is not a motion file at all, by any means: it is prose")
    try folder.write("c.acce", "")
    try folder.write("c.mag", "")
    let found = try recognize(folder.path)
    #expect(found.map(\.id) == ["a", "c"])
    #expect(found.allSatisfy { $0.certainty == .possible })
  }

  @Test("Captures in subfolders belong to the subfolder; the server's outputs are none")
  func nested() throws {
    let folder = try Samples.lidar(frames: 1)
    for name in ["outputs", "inner"] {
      let inner = folder.path.appending(name)
      try FileManager.default.createDirectory(
        atPath: inner.string, withIntermediateDirectories: true)
      try folder.write("\(name)/x.depth.zlib", Samples.deflated([1, 2, 3]))
    }
    #expect(try recognize(folder.path).map(\.id) == [Samples.stem])
    #expect(try recognize(folder.path.appending("inner")).map(\.id) == ["x"])
    #expect(try recognize(folder.path.appending("outputs")).isEmpty)
  }

  @Test("A stem whose files are gone cannot be opened")
  func gone() throws {
    let folder = try Samples.lidar(frames: 1)
    let found = try #require(try recognize(folder.path).first)
    for name in folder.names(ending: "") { try folder.remove(name) }
    #expect(throws: CaptureError.self) { try MultiScanReader.open(found) }
  }
}
