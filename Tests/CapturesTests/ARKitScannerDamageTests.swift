@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Damaged ARKit-Scanner captures")
struct ARKitScannerDamageTests {
  private static let names = ["g6", "scannetpp", "g1", "g3"]

  /// A capture of a generation; `trap`: the latest one, whose depth file begins like an empty DEFLATE stream.
  private static func made(_ name: String) -> MadeCapture {
    name == "trap"
      ? MadeCapture(family: "arkit-scanner", faults: ["deflate-lookalike"])
      : MadeCapture(family: "arkit-scanner", generation: name)
  }

  @Test(
    "Side files cut anywhere give an error or fewer rows", arguments: ["g6", "scannetpp", "g1"])
  func truncatedSideFiles(name: String) throws {
    let folder = try ARKitScannerFolder(copyOf: Self.made(name).folder())
    let depthFrames = try folder.open().depth.value?.access.recordCount
    for file in folder.names {
      let bytes = try folder.bytes(of: file)
      guard bytes.count < 12_000 else { continue }
      // Every point near both ends, where structure is, and samples between.
      let (first, between, last) = Rounds.isSoak ? (40, 50, 30) : (16, 20, 12)
      let points = Set(0..<min(first, bytes.count)).union(
        stride(from: 0, to: bytes.count, by: max(1, bytes.count / between))
      ).union(max(0, bytes.count - last)..<bytes.count)
      for cut in points {
        try folder.write(bytes[..<cut], to: file)
        let capture = try ARKitScannerSupport.open(folder.path)
        #expect(capture.depth.value?.access.recordCount == depthFrames)
        #expect(capture.poses.value?.rows.count ?? 0 <= capture.frames.count)
      }
      try folder.write(bytes, to: file)
    }
  }

  @Test(
    "A depth file cut anywhere keeps the records before the cut",
    arguments: ["g6", "g3", "g2a", "g1", "trap"])
  func truncatedDepth(name: String) throws {
    let folder = try ARKitScannerFolder(copyOf: Self.made(name).folder())
    let capture = try folder.open()
    let depth = try #require(capture.depth.value)
    let file = depth.description.file
    let whole = try ARKitScannerSupport.scan(depth, frames: 0).digests
    let bytes = try folder.bytes(of: file)
    let step = bytes.count / Rounds.of(20, soak: 40)
    var points = Array(stride(from: 0, to: bytes.count, by: step))
    points += (0..<9).map { $0 } + (bytes.count - 9..<bytes.count)
    for cut in points {
      try folder.write(bytes[..<cut], to: file)
      guard let depth = try folder.open().depth.value else { continue }
      let digests = try ARKitScannerSupport.scan(depth, frames: 0).digests
      for (digest, expected) in zip(digests, whole) where digest != nil {
        #expect(digest == expected, "\(cut) of \(bytes.count) bytes")
      }
      #expect(digests.count <= whole.count)
    }
  }

  @Test("A video cut anywhere is unreadable or shorter, never more")
  func truncatedVideo() throws {
    let folder = try ARKitScannerFolder(copyOf: Self.made("g5").folder())
    let bytes = try folder.bytes(of: "rgb.mp4")
    let step = bytes.count / Rounds.of(20, soak: 50)
    for cut in stride(from: 0, to: bytes.count, by: step) {
      try folder.write(bytes[..<cut], to: "rgb.mp4")
      let capture = try folder.open()
      #expect(capture.frames.count == 10)
      #expect(capture.color.value?.description.frames ?? 0 <= 10)
      #expect(!capture.completeness.isWhole || capture.color.value?.description.frames == 10)
      if capture.color.value == nil {
        #expect(capture.color.error != nil)
        #expect(!capture.warnings.contains { $0.subject == "color" })
      }
    }
  }

  @Test("Any one file absent leaves the others", arguments: names)
  func absentFiles(name: String) throws {
    let folder = try ARKitScannerFolder(copyOf: Self.made(name).folder())
    let frames = try folder.open().frames.count
    for file in folder.names where file != "dura.txt" {
      let bytes = try folder.bytes(of: file)
      try folder.remove(file)
      let listing = try FolderListing(of: folder.path)
      // The depth file of the first generation is the only one whose name says enough.
      guard !ARKitScannerReader.recognize(listing).isEmpty else {
        #expect(name == "g1" && file == "depthBufferSequence.bin")
        try folder.write(bytes, to: file)
        continue
      }
      let capture = try folder.open()
      #expect(capture.frames.count == frames)
      #expect(!capture.completeness.isWhole || name == "g1")
      try folder.write(bytes, to: file)
    }
  }
}
