@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Damaged ScanNet files")
struct ScanNetDamageTests {
  /// Opens the capture again and again with one file replaced, and decodes all its depth.
  static func check(
    _ ending: String, variants: (([UInt8]) -> [[UInt8]]), _ verify: (Capture, Int) throws -> Void
  ) throws {
    var scratch = ScanNetScratch(frames: 4)
    // Short, so that every byte can be tried.
    scratch.imuTimes.removeLast(scratch.imuTimes.count - 5)
    try ScanNetFolder.temporary { folder in
      try scratch.write(to: folder)
      let url = URL(filePath: folder.appending("\(scratch.stem).\(ending)").string)
      let whole = [UInt8](try Data(contentsOf: url))
      let recognition = try #require(ScanNetReader.recognize(try FolderListing(of: folder)).first)
      for (number, variant) in variants(whole).enumerated() {
        try Data(variant).write(to: url)
        let capture = try ScanNetReader.open(recognition)
        _ = try capture.decodedScanNetDepth()
        try verify(capture, number)
      }
    }
  }

  @Test(
    "Cut at any byte, a file costs what lay behind the cut", arguments: ["imu", "camera", "txt"])
  func truncated(ending: String) throws {
    try Self.check(ending, variants: { bytes in (0...bytes.count).map { Array(bytes[..<$0]) } }) {
      capture, length in
      switch ending {
      case "imu": #expect((capture.imu.value?.samples.count ?? 0) == length / 128 * 5)
      case "camera":
        #expect((capture.cameraSettings.value?.rows.count ?? 0) == max(0, length - 2) / 20)
      default: #expect(capture.color.value != nil && capture.imu.value != nil)
      }
    }
  }

  @Test("Depth cut at any byte keeps the frames before the cut")
  func truncatedDepth() throws {
    let scratch = ScanNetScratch(frames: 4)
    try Self.check("depth", variants: { bytes in (0...bytes.count).map { Array(bytes[..<$0]) } }) {
      capture, length in
      let whole = (1...4).count { scratch.recordOffset($0) <= length }
      let (digests, _) = try capture.decodedScanNetDepth()
      #expect(digests.compactMap { $0 }.count == whole, "\(length) bytes")
      #expect(capture.frames.count == 4)
      #expect(capture.depth.value == nil ? whole == 0 : whole > 0)
    }
  }

  static let made =
    ["killed-app", "corrupt-depth", "count-minus-1", "dropped-color", "imu-head8", "stale-times"]
    .map { MadeCapture(family: "scannet", faults: [$0], frames: 6) } + [
      MadeCapture(family: "scannet", frames: 6)
    ]

  @Test("Every sampled cut of every file opens", arguments: made)
  func cuts(made: MadeCapture) throws {
    try ScanNetFolder.temporary { folder in
      let source = try made.folder()
      let names = try FolderListing(of: source).files
      var files: [String: Data] = [:]
      for name in names {
        files[name] = try Data(contentsOf: URL(filePath: source.appending(name).string))
        try files[name]?.write(to: URL(filePath: folder.appending(name).string))
      }
      let recognition = try #require(ScanNetReader.recognize(try FolderListing(of: folder)).first)
      for (name, bytes) in files {
        let url = URL(filePath: folder.appending(name).string)
        for part in 0..<12 {
          let length = bytes.count * part / 12 + part
          try bytes.prefix(length).write(to: url)
          let capture = try ScanNetReader.open(recognition)
          let records = capture.depth.value?.access.recordCount ?? 0
          #expect(records <= 7)
          #expect(capture.frames.count >= records)
        }
        try bytes.write(to: url)
      }
    }
  }

  @Test("Many threads decode from one source")
  func threads() async throws {
    let folder = try MadeCapture(family: "scannet", frames: 6).folder()
    let recognition = try #require(ScanNetReader.recognize(try FolderListing(of: folder)).first)
    let capture = try ScanNetReader.open(recognition)
    let (expected, _) = try capture.decodedScanNetDepth()
    guard case .indexed(let source) = try #require(capture.depth.value).access else {
      Issue.record("its depth has to be read in order")
      return
    }
    try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for index in 0..<(8 * source.recordCount) {
        group.addTask {
          var pixels: [UInt16] = [1]
          let record = index % source.recordCount
          _ = try source.decode(record: record, into: &pixels)
          return (record, Digest(of: pixels.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }).hex)
        }
      }
      for try await (record, digest) in group { #expect(digest == expected[record]) }
    }
  }
}
