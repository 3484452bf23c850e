@testable import Captures
@testable import Engine
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("How much there is to read of a capture")
struct CaptureSizesTests {
  @Test("Of a shared folder the files of the stem, of a folder all that is in it")
  func sizes() throws {
    let folder = try TemporaryFolder()
    let held = try HeldFolder.following(folder.path)
    for (name, bytes) in [("a.depth", 10), ("a.h264", 20), ("b.depth", 400), ("Z", 7), ("ä.x", 3)] {
      try held.replace(
        name, with: [UInt8](repeating: 0, count: bytes), durably: false)
    }
    let inner = try held.makeFolder("inner")
    try inner.replace("x", with: [0, 0], durably: false)
    func capture(_ path: FilePath, stem: String?) -> Recognition {
      Recognition(
        family: .scannet, certainty: .certain, folder: path, stem: stem, id: "x", reason: "")
    }
    var sizes = CaptureSizes()
    #expect(sizes.bytes(of: capture(folder.path, stem: "a")) == 30)
    #expect(sizes.bytes(of: capture(folder.path, stem: "b")) == 400)
    #expect(sizes.bytes(of: capture(folder.path, stem: "ä")) == 3)
    #expect(sizes.bytes(of: capture(folder.path, stem: "none")) == 0)
    #expect(sizes.bytes(of: capture(folder.path.appending("inner"), stem: nil)) == 2)
    #expect(sizes.bytes(of: capture(folder.path.appending("gone"), stem: nil)) == 0)
  }
}
