import Testing

@testable import Receiving

@Suite struct UploadNameTests {
  @Test func theIdIsTheNameUpToItsFirstDotLessTheEndingsThatAppsAdd() {
    for (name, id) in [
      ("a.depth.zlib", "a"), ("a-primary.mp4", "a"), ("a-secondary.mp4", "a"),
      ("a_depth.txt", "a"), ("a_confidence.txt", "a"), ("a_thumb.jpg", "a"),
      ("a_preview.mp4", "a"), ("a-primary.txt", "a-primary"), ("a_depth.jpg", "a_depth"),
      ("2016-07-01_04-29-44__5F0C.imu", "2016-07-01_04-29-44__5F0C"),
    ] {
      #expect(UploadName.id(of: name) == id)
    }
  }

  @Test("No capture gets a name that files bear while they are sent: watch would wait for it")
  func idsThatWatchWaitsFor() {
    for name in ["a.part", "a.TMP", "a.filepart", "a.crdownload", "a.sb-1a2b3c4d-Ab12Cd"] {
      #expect(throws: UploadRefusal.self, "\(name)") {
        try UploadName(capture: name, path: "a.mp4", endings: ["mp4"])
      }
    }
    for name in ["a.parts", "apart", "a.part.1", "a.2026"] {
      #expect(throws: Never.self, "\(name)") {
        try UploadName(capture: name, path: "a.mp4", endings: ["mp4"])
      }
    }
  }
}
