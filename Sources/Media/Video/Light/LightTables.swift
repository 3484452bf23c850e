import Glibc

/// Tables for the pixels of a video, made once and shared by all workers.
final class LightTables: Sendable {
  /// Tables for `sdr`.
  struct Tone: Sendable {
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
  struct OwnLight: Sendable {
    /// Light by 16-bit signals: of Apple Log relative to a white card, of HLG that of the scene, 0…1.
    let light: [Float]
    /// The factors of the system gamma by luminance, with the white of SDR as 1; empty without one.
    let system: [Float]
    /// To the primaries of BT.709.
    let matrix: LightMatrix

    /// The factor of a luminance of the scene; 0 for black.
    @inline(__always)
    func factor(_ luminance: Float, _ system: UnsafePointer<Float>) -> Float {
      luminance >= LightTables.leastLight
        ? system[
          Int(
            truncatingIfNeeded: luminance.bitPattern >> LightTables.dropped &- LightTables.firstCode
          )]
        : 0
    }
  }

  let tone: Tone?
  /// 16-bit light by 16-bit signals; `nil` = signals stay as they are.
  let light: [UInt16]?

  /// Values are looked up by exponent and the first 11 bits of the mantissa: steps of 1/2000.
  static let dropped: UInt32 = 12
  /// The least light that is not black of 8 bits: (0.5 / 255) to the power of 2.4.
  static let leastLight: Float = 0x1p-22
  static let firstCode = leastLight.bitPattern >> dropped

  init(_ source: LightSource, _ treatment: HDRTreatment) {
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

  private static func tone(_ source: LightSource) -> Tone {
    let mapping = ToneMapping(peak: source.peak)
    let isMapped = mapping.peak > ToneMapping.white
    // What is no HDR is only cut.
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

extension LightTables.Tone {
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
        ? factors[Int(truncatingIfNeeded: most.bitPattern >> LightTables.dropped &- firstFactor)]
        : 1 / most
    }
    pixel[0] = Self.code(red * scale, codes)
    pixel[1] = Self.code(green * scale, codes)
    pixel[2] = Self.code(blue * scale, codes)
  }

  @inline(__always)
  private static func code(_ light: Float, _ codes: UnsafePointer<UInt8>) -> UInt8 {
    // Not a number is black, too.
    guard light >= LightTables.leastLight else { return 0 }
    if light >= 1 { return 255 }
    return codes[
      Int(truncatingIfNeeded: light.bitPattern >> LightTables.dropped &- LightTables.firstCode)]
  }
}
