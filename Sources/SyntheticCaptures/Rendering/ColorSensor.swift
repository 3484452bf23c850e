import Geometry

/// Models a color sensor: motion blur, noise and quantization to eight bits.
struct ColorSensor: Sendable {
  private let camera: PinholeCamera
  private let frame: Int
  private let noiseKey: UInt64
  private let isBlurred: Bool
  private let pixelSize: Float
  /// Motion of the camera during the exposure, camera axes: meters and radians.
  private let shift: SIMD3<Float>
  private let turn: SIMD3<Float>
  /// Variance of the noise in steps of 8 bits: `readout + shot · brightness`.
  private let readout: Float
  private let shot: Float
  private static let mostTaps = 6
  private static let inverses: InlineArray<7, Float> = [
    1, 1, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6,
  ]

  init(
    camera: PinholeCamera, settings: PictureSettings, frame: Int, noiseKey: UInt64,
    state: MotionState
  ) {
    self.camera = camera
    self.frame = frame
    self.noiseKey = noiseKey
    pixelSize = Float(1 / camera.fx)
    let exposure = settings.exposureSeconds
    isBlurred = exposure > 0
    shift = SIMD3<Float>(state.worldFromCamera.transposed * state.velocity * exposure)
    turn = SIMD3<Float>(state.angularVelocity * exposure)
    // Half of a mid-gray pixel's variance is shot noise, half readout noise.
    let variance = Float(settings.noiseSteps * settings.noiseSteps)
    readout = variance / 2
    shot = variance
  }

  /// Writes row `v` as RGB bytes; `sharp` is the whole picture.
  func exposeRow(
    _ v: Int, of sharp: Span<SIMD4<Float>>, into rgb: inout MutableSpan<UInt8>, at start: Int
  ) {
    precondition(sharp.count >= camera.width * camera.height)
    precondition(start + 3 * camera.width <= rgb.count)
    let values = NoiseTable.values
    let noise = values.span
    var random = SeededRandom(key: noiseKey, frame: frame, row: v)
    let y = Float((Double(v) - camera.cy) / camera.fy)
    let mask = (1 << NoiseTable.indexBits) - 1
    var u = 0
    while u < camera.width {
      let color = isBlurred ? blurred(u, v, y: y, sharp) : sharp[unchecked: v &* camera.width &+ u]
      let bits = random.next()
      let scaled = color * 255
      let light = max(0, color.x + color.y + color.z) * (1.0 / 3)
      let deviation = (readout + shot * light).squareRoot()
      let red = scaled.x + deviation * noise[unchecked: Int(truncatingIfNeeded: bits) & mask]
      let green =
        scaled.y + deviation * noise[unchecked: Int(truncatingIfNeeded: bits &>> 12) & mask]
      let blue =
        scaled.z + deviation * noise[unchecked: Int(truncatingIfNeeded: bits &>> 24) & mask]
      let place = start &+ 3 &* u
      rgb[unchecked: place] = byte(red)
      rgb[unchecked: place &+ 1] = byte(green)
      rgb[unchecked: place &+ 2] = byte(blue)
      u &+= 1
    }
  }

  /// Rounds to nearest, 0…255: adding 2²³ leaves the integer in the lowest bits.
  @inline(__always)
  private func byte(_ value: Float) -> UInt8 {
    UInt8(truncatingIfNeeded: (max(0, min(255, value)) + 0x1p23).bitPattern)
  }

  /// The mean along the path of this pixel's point over the picture during the exposure.
  @inline(__always)
  private func blurred(
    _ u: Int, _ v: Int, y: Float, _ sharp: Span<SIMD4<Float>>
  ) -> SIMD4<Float> {
    let here = sharp[unchecked: v &* camera.width &+ u]
    let x = (Float(u) - Float(camera.cx)) * pixelSize
    // A fixed point moves by −(shift + turn × p) in camera axes, which is divided by its depth.
    let inverseDepth = here.w
    let mx = -shift.x * inverseDepth - (turn.y - turn.z * y)
    let my = -shift.y * inverseDepth - (turn.z * x - turn.x)
    let mz = -shift.z * inverseDepth - (turn.x * y - turn.y * x)
    let du = Float(camera.fx) * (mx - x * mz)
    let dv = Float(camera.fy) * (my - y * mz)
    let length = max(abs(du), abs(dv))
    // (Beyond 10,000 pixels the blur is not visible.)
    guard length > 1, length < 10_000 else { return here }
    let taps = min(Int(length) &+ 1, Self.mostTaps)
    let inverse = Self.inverses[unchecked: taps]
    // Positions in 1/65536 of a pixel; a path that leaves the picture stays at its border.
    let stepU = Int(du * inverse * 65_536)
    let stepV = Int(dv * inverse * 65_536)
    var atU = u &<< 16 &+ 32_768 &- (stepU &* (taps &- 1)) / 2
    var atV = v &<< 16 &+ 32_768 &- (stepV &* (taps &- 1)) / 2
    let lastU = (camera.width &- 1) &<< 16
    let lastV = (camera.height &- 1) &<< 16
    var sum = SIMD4<Float>.zero
    var tap = 0
    while tap < taps {
      let column = max(0, min(lastU, atU)) &>> 16
      let row = max(0, min(lastV, atV)) &>> 16
      sum += sharp[unchecked: row &* camera.width &+ column]
      atU &+= stepU
      atV &+= stepV
      tap &+= 1
    }
    return sum * inverse
  }
}
