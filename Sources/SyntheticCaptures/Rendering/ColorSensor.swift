import Geometry

/// Models a color sensor: motion blur, noise and quantization to eight bits.
struct ColorSensor: Sendable {
  private let camera: PinholeCamera
  private let frame: Int
  private let noiseKey: UInt64
  private let blur: MotionBlur?
  /// Variance of the noise in steps of 8 bits: `readout + shot · brightness`.
  private let readout: Float
  private let shot: Float

  init(
    camera: PinholeCamera, settings: PictureSettings, frame: Int, noiseKey: UInt64,
    state: MotionState
  ) {
    self.camera = camera
    self.frame = frame
    self.noiseKey = noiseKey
    let exposure = settings.exposureSeconds
    blur = exposure > 0 ? MotionBlur(camera: camera, exposure: exposure, state: state) : nil
    // Half of a mid-gray pixel's variance is shot noise, half readout noise.
    let variance = Float(settings.noiseSteps * settings.noiseSteps)
    readout = variance / 2
    shot = variance
  }

  /// Writes row `v` as RGB bytes; `sharp` is the whole picture as the shader leaves it.
  func exposeRow(
    _ v: Int, of sharp: Span<SIMD4<Float>>, into rgb: inout MutableSpan<UInt8>, at start: Int
  ) {
    let width = camera.width
    precondition(sharp.count >= (width + Shader.group) * camera.height)
    precondition(start + 3 * width <= rgb.count)
    let values = NoiseTable.values
    let noise = values.span
    let random = SeededRandom(key: noiseKey, frame: frame, row: v)
    let row = v &* (width &+ Shader.group)
    var u = 0
    // Four pixels at a time. The last group may reach beyond the row; what it computes there is not
    // used.
    while u < width {
      let place = row &+ u
      var colors = PixelGroup(
        sharp[unchecked: place], sharp[unchecked: place &+ 1], sharp[unchecked: place &+ 2],
        sharp[unchecked: place &+ 3])
      if let blur { colors = blur.blurred(colors, u, v, sharp) }
      let pixels = bytes(colors, noise, random, u)
      let byte = start &+ 3 &* u
      if u &+ 4 <= width {
        Self.store(pixels.x | pixels.y &<< 24, into: &rgb, at: byte)
        Self.store(pixels.y &>> 8 | pixels.z &<< 16, into: &rgb, at: byte &+ 4)
        Self.store(pixels.z &>> 16 | pixels.w &<< 8, into: &rgb, at: byte &+ 8)
      } else {
        for pixel in 0..<(width &- u) {
          for channel in 0..<3 {
            rgb[unchecked: byte &+ 3 &* pixel &+ channel] = UInt8(
              truncatingIfNeeded: pixels[pixel] &>> UInt32(8 &* channel))
          }
        }
      }
      u &+= 4
    }
  }

  /// Four bytes, the lowest first.
  @inline(__always)
  private static func store(_ word: UInt32, into rgb: inout MutableSpan<UInt8>, at place: Int) {
    rgb[unchecked: place] = UInt8(truncatingIfNeeded: word)
    rgb[unchecked: place &+ 1] = UInt8(truncatingIfNeeded: word &>> 8)
    rgb[unchecked: place &+ 2] = UInt8(truncatingIfNeeded: word &>> 16)
    rgb[unchecked: place &+ 3] = UInt8(truncatingIfNeeded: word &>> 24)
  }

  /// Adds noise; red is in the lowest byte of each pixel, then green, then blue.
  @inline(__always)
  private func bytes(
    _ colors: PixelGroup, _ noise: Span<Float>, _ random: SeededRandom, _ u: Int
  ) -> SIMD4<UInt32> {
    let (a, b, c, d) = (colors.a, colors.b, colors.c, colors.d)
    let red = Lanes(a.x, b.x, c.x, d.x)
    let green = Lanes(a.y, b.y, c.y, d.y)
    let blue = Lanes(a.z, b.z, c.z, d.z)
    var sum = red + green + blue
    sum.replace(with: 0, where: sum .< 0)
    let light = sum * (1.0 / 3)
    let deviation = (readout + shot * light).squareRoot()
    let bits = (
      random.upcoming(after: u), random.upcoming(after: u &+ 1), random.upcoming(after: u &+ 2),
      random.upcoming(after: u &+ 3)
    )
    @inline(__always) func drawn(_ shift: UInt64) -> Lanes {
      let mask = (UInt64(1) << NoiseTable.indexBits) - 1
      return Lanes(
        noise[unchecked: Int(truncatingIfNeeded: bits.0 &>> shift & mask)],
        noise[unchecked: Int(truncatingIfNeeded: bits.1 &>> shift & mask)],
        noise[unchecked: Int(truncatingIfNeeded: bits.2 &>> shift & mask)],
        noise[unchecked: Int(truncatingIfNeeded: bits.3 &>> shift & mask)])
    }
    return Self.byte(red * 255 + deviation * drawn(0))
      | Self.byte(green * 255 + deviation * drawn(12)) &<< 8
      | Self.byte(blue * 255 + deviation * drawn(24)) &<< 16
  }

  /// Rounds to nearest, 0…255.
  @inline(__always)
  private static func byte(_ values: Lanes) -> SIMD4<UInt32> {
    var values = values.replacing(with: 255, where: values .> 255)
    values.replace(with: 0, where: values .< 0)
    return values.smallIntegers
  }
}

/// Red, green, blue and inverse depth of four pixels side by side.
struct PixelGroup {
  var a: SIMD4<Float>
  var b: SIMD4<Float>
  var c: SIMD4<Float>
  var d: SIMD4<Float>

  @inline(__always)
  init(_ a: SIMD4<Float>, _ b: SIMD4<Float>, _ c: SIMD4<Float>, _ d: SIMD4<Float>) {
    self.a = a
    self.b = b
    self.c = c
    self.d = d
  }

  @inline(__always)
  static func * (group: Self, factor: Float) -> Self {
    Self(group.a * factor, group.b * factor, group.c * factor, group.d * factor)
  }
}
