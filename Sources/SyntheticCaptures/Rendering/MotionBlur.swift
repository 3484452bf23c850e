import Geometry

/// Averages a picture along the path of each pixel's point during an exposure.
///
/// The path is a straight line in the picture, computed from the depth of the pixel and the motion of
/// the camera. Up to six places on it are averaged.
struct MotionBlur: Sendable {
  private let width: Int
  /// Colors in a row of the picture.
  private let stride: Int
  private let height: Int
  private let fx: Float
  private let fy: Float
  private let cy: Double
  private let exactFY: Double
  /// x of the direction of every column, and of those that fill the last group.
  private let directions: [Float]
  /// Motion of the camera during the exposure, camera axes: meters and radians.
  private let shift: SIMD3<Float>
  private let turn: SIMD3<Float>
  private static let mostTaps = 6
  private static let inverses: InlineArray<7, Float> = [
    1, 1, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6,
  ]
  /// Longer paths are not visible and not averaged, pixels.
  private static let longest: Float = 10_000

  init(camera: PinholeCamera, exposure: Double, state: MotionState) {
    width = camera.width
    stride = camera.width + Shader.group
    height = camera.height
    fx = Float(camera.fx)
    fy = Float(camera.fy)
    cy = camera.cy
    exactFY = camera.fy
    let pixelSize = Float(1 / camera.fx)
    let center = Float(camera.cx)
    directions = (0..<camera.width + 4).map { (Float($0) - center) * pixelSize }
    shift = SIMD3<Float>(state.worldFromCamera.transposed * state.velocity * exposure)
    turn = SIMD3<Float>(state.angularVelocity * exposure)
  }

  /// The means of the pixels from column `u` on in row `v`; `here` are the pixels themselves. `sharp`
  /// is the whole picture as the shader leaves it.
  ///
  /// Cost: some nanoseconds a pixel where the paths of all four are alike, as they mostly are on
  /// surfaces; more where they are not, because each is then followed on its own.
  @inline(__always)
  func blurred(
    _ here: PixelGroup, _ u: Int, _ v: Int, _ sharp: Span<SIMD4<Float>>
  ) -> PixelGroup {
    let y = Float((Double(v) - cy) / exactFY)
    let directions = directions.span
    let x = Lanes(
      directions[unchecked: u], directions[unchecked: u &+ 1], directions[unchecked: u &+ 2],
      directions[unchecked: u &+ 3])
    // A fixed point moves by −(shift + turn × p) in camera axes, which is divided by its depth.
    let inverseDepth = Lanes(here.a.w, here.b.w, here.c.w, here.d.w)
    let mx = -shift.x * inverseDepth - (turn.y - turn.z * y)
    let my = -shift.y * inverseDepth - (turn.z * x - turn.x)
    let mz = -shift.z * inverseDepth - (turn.x * y - turn.y * x)
    let du = fx * (mx - x * mz)
    let dv = fy * (my - y * mz)
    let (wide, high) = (du.absolute, dv.absolute)
    var length = wide.replacing(with: high, where: high .> wide)
    let isShort = (length .<= 1) .| (length .>= Self.longest)
    length.replace(with: 0, where: isShort)
    guard anyBit(unsafeBitCast(length, to: SIMD4<UInt32>.self)) else { return here }
    // One place, the pixel itself, where there is no path.
    if let together = alike(u, v, du, dv, length, sharp) { return together }
    return PixelGroup(
      mean(here.a, u, v, du.x, dv.x, length.x, sharp),
      mean(here.b, u &+ 1, v, du.y, dv.y, length.y, sharp),
      mean(here.c, u &+ 2, v, du.z, dv.z, length.z, sharp),
      mean(here.d, u &+ 3, v, du.w, dv.w, length.w, sharp))
  }

