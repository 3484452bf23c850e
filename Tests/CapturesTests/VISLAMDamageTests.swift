@testable import Captures
import SystemPackage
import TestSupport
import Testing

@Suite("VI-SLAM: damage anywhere")
struct VISLAMDamageTests {
  private static let tables = ["imu_data.csv", "frame_metadata.csv"]

  private func scratch(_ capture: MadeCapture) throws -> VISLAMScratch {
    try VISLAMScratch(copyOf: try capture.folder())
  }

  /// Opens; only an error of the kind for captures may come.
  private func frames(_ scratch: VISLAMScratch) throws -> Int? {
    do throws(CaptureError) {
      return try VISLAMReader.open(
        Recognition(
          family: .vislam, certainty: .certain, folder: scratch.folder, id: "x", reason: "test")
      ).frames.count
    } catch {
      #expect(!error.problem.isEmpty)
      return nil
    }
  }

  @Test(
    "A table cut at any byte gives fewer rows, never a trap",
    arguments: [
      MadeCapture(family: "vi-slam", faults: ["no-z"], frames: 8),
      MadeCapture(family: "vi-slam", generation: "android-wide", frames: 5),
    ])
  func everyCut(capture: MadeCapture) throws {
    let scratch = try scratch(capture)
    // Tables alone: counting the video's pictures again and again would take the time.
    if capture.generation == nil { try scratch.remove("video.mp4") }
    for table in Self.tables {
      let bytes = try scratch.bytes(of: table)
      let whole = try #require(try frames(scratch))
      for count in stride(from: 0, to: bytes.count, by: bytes.count > 1000 ? 7 : 1) {
        try scratch.write(Array(bytes.prefix(count)), to: table)
        if let frames = try frames(scratch) { #expect(frames <= max(whole, 12)) }
      }
      try scratch.write(bytes, to: table)
    }
  }

  @Test(
    "A video cut anywhere never traps",
    arguments: [
      MadeCapture(family: "vi-slam", frames: 60),
      MadeCapture(family: "vi-slam", faults: ["dropped-pictures"], frames: 60),
    ])
  func cutVideo(capture: MadeCapture) throws {
    let scratch = try scratch(capture)
    let bytes = try scratch.bytes(of: "video.mp4")
    for step in 0...40 {
      try scratch.write(Array(bytes.prefix(bytes.count * step / 40)), to: "video.mp4")
      let frames = try #require(try frames(scratch))
      #expect(frames >= 60)
    }
  }

  @Test(
    "Wrong bytes anywhere never trap",
    arguments: [
      MadeCapture(family: "vi-slam", faults: ["foreign-text"]),
      MadeCapture(family: "vi-slam", generation: "android"),
      MadeCapture(family: "vi-slam", faults: ["swapped-frames"], frames: 30),
    ])
  func wrongBytes(capture: MadeCapture) throws {
    let scratch = try scratch(capture)
    var random = SeededGenerator(seed: 20_260_124)
    for table in Self.tables + ["video.mp4"] {
      let bytes = try scratch.bytes(of: table)
      for _ in 0..<25 {
        var damaged = bytes
        for _ in 0..<(1 + Int(random.next() % 20)) {
          // Most of a small header, some anywhere.
          let reach = random.next() % 2 == 0 ? min(200, bytes.count) : bytes.count
          damaged[Int(random.next() % UInt64(reach))] = UInt8(truncatingIfNeeded: random.next())
        }
        try scratch.write(damaged, to: table)
        _ = try frames(scratch)
      }
      try scratch.write(bytes, to: table)
    }
  }
}
