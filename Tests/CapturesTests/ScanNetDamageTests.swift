@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Damaged ScanNet files")
struct ScanNetDamageTests {
  /// Depth is decoded at every eighth length; `make soak` tries all of them.
  @Test(
    "Cut at any byte, a file costs what lay behind the cut", arguments: ["imu", "camera", "txt"])
  func truncated(ending: String) throws {
    var scratch = ScanNetScratch(frames: 4)
    // Short, so that every byte can be tried.
    scratch.imuTimes.removeLast(scratch.imuTimes.count - 5)
    let folder = try TemporaryFolder()
    try scratch.write(to: folder.path)
    let name = "\(scratch.stem).\(ending)"
    let whole = try folder.bytes(of: name)
    let recognition = try #require(
      ScanNetReader.recognize(try FolderListing(of: folder.path)).first)
    for length in Rounds.every(3, of: Array(0...whole.count)) {
      try folder.write(Array(whole[..<length]), to: name)
      let capture = try ScanNetReader.open(recognition)
      if Rounds.isSoak || length % 8 == 0 { _ = try capture.depth.value?.digests() }
      switch ending {
      case "imu": #expect((capture.imu.value?.samples.count ?? 0) == length / 128 * 5)
      case "camera":
        #expect((capture.cameraSettings.value?.rows.count ?? 0) == max(0, length - 2) / 20)
      default: #expect(capture.color.value != nil && capture.imu.value != nil)
      }
    }
  }

  @Test("Many threads decode from one source")
  func threads() async throws {
    let folder = try MadeCapture(family: "scannet", frames: 6).folder()
    let depth = try #require(try Capture.found(at: folder).depth.value)
    let (expected, source) = (try depth.digests(), try depth.indexed)
    try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for index in 0..<(8 * source.recordCount) {
        group.addTask {
          var pixels: [UInt16] = [1]
          let record = index % source.recordCount
          _ = try source.decode(record: record, into: &pixels)
          return (record, Digest(ofPixels: pixels).hex)
        }
      }
      for try await (record, digest) in group { #expect(digest == expected[record]) }
    }
  }
}
