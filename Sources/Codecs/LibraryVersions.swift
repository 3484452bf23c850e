import CFFmpeg
import CPNG

/// Versions of the libraries behind this room, as they are loaded: not those of the headers it was built
/// with.
public enum LibraryVersions {
  /// FFmpeg's libraries that decide what pictures a video gives: a newer one may decode, order or
  /// convert otherwise.
  public static let ofVideo: [String: String] = [
    "libavcodec": text(avcodec_version()), "libavformat": text(avformat_version()),
    "libswscale": text(swscale_version()),
  ]

  /// Everything that is told in records.
  public static let all: [String: String] =
    ofVideo.merging(
      [
        "libavutil": text(avutil_version()),
        "libpng": png_get_libpng_ver(nil).map { String(cString: $0) } ?? "unknown",
      ]
    ) { first, _ in first }

  /// FFmpeg packs `major.minor.micro` as 16, 8 and 8 bits.
  private static func text(_ number: UInt32) -> String {
    "\(number >> 16).\(number >> 8 & 0xff).\(number & 0xff)"
  }
}
