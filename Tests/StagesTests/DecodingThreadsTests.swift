import Media
import Testing

@testable import Stages

@Suite("How many threads decode")
struct DecodingThreadsTests {
  @Test(
    "are as many as keep the cores busy, and none for the last few percent",
    arguments: [
      (1, 0.9, 1), (2, 0.28, 1), (2, 0.5, 1), (2, 0.54, 1), (2, 0.56, 2), (2, 1, 2), (4, 0.2, 1),
      (4, 0.3, 2), (4, 0.64, 3), (64, 0.5, 8), (2, 0, 1), (2, .nan, 1), (2, .infinity, 1),
      (2, -1, 1), (0, 0.9, 1), (2, 7, 2),
    ])
  func count(cores: Int, share: Double, threads: Int) {
    #expect(DecodingThreads.count(cores: cores, share: share) == threads)
  }

  @Test(
    "A likely share is near what was measured on real recordings",
    arguments: [
      // 1920x1440 at 386 KB a picture, 1920x1080 at 17 KB, 480x360 at 2 KB, HEVC 1376x1840 at 28 KB.
      ("h264", 386_000, 1920.0 * 1440, 0.5...0.75), ("h264", 16_700, 1920.0 * 1080, 0.2...0.4),
      ("h264", 2_000, 480.0 * 360, 0.2...0.4), ("hevc", 27_500, 1376.0 * 1840, 0.25...0.45),
      (nil, 0, 0, 0...0),
    ] as [(String?, Double, Double, ClosedRange<Double>)])
  func likely(encoding: String?, bytes: Double, pixels: Double, range: ClosedRange<Double>) {
    let work = DecodingThreads.workNanosecondsPerPixel(format: .png, compression: .fast)
    let share = DecodingThreads.likelyShare(
      encoding: encoding, bytesPerPicture: bytes, pixels: pixels, workNanosecondsPerPixel: work)
    #expect(range.contains(share), "\(share)")
  }
}
