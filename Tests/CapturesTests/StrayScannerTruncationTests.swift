@testable import Captures
import SystemPackage
import TestSupport
import Testing

/// A small file cut at every byte: opening and decoding come to an end, and nothing that is told is wrong.
@Suite("Stray Scanner: files that are cut", .enabled(if: Fixtures.arePresent))
struct StrayScannerTruncationTests {
  private func whole() throws -> (StrayScannerScratch, Capture) {
    let scratch = try StrayScannerScratch(copyOf: "now")
    // A few rows are enough.
    for name in ["odometry.csv", "imu.csv"] {
      try scratch.edit(name) { $0 = Array($0.prefix(4)) }
    }
    return (scratch, try scratch.open())
  }

  @Test("A cut pose table gives the rows before the cut, unchanged")
  func odometry() throws {
    let (scratch, whole) = try whole()
    let bytes = try scratch.bytes(of: "odometry.csv")
    let poses = whole.poses.value?.rows ?? []
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: "odometry.csv")
      let capture = try StrayScannerReader.open(scratch.recognition(as: .strayScanner))
      let rows = capture.poses.value?.rows ?? []
      #expect(rows.elementsEqual(poses.prefix(rows.count)), "\(length)")
      for row in capture.intrinsics.value ?? [] {
        // The row's own, or those of the camera matrix.
        #expect(row == whole.intrinsics.value?[row.frame] || row.fx == 224.12364, "\(length)")
      }
    }
  }

  @Test("A cut motion file gives the samples before the cut, unchanged")
  func motion() throws {
    let (scratch, whole) = try whole()
    let bytes = try scratch.bytes(of: "imu.csv")
    let samples = whole.imu.value?.samples ?? []
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: "imu.csv")
      let found = try scratch.open().imu.value?.samples ?? []
      #expect(found.elementsEqual(samples.prefix(found.count)), "\(length)")
    }
  }

  @Test("A cut camera matrix is that of the file, or none")
  func matrix() throws {
    let scratch = try StrayScannerScratch(copyOf: "legacy")
    let bytes = try scratch.bytes(of: "camera_matrix.csv")
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: "camera_matrix.csv")
      let rows = try scratch.open().intrinsics.value ?? []
      #expect(rows.allSatisfy { $0.fx == 224.12364 && $0.cx == 158.59 && $0.cy == 120.7 })
    }
  }

  @Test(
    "A cut picture is a hole",
    arguments: [("now", "depth/000003.png"), ("npy", "depth/000003.npy")])
  func picture(of fixture: String, name: String) throws {
    let scratch = try StrayScannerScratch(copyOf: fixture)
    let bytes = try scratch.bytes(of: name)
    let depth = try #require(try scratch.open().depth.value)
    guard case .indexed(let source) = depth.access else {
      Issue.record("other access than expected")
      return
    }
    var pixels: [UInt16] = []
    for length in bytes.indices {
      try scratch.write(Array(bytes[..<length]), to: name)
      let outcome = try source.decode(record: 3, into: &pixels)
      #expect(!outcome.hasPicture)
      #expect(outcome.issue?.code == (length == 0 ? .emptyRecord : .corruptRecord), "\(length)")
    }
  }
}
