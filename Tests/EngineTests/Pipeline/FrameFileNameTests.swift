@testable import Engine
@testable import Core
import Testing

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

  @Test("Pictures of an artifact are found by frame, PNG or JPEG, and nothing else is one")
  func pictures() throws {
    var situation = try Situation()
    try situation.publish("color")
    var record = try #require(situation.facts["color"]?.published?.record)
    record.outputs = [
      "000000.png", "000002.jpg", "1000000.png", "000003.ply", "mask/000004.png", "sheet.png",
    ].map { OutputEntry(path: $0, bytes: 1, sha256: Digest(of: $0)) }
    #expect(
      FrameFileName.pictures(in: record).mapValues(\.path) == [
        0: "000000.png", 2: "000002.jpg", 1_000_000: "1000000.png",
      ])
  }
}
