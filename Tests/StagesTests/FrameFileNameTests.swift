import Testing

@testable import Stages

@Suite("File names of pictures")
struct FrameFileNameTests {
  @Test(
    "The index has at least six digits",
    arguments: [
      (0, "000000.png"), (42, "000042.png"), (999_999, "999999.png"), (1_000_000, "1000000.png"),
    ])
  func names(_ frame: Int, _ name: String) {
    #expect(FrameFileName.name(frame) == name)
    #expect(FrameFileName.frame(name) == frame)
  }

  @Test(
    "Other files are no pictures",
    arguments: ["artifact.json", "store.json", "12a.png", "000001", "-00001.png"])
  func others(_ name: String) {
    #expect(FrameFileName.frame(name) == nil)
  }

  @Test("Frames are spread evenly, first and last included")
  func spread() {
    #expect(FrameChoice.evenly(Array(0..<10), count: 4) == [0, 3, 6, 9])
    #expect(FrameChoice.evenly([3, 5], count: 4) == [3, 5])
    #expect(FrameChoice.evenly(Array(0..<9), count: 1) == [4])
  }
}
