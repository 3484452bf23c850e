import Core
import Glibc

/// What all workers share that convert a video's pictures by the meaning of their values: tables for the pixels, made
/// once.
public final class LightSetup: Sendable {
  /// Tables for `sdr`.
  struct Tone {
    /// Tone mapping by the largest of three values: what all three are multiplied with.
    let knee: Float
    let peak: Float
    let factors: [Float]
    let firstFactor: UInt32
    /// The inverse of BT.1886 to 8 bits.
    let codes: [UInt8]
    /// What zimg does not convert; `nil` if it does.
    let own: OwnLight?
  }

  /// Light of transfers that are converted here: Apple Log, which zimg does not know, and HLG, whose system
  /// gamma it applies to each channel.
  struct OwnLight {
    /// Light by 16-bit signals: of Apple Log relative to a white card, of HLG that of the scene, 0…1.
    let light: [Float]
    /// The factors of the system gamma by luminance, with the white of SDR as 1; empty without one.
    let system: [Float]
    /// To the primaries of BT.709.
    let matrix: LightMatrix

    /// The factor of a luminance of the scene; 0 for black.
    @inline(__always)
    func factor(_ luminance: Float, _ system: UnsafePointer<Float>) -> Float {
      luminance >= LightSetup.leastLight
        ? system[
          Int(
            truncatingIfNeeded: luminance.bitPattern >> LightSetup.dropped &- LightSetup.firstCode
          )]
        : 0
    }
  }

  public let source: LightSource
  let tone: Tone?
  /// 16-bit light by 16-bit signals; `nil` = signals stay as they are.
  let light: [UInt16]?

  /// Values are looked up by exponent and the first 11 bits of the mantissa: steps of 1/2000.
  static let dropped: UInt32 = 12
  /// The least light that is not black of 8 bits: (0.5 / 255) to the power of 2.4.
  static let leastLight: Float = 0x1p-22
  static let firstCode = leastLight.bitPattern >> dropped

  /// Cost: some milliseconds.
  public init(_ source: LightSource, _ treatment: HDRTreatment) {
    self.source = source
    switch treatment {
    case .sdr:
      tone = Self.tone(source)
      light = nil
    case .linear16:
      tone = nil
      light = TransferCurve.light(source).map { curve in
        (0...65_535).map { UInt16(min(max(curve(Double($0) / 65_535), 0), 1) * 65_535 + 0.5) }
      }
    case .coded16:
      tone = nil
      light = nil
    }
  }

  /// Why pictures cannot be treated this way; `nil` = they can.
  public static func problem(_ source: LightSource, _ treatment: HDRTreatment) -> String? {
    treatment == .linear16 && TransferCurve.light(source) == nil
      ? "the transfer \(source.transferName) cannot be made linear; coded16 keeps it" : nil
  }

  private static func tone(_ source: LightSource) -> Tone {
    let mapping = ToneMapping(peak: source.peak)
    let isMapped = mapping.peak > ToneMapping.white
    // Standard-range video is clipped without tone mapping.
    let knee = isMapped ? Float(mapping.knee) : .infinity
    let peak = Float(mapping.peak / ToneMapping.white)
    let firstFactor = knee.bitPattern >> dropped
    let factors: [Float] =
      !isMapped
      ? [1]
      : (firstFactor...(peak.bitPattern >> dropped)).map { bits in
        let light = min(middle(bits), Double(peak))
        return Float(mapping.mapped(light) / light)
      }
    let codes: [UInt8] = (firstCode...(Float(1).bitPattern >> dropped)).map { bits in
      UInt8(min(pow(middle(bits), 1 / 2.4) * 255 + 0.5, 255))
    }
    return Tone(
      knee: knee, peak: peak, factors: factors, firstFactor: firstFactor, codes: codes,
      own: own(source))
  }

  private static func own(_ source: LightSource) -> OwnLight? {
    guard let matrix = LightMatrix(primaries: source.primaries) else { return nil }
    switch source.transfer {
    case nil:
      return OwnLight(
        light: (0...65_535).map { Float(AppleLog.light(ofSignal: Double($0) / 65_535)) },
        system: [], matrix: matrix)
    case LightSource.hlg?:
      guard let scene = TransferCurve.light(source) else { return nil }
      let scale = LightSource.peakOfHLG / ToneMapping.white
      return OwnLight(
        light: (0...65_535).map { Float(scene(Double($0) / 65_535)) },
        // BT.2100, table 5: gamma is 1.2 for a display of 1000 cd/m².
        system: (firstCode...(Float(1).bitPattern >> dropped)).map {
          Float(scale * pow(middle($0), 0.2))
        },
        matrix: matrix)
    default: return nil
    }
  }

  /// The value in the middle of those that share a place in a table.
  private static func middle(_ bits: UInt32) -> Double {
    Double(Float(bitPattern: bits << dropped | 1 << (dropped - 1)))
  }
}

extension LightSetup.Tone {
  /// Tone-maps linear light of BT.709 primaries and writes it as 8-bit signals. All three values are
  /// scaled by what the largest one needs, so that hues stay; what lies outside of BT.709 is cut at 0.
  @inline(__always)
  func write(
    _ red: Float, _ green: Float, _ blue: Float, _ factors: UnsafePointer<Float>,
    _ codes: UnsafePointer<UInt8>, to pixel: UnsafeMutablePointer<UInt8>
  ) {
    let most = max(red, green, blue)
    var scale: Float = 1
    if most > knee {
      scale =
        most < peak
        ? factors[Int(truncatingIfNeeded: most.bitPattern >> LightSetup.dropped &- firstFactor)]
        : 1 / most
    }
    pixel[0] = Self.code(red * scale, codes)
    pixel[1] = Self.code(green * scale, codes)
    pixel[2] = Self.code(blue * scale, codes)
  }

