/// The matrix from linear light with some primaries to that with those of BT.709; all have the white of D65.
struct LightMatrix: Sendable {
  /// Three rows.
  let rows: (SIMD3<Float>, SIMD3<Float>, SIMD3<Float>)
  /// What red, green and blue add to luminance.
  let luminance: SIMD3<Float>

  /// - Parameter primaries: ITU-T H.273; `nil` for others than BT.709, BT.2020 and P3 with D65.
  init?(primaries: Int) {
    switch primaries {
    case 1:
      rows = (SIMD3(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1))
      luminance = SIMD3(0.2126, 0.7152, 0.0722)
    case 9:
      // BT.2087, M2.
      rows = (
        SIMD3(1.660_491, -0.587_641, -0.072_850), SIMD3(-0.124_550, 1.132_900, -0.008_349),
        SIMD3(-0.018_151, -0.100_579, 1.118_730)
      )
      luminance = SIMD3(0.2627, 0.6780, 0.0593)
    case 12:
      // SMPTE EG 432-1.
      rows = (
        SIMD3(1.224_940, -0.224_940, 0), SIMD3(-0.042_057, 1.042_057, 0),
        SIMD3(-0.019_638, -0.078_636, 1.098_274)
      )
      luminance = SIMD3(0.228_975, 0.691_739, 0.079_287)
    default: return nil
    }
  }
}
