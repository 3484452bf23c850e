import Testing

@testable import Stages

@Suite("Frames to display")
struct FrameChoiceTests {
  @Test("Frames are spread evenly, first and last included")
  func spread() {
    #expect(FrameChoice.evenly(Array(0..<10), count: 4) == [0, 3, 6, 9])
    #expect(FrameChoice.evenly([3, 5], count: 4) == [3, 5])
    #expect(FrameChoice.evenly(Array(0..<9), count: 1) == [4])
  }
}