  @inline(__always)
  private static func code(_ light: Float, _ codes: UnsafePointer<UInt8>) -> UInt8 {
    // NaN fails the comparison and becomes black.
    guard light >= LightSetup.leastLight else { return 0 }
    if light >= 1 { return 255 }
    return codes[
      Int(truncatingIfNeeded: light.bitPattern >> LightSetup.dropped &- LightSetup.firstCode)]
  }
}

/// What becomes of pictures whose values an ordinary screen does not expect.
public enum HDRTreatment: String, CaseIterable, Sendable {
  /// 8-bit BT.709, tone-mapped.
  case sdr
  /// Linear light of 16 bits, with the primaries of the video.
  case linear16
  /// The video's own transfer and primaries, of 16 bits: all that is in the video.
  case coded16

  /// Whether pictures have 16 bits per sample.
  public var isWide: Bool { self != .sdr }
}

/// Brings the light of an HDR picture into the range of an SDR one: the EETF of BT.2390 (section
/// 5.4.1) without lift of black.
///
/// Light is relative: 1 is the white of SDR, which stands for `white`. Light below `knee` stays as it is.
/// Above it a Hermite spline in PQ leads to the white of SDR at `peak`. The knee lies below `white`, so
/// light of `white` becomes darker than the white of SDR: 0.78 with a peak of 1,000 cd/m², 0.63 with 4,000.
public struct ToneMapping: Hashable, Sendable {
  /// The luminance of the white of SDR, in candela per square meter: HDR reference white of BT.2408.
  static let white = 203.0

  /// The largest luminance of the source, in candela per square meter.
  public let peak: Double
  /// The light up to which nothing changes.
  let knee: Double

  private let peakSignal: Double
  private let whiteSignal: Double
  private let kneeSignal: Double

  /// - Parameter peak: in candela per square meter; at most SDR white means that nothing is mapped, only
  ///   cut.
  init(peak: Double) {
    self.peak = min(max(peak, Self.white), PerceptualQuantizer.peak)
    peakSignal = PerceptualQuantizer.signal(ofLuminance: self.peak)
    whiteSignal = PerceptualQuantizer.signal(ofLuminance: Self.white) / peakSignal
    kneeSignal = 1.5 * whiteSignal - 0.5
    knee =
      whiteSignal < 1
      ? PerceptualQuantizer.luminance(ofSignal: kneeSignal * peakSignal) / Self.white : 1
  }

  /// The light of the SDR picture, at most 1.
  func mapped(_ light: Double) -> Double {
    if light <= knee { return light }
    guard whiteSignal < 1 else { return 1 }
    let signal = PerceptualQuantizer.signal(ofLuminance: min(light * Self.white, peak)) / peakSignal
    let t = min((signal - kneeSignal) / (1 - kneeSignal), 1)
    let (t2, t3) = (t * t, t * t * t)
    let bent =
      (2 * t3 - 3 * t2 + 1) * kneeSignal + (t3 - 2 * t2 + t) * (1 - kneeSignal)
      + (3 * t2 - 2 * t3) * whiteSignal
    return min(PerceptualQuantizer.luminance(ofSignal: bent * peakSignal) / Self.white, 1)
  }
}

/// PQ, the transfer function of SMPTE ST 2084 (BT.2100, table 4).
public enum PerceptualQuantizer {
  /// The luminance of the signal 1, in candela per square meter.
  public static let peak = 10_000.0

  private static let m1 = 2610.0 / 16384
  private static let m2 = 2523.0 / 4096 * 128
  private static let c1 = 3424.0 / 4096
  private static let c2 = 2413.0 / 4096 * 32
  private static let c3 = 2392.0 / 4096 * 32

  /// The luminance of a signal of 0…1; others are cut.
  static func luminance(ofSignal signal: Double) -> Double {
    let power = pow(min(max(signal, 0), 1), 1 / m2)
    return peak * pow(max(power - c1, 0) / (c2 - c3 * power), 1 / m1)
  }

  /// The signal of a luminance of 0…10,000; others are cut.
  static func signal(ofLuminance luminance: Double) -> Double {
    let power = pow(min(max(luminance / peak, 0), 1), m1)
    return pow((c1 + c2 * power) / (1 + c3 * power), m2)
  }
}

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

/// How 16-bit pictures are shown and measured, where 8 bits are needed: for looking only. White becomes
/// 255, brighter light too, and the curve of BT.1886 is applied; primaries stay.
public struct LightView: Sendable {
  private let codes: [UInt8]

  /// - Parameter white: the light of white, above 0 and up to 1; `nil` for signals, which are only
  ///   rounded to 8 bits.
  public init(white: Double?) {
    codes = (0...65_535).map { value in
      guard let white, white > 0 else { return UInt8((value * 255 + 32_767) / 65_535) }
      let light = min(Double(value) / 65_535 / white, 1)
      return UInt8(min(pow(light, 1 / 2.4) * 255 + 0.5, 255))
    }
  }

  /// Writes the 8-bit picture to `view`, which is resized if necessary.
  public func show(_ wide: [UInt16], into view: inout [UInt8]) {
    view.resize(to: wide.count)
    codes.withUnsafeBufferPointer { codes in
      for index in 0..<wide.count { view[index] = codes[Int(wide[index])] }
    }
  }
}