  /// The means of four pixels whose paths have the same places relative to them, all of them in the
  /// picture; `nil` for others.
  @inline(__always)
  private func alike(
    _ u: Int, _ v: Int, _ du: Lanes, _ dv: Lanes, _ length: Lanes, _ sharp: Span<SIMD4<Float>>
  ) -> PixelGroup? {
    // Steps below 64 pixels, so that they are exact in 22 bits.
    let most = Float(Self.mostTaps)
    var counts = length.floor + 1
    counts.replace(with: most, where: counts .> most)
    let taps = Int(counts.x)
    let inverse = Self.inverses[unchecked: min(taps, Self.mostTaps)]
    let (stepU, stepV) = (du * inverse * 65_536, dv * inverse * 65_536)
    let isOther =
      (counts .!= counts.x) .| (stepU.absolute .>= 0x1p22) .| (stepV.absolute .>= 0x1p22)
    guard !anyLane(isOther), taps > 1 else { return nil }
    let (wholeU, wholeV) = (Self.truncated(stepU), Self.truncated(stepV))
    let steps = Int32(truncatingIfNeeded: taps &- 1)
    // Relative to the pixels, in 1/65536 of a pixel.
    var atU = 32_768 &- Self.half(wholeU &* steps)
    var atV = 32_768 &- Self.half(wholeV &* steps)
    let endU = Int((atU.x &+ wholeU.x &* steps) &>> 16)
    let endV = Int((atV.x &+ wholeV.x &* steps) &>> 16)
    let (startU, startV) = (Int(atU.x &>> 16), Int(atV.x &>> 16))
    guard u &+ min(startU, endU) >= 0, u &+ 3 &+ max(startU, endU) < width,
      v &+ min(startV, endV) >= 0, v &+ max(startV, endV) < height
    else { return nil }
    let pixel = v &* stride &+ u
    var sums = PixelGroup(.zero, .zero, .zero, .zero)
    var differences = SIMD4<Int32>.zero
    var tap = 0
    while tap < taps {
      let column = atU &>> 16
      let row = atV &>> 16
      differences |=
        (column ^ SIMD4(column.y, column.z, column.w, column.x))
        | (row ^ SIMD4(row.y, row.z, row.w, row.x))
      let place = pixel &+ Int(row.x) &* stride &+ Int(column.x)
      sums.a += sharp[unchecked: place]
      sums.b += sharp[unchecked: place &+ 1]
      sums.c += sharp[unchecked: place &+ 2]
      sums.d += sharp[unchecked: place &+ 3]
      atU &+= wholeU
      atV &+= wholeV
      tap &+= 1
    }
    guard !anyBit(unsafeBitCast(differences, to: SIMD4<UInt32>.self)) else { return nil }
    return sums * inverse
  }

  /// Toward zero, for numbers below 2²² in size.
  @inline(__always)
  private static func truncated(_ values: Lanes) -> SIMD4<Int32> {
    let size = unsafeBitCast(values.absolute.floor.smallIntegers, to: SIMD4<Int32>.self)
    let sign = unsafeBitCast(values, to: SIMD4<Int32>.self) &>> 31
    return (size ^ sign) &- sign
  }

  /// Half of each number, toward zero.
  @inline(__always)
  private static func half(_ values: SIMD4<Int32>) -> SIMD4<Int32> {
    let sign = unsafeBitCast(
      unsafeBitCast(values, to: SIMD4<UInt32>.self) &>> 31, to: SIMD4<Int32>.self)
    return (values &+ sign) &>> 1
  }

  /// The mean of one pixel. A path that leaves the picture stays at its border.
  private func mean(
    _ here: SIMD4<Float>, _ u: Int, _ v: Int, _ du: Float, _ dv: Float, _ length: Float,
    _ sharp: Span<SIMD4<Float>>
  ) -> SIMD4<Float> {
    guard length > 0, u < width else { return here }
    let taps = min(Int(length) &+ 1, Self.mostTaps)
    let inverse = Self.inverses[unchecked: taps]
    // Positions in 1/65536 of a pixel.
    let stepU = Int(du * inverse * 65_536)
    let stepV = Int(dv * inverse * 65_536)
    var atU = u &<< 16 &+ 32_768 &- (stepU &* (taps &- 1)) / 2
    var atV = v &<< 16 &+ 32_768 &- (stepV &* (taps &- 1)) / 2
    let lastU = (width &- 1) &<< 16
    let lastV = (height &- 1) &<< 16
    var sum = SIMD4<Float>.zero
    var tap = 0
    while tap < taps {
      let column = max(0, min(lastU, atU)) &>> 16
      let row = max(0, min(lastV, atV)) &>> 16
      sum += sharp[unchecked: row &* stride &+ column]
      atU &+= stepU
      atV &+= stepV
      tap &+= 1
    }
    return sum * inverse
  }
}
