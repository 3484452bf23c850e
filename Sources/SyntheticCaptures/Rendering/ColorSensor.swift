import Geometry

/// Models a color sensor: motion blur, noise and quantization to eight bits.
struct ColorSensor: Sendable {
  private let camera: PinholeCamera
  private let frame: Int
  private let noiseKey: UInt64
  private let motion: MotionBlur?
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
    motion = exposure > 0 ? MotionBlur(camera: camera, exposure: exposure, state: state) : nil
    // Half of a mid-gray pixel's variance is shot noise, half readout noise.
    let variance = Float(settings.noiseSteps * settings.noiseSteps)
    readout = variance / 2
    shot = variance
  }

  /// What the steps of exposing a row hand over for four pixels.
  struct Step: BitwiseCopyable {
    fileprivate var red = Lanes.zero
    fileprivate var green = Lanes.zero
    fileprivate var blue = Lanes.zero
    fileprivate var noise = (red: Lanes.zero, green: Lanes.zero, blue: Lanes.zero)
  }

  /// As many steps as a row of `width` pixels needs.
  static func steps(width: Int) -> [Step] { Array(repeating: Step(), count: (width + 3) / 4) }

  /// Writes row `v` as RGB bytes; `sharp` is the whole picture as the shader leaves it.
  func exposeRow(
    _ v: Int, of sharp: Span<SIMD4<Float>>, steps: inout MutableSpan<Step>,
    into rgb: inout MutableSpan<UInt8>, at start: Int
  ) {
    let width = camera.width
    precondition(sharp.count >= (width + Shader.group) * camera.height)
    precondition(start + 3 * width <= rgb.count && steps.count >= (width + 3) / 4)
    // Loops of their own, so that each has its numbers in registers. The last group may reach beyond
    // the row; what is computed there is not used.
    drawNoise(v, &steps)
    blur(v, sharp, &steps)
    quantize(steps.span, into: &rgb, at: start)
  }

  /// Takes three numbers from 64 random bits for each pixel.
  @inline(never)
  private func drawNoise(_ v: Int, _ steps: inout MutableSpan<Step>) {
    let values = NoiseTable.values
    let noise = values.span
    let random = SeededRandom(key: noiseKey, frame: frame, row: v)
    let mask = (UInt64(1) << NoiseTable.indexBits) - 1
    for index in 0..<(camera.width + 3) / 4 {
      let u = index &* 4
      let bits = (
        random.upcoming(after: u), random.upcoming(after: u &+ 1), random.upcoming(after: u &+ 2),
        random.upcoming(after: u &+ 3)
      )
      @inline(__always) func drawn(_ shift: UInt64) -> Lanes {
        Lanes(
          noise[unchecked: Int(truncatingIfNeeded: bits.0 &>> shift & mask)],
          noise[unchecked: Int(truncatingIfNeeded: bits.1 &>> shift & mask)],
          noise[unchecked: Int(truncatingIfNeeded: bits.2 &>> shift & mask)],
          noise[unchecked: Int(truncatingIfNeeded: bits.3 &>> shift & mask)])
      }
      steps[unchecked: index].noise = (drawn(0), drawn(12), drawn(24))
    }
  }

  @inline(never)
  private func blur(_ v: Int, _ sharp: Span<SIMD4<Float>>, _ steps: inout MutableSpan<Step>) {
    let row = v &* (camera.width &+ Shader.group)
    for index in 0..<(camera.width + 3) / 4 {
      let place = row &+ index &* 4
      var colors = PixelGroup(
        sharp[unchecked: place], sharp[unchecked: place &+ 1], sharp[unchecked: place &+ 2],
        sharp[unchecked: place &+ 3])
      if let motion { colors = motion.blurred(colors, index &* 4, v, sharp) }
      let (a, b, c, d) = (colors.a, colors.b, colors.c, colors.d)
      steps[unchecked: index].red = Lanes(a.x, b.x, c.x, d.x)
      steps[unchecked: index].green = Lanes(a.y, b.y, c.y, d.y)
      steps[unchecked: index].blue = Lanes(a.z, b.z, c.z, d.z)
    }
  }

  /// Adds the noise and rounds.
  @inline(never)
  private func quantize(
    _ steps: Span<Step>, into rgb: inout MutableSpan<UInt8>, at start: Int
  ) {
    let width = camera.width
    for index in 0..<(width + 3) / 4 {
      let step = steps[unchecked: index]
      let light = (step.red + step.green + step.blue).clamped(above: 0) * (1.0 / 3)
      let deviation = (readout + shot * light).squareRoot()
      // Red is in the lowest byte of each pixel, then green, then blue.
      let pixels =
        Self.byte(step.red * 255 + deviation * step.noise.red)
        | Self.byte(step.green * 255 + deviation * step.noise.green) &<< 8
        | Self.byte(step.blue * 255 + deviation * step.noise.blue) &<< 16
      let u = index &* 4
      let place = start &+ 3 &* u
      if u &+ 4 <= width {
        Self.store(pixels.x | pixels.y &<< 24, into: &rgb, at: place)
        Self.store(pixels.y &>> 8 | pixels.z &<< 16, into: &rgb, at: place &+ 4)
        Self.store(pixels.z &>> 16 | pixels.w &<< 8, into: &rgb, at: place &+ 8)
      } else {
        for pixel in 0..<(width &- u) {
          for channel in 0..<3 {
            rgb[unchecked: place &+ 3 &* pixel &+ channel] = UInt8(
              truncatingIfNeeded: pixels[pixel] &>> UInt32(8 &* channel))
          }
        }
      }
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

  /// Rounds to nearest, 0…255.
  @inline(__always)
  private static func byte(_ values: Lanes) -> SIMD4<UInt32> {
    values.clamped(below: 255).clamped(above: 0).smallIntegers
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
