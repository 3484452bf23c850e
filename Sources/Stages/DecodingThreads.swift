import Captures
import Parallel
import Pipeline
import Storage
import SystemPackage

/// How many threads decode a video while the other cores of a stage convert, encode and write its pictures.
enum DecodingThreads {
  /// More take memory and bring nothing.
  static let most = 8

  /// - Parameters:
  ///   - cores: that the stage may keep busy.
  ///   - share: of decoding in the CPU time of a picture, 0 to 1.
  ///
  /// One thread feeds `1 / share` cores. A second one costs 2 to 23 % of the decoding, so that there are no
  /// more than needed, and none for the last few percent.
  static func count(cores: Int, share: Double) -> Int {
    guard share.isFinite, share > 0, cores > 1 else { return 1 }
    let needed = Double(cores) * (min(share, 1) - leftOut)
    return max(1, min(Int(needed.rounded(.up)), cores, most))
  }

  /// Decoding up to this much above what one thread can do leaves less idle than a second one costs.
  private static let leftOut = 0.04

  /// What share decoding is likely to have, before a picture has been decoded. Right within a tenth or so
  /// for eight real recordings from 0.02 to 1.1 bits a pixel; what is wrong is put right by measurement.
  static func likelyShare(
    encoding: String?, bytesPerPicture: Double, pixels: Double, workNanosecondsPerPixel: Double
  ) -> Double {
    guard pixels > 0, bytesPerPicture >= 0 else { return 0 }
    // Measured with FFmpeg 5.1 on a Zen 4: prediction and filters by pixel, arithmetic decoding by bit.
    let isHEVC = encoding?.hasPrefix("hevc") ?? false
    let (perPixel, perBit) = isHEVC ? (3.5, 12.0) : (2.6, 9.0)
    let decoding = perPixel * pixels + perBit * 8 * bytesPerPicture
    return decoding / (decoding + workNanosecondsPerPixel * pixels)
  }

  /// Conversion, encoding, digest and writing of a pixel; measured as above.
  static func workNanosecondsPerPixel(format: String?, compression: String?) -> Double {
    if format == "jpeg" { return 5 }
    return switch compression {
    case "archive": 60
    case "compact": 11
    default: 7.5
    }
  }
}
