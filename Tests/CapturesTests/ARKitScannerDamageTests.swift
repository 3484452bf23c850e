@testable import Captures
import FoundationEssentials
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Damaged ARKit-Scanner captures")
struct ARKitScannerDamageTests {
  /// A capture of a generation; `trap`: the latest one, whose depth file begins like an empty DEFLATE stream.
  private static func made(_ name: String) -> MadeCapture {
    name == "trap"
      ? MadeCapture(family: "arkit-scanner", faults: ["deflate-lookalike"])
      : MadeCapture(family: "arkit-scanner", generation: name)
  }

  @Test(
    "A depth file cut anywhere keeps the records before the cut",
    arguments: ["g6", "g3", "g2a", "g1", "trap"])
  func truncatedDepth(name: String) throws {
    let folder = try ARKitScannerFolder(copyOf: Self.made(name).folder())
    let capture = try folder.open()
    let depth = try #require(capture.depth.value)
    let file = depth.description.file
    let whole = try depth.digests()
    let bytes = try folder.bytes(of: file)
    let step = bytes.count / Rounds.of(3, soak: 40)
    var points = Array(stride(from: 0, to: bytes.count, by: step))
    points += Rounds.every(7, of: Array(0..<9) + (bytes.count - 9..<bytes.count))
    for cut in points {
      try folder.write(bytes[..<cut], to: file)
      guard let depth = try folder.open().depth.value else { continue }
      let digests = try depth.digests()
      for (digest, expected) in zip(digests, whole) where digest != nil {
        #expect(digest == expected, "\(cut) of \(bytes.count) bytes")
      }
      #expect(digests.count <= whole.count)
    }
  }
}
