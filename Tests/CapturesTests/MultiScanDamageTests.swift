@testable import Captures
import FoundationEssentials
@testable import Core
import TestSupport
import Testing

@Suite("Damaged MultiScan captures")
struct MultiScanDamageTests {
  /// Evenly spread points; that metadata, lines, motion and depth may end at any byte is tested with each.
  private static let cuts = 24

  /// Every generation, and what the app leaves when it is killed or wraps its streams otherwise.
  static let captures =
    [
      "ios-lidar", "ios-lidar-2020", "ios-single", "ios-dual", "ios-stereo", "android-arcore",
      "android-plain",
    ].map {
      MadeCapture(family: "multiscan", generation: $0, frames: $0 == "android-arcore" ? 8 : 6)
    }
    + ["killed-app", "gzip-depth", "two-streams"].map {
      MadeCapture(family: "multiscan", faults: [$0])
    }

  @Test("Any file may end anywhere", arguments: captures)
  func truncation(of made: MadeCapture) throws {
    let folder = try MultiScanFolder(copyOf: made.folder())
    let whole = try folder.open()
    for name in folder.names(ending: "") {
      let bytes = try folder.bytes(of: name)
      let points = name.contains(".zlib") || name.hasSuffix(".mp4") ? 8 : Self.cuts
      for end in stride(from: 0, to: bytes.count, by: max(1, bytes.count / points)) {
        try folder.write(name, bytes[..<end])
        guard let capture = try? folder.open() else { continue }
        // ARCore's copies are only told from frames where lines and depth both have them.
        let copies = whole.total(.trailingData, "depth")
        let most = (whole.poses.value?.rows.count ?? 0) + copies
        #expect(capture.poses.value?.rows.count ?? 0 <= most)
        try capture.expectSane()
      }
      try folder.write(name, bytes)
    }
    #expect(try folder.open().frames == whole.frames)
  }

}
