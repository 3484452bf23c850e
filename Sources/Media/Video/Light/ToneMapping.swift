import Glibc

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
