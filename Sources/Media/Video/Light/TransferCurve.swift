import Glibc

/// Transfer functions in double precision: from the signal of a video to light, 0…1 each.
public enum TransferCurve {
  /// The light of the signal 1 is 1, and what it means is `LinearScale`.
  ///
  /// - Returns: `nil` for a transfer without a curve here.
  static func light(_ source: LightSource) -> ((Double) -> Double)? {
    guard let transfer = source.transfer else {
      let most = AppleLog.light(ofSignal: 1)
      return { max(0, AppleLog.light(ofSignal: $0) / most) }
    }
    switch transfer {
    case 1, 6, 14, 15: return { pow($0, 2.4) }
    case 4: return { pow($0, 2.2) }
    case 5: return { pow($0, 2.8) }
    case LightSource.linear: return { $0 }
    case 9: return { $0 <= 0 ? 0 : pow(10, 2 * ($0 - 1)) }
    case 10: return { $0 <= 0 ? 0 : pow(10, 2.5 * ($0 - 1)) }
    case 13: return { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
    case LightSource.pq:
      return { PerceptualQuantizer.luminance(ofSignal: $0) / PerceptualQuantizer.peak }
    case LightSource.hlg: return hlg
    default: return nil
    }
  }

  /// The inverse of HLG's OETF (BT.2100, table 5): scene light.
  private static func hlg(_ signal: Double) -> Double {
    let a = 0.17883277
    let b = 1 - 4 * a
    let c = 0.5 - a * log(4 * a)
    return signal <= 0.5 ? signal * signal / 3 : min((exp((signal - c) / a) + b) / 12, 1)
  }

  /// The light of the HDR reference white (BT.2408), of a white card, or of SDR white.
  public static func white(_ source: LightSource) -> Double {
    switch source.transfer {
    case nil: 1 / AppleLog.light(ofSignal: 1)
    case LightSource.pq?: ToneMapping.white / PerceptualQuantizer.peak
    case LightSource.hlg?: hlg(0.75)
    default: 1
    }
  }
}

/// The transfer function of Apple Log (Apple Log Profile, 2023), whose primaries are those of BT.2020.
enum AppleLog {
  private static let r0 = -0.05641088
  private static let rt = 0.01
  private static let c = 47.28711236
  private static let beta = 0.00964052
  private static let gamma = 0.08550479
  private static let delta = 0.69336945

  /// Scene light of a signal: 0.18 is a gray card, 1 a white one, 12 the signal 1. Some signals near 0
  /// stand for less than no light, because the sensor's noise lies on both sides of black.
  static func light(ofSignal signal: Double) -> Double {
    if signal >= c * (rt - r0) * (rt - r0) { return exp2((signal - delta) / gamma) - beta }
    return signal > 0 ? (signal / c).squareRoot() + r0 : r0
  }
}
