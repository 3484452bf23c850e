import CFFmpeg
import Testing

@testable import Media

@Suite("FFmpeg's libraries, loaded when they are needed")
struct FFmpegLibrariesTests {
  @Test(
    "The names of files tell the versions that the libraries tell of themselves",
    arguments: [
      (scanmill_avcodec, avcodec_version), (scanmill_avformat, avformat_version),
      (scanmill_avutil, avutil_version), (scanmill_swscale, swscale_version),
    ] as [(scanmill_ffmpeg, @Sendable @convention(c) () -> UInt32)])
  func versions(library: scanmill_ffmpeg, version: @Sendable @convention(c) () -> UInt32) {
    #expect(FFmpegLibraries.problem == nil)
    #expect(scanmill_ffmpeg_file_version(library) == version())
  }

  @Test("Arguments of all kinds come through, doubles and pointers")
  func arguments() {
    var matrix = [Int32](repeating: 0, count: 9)
    av_display_rotation_set(&matrix, 90)
    #expect(matrix == [0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30])
    #expect(av_display_rotation_get(matrix) == -90)
  }
}
