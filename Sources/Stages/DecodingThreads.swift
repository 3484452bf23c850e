import Captures
import Core
import Engine
import SystemPackage

/// Chooses how many threads decode a video while the other cores of a stage convert, encode and
/// write its pictures.
enum DecodingThreads {
  /// More threads take memory without being faster.
  static let most = 8

  /// - Parameters:
  ///   - cores: how many cores the stage may use.
  ///   - share: share of decoding in the CPU time of a picture, 0 to 1.
  ///
  /// One thread supplies `1 / share` cores. A second one makes decoding 2 to 23 % more expensive,
  /// so that there are no more than needed, and none for the last few percent.
  static func count(cores: Int, share: Double) -> Int {
    guard share.isFinite, share > 0, cores > 1 else { return 1 }
    let needed = Double(cores) * (min(share, 1) - leftOut)
    return max(1, min(Int(needed.rounded(.up)), cores, most))
  }

  /// If decoding exceeds what one thread can do by at most this much, the idle time is smaller than
  /// the overhead of another thread.
  private static let leftOut = 0.04

  /// The likely share of decoding before a picture has been decoded. Within about a tenth for eight
  /// real recordings from 0.02 to 1.1 bits per pixel; corrected later by measurement.
  static func likelyShare(
    encoding: String?, bytesPerPicture: Double, pixels: Double, workNanosecondsPerPixel: Double
  ) -> Double {
    guard pixels > 0, bytesPerPicture >= 0 else { return 0 }
    // Measured with FFmpeg 5.1 on a Zen 4: prediction and filters per pixel, arithmetic decoding
    // per bit.
    let isHEVC = encoding?.hasPrefix("hevc") ?? false
    let (perPixel, perBit) = isHEVC ? (3.5, 12.0) : (2.6, 9.0)
    let decoding = perPixel * pixels + perBit * 8 * bytesPerPicture
    return decoding / (decoding + workNanosecondsPerPixel * pixels)
  }

  /// Nanoseconds per pixel for conversion, encoding, digest and writing; measured as above.
  static func workNanosecondsPerPixel(format: String?, compression: String?) -> Double {
    if format == "jpeg" { return 5 }
    return switch compression {
    case "archive": 60
    case "compact": 11
    default: 7.5
    }
  }
}
