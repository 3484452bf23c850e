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
}
