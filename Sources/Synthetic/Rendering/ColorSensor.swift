import CRendering
import Core

/// Models a color sensor: motion blur, noise and quantization to eight bits.
///
/// Motion blur averages a picture along the path of each pixel's point during the exposure: a straight
/// line in the picture, computed from the depth of the pixel and the motion of the camera. Up to six
/// places on it are averaged.
struct ColorSensor: Sendable {
  private let camera: PinholeCamera
  private let frame: Int
  private let noiseKey: UInt64
  private let isWide: Bool
  private let isBlurred: Bool
  /// Motion of the camera during the exposure, camera axes: meters and radians.
  private let shift: SIMD3<Float>
  private let turn: SIMD3<Float>
  private let directions: [Float]
  /// Variance of the noise in steps of 8 bits: `readout + shot · brightness`.
  private let readout: Float
  private let shot: Float

  init(
    camera: PinholeCamera, settings: PictureSettings, frame: Int, noiseKey: UInt64,
    state: MotionState, isWide: Bool
  ) {
    self.camera = camera
    self.frame = frame
    self.noiseKey = noiseKey
    self.isWide = isWide
    let exposure = settings.exposureSeconds
    isBlurred = exposure > 0
    shift = SIMD3<Float>(state.worldFromCamera.transposed * state.velocity * exposure)
    turn = SIMD3<Float>(state.angularVelocity * exposure)
    directions = PixelLoops.directions(
      camera.width, center: camera.cx, pixelSize: Float(1 / camera.fx))
    // Half of a mid-gray pixel's variance is shot noise, half readout noise.
    let variance = Float(settings.noiseSteps * settings.noiseSteps)
    readout = variance / 2
    shot = variance
  }

  /// Writes row `v` as RGB bytes from index `start` on; `sharp` is the whole picture as the shader leaves it.
  ///
  /// Cost: some nanoseconds a pixel where the paths of a group of pixels are alike, as they mostly are on
  /// surfaces; more where they are not, because each is then followed on its own.
  func exposeRow(
    _ v: Int, of sharp: Span<Float>, into rgb: inout MutableSpan<UInt8>, at start: Int
  ) {
    precondition((0..<camera.height).contains(v))
    precondition(start >= 0 && start + 3 * camera.width <= rgb.count)
    precondition(sharp.count >= PixelLoops.rowLength(width: camera.width) * camera.height)
    let y = Float((Double(v) - camera.cy) / camera.fy)
    let random = SeededRandom(key: noiseKey, frame: frame, row: v)
    rgb.withUnsafeMutableBufferPointer { rgb in
      let bytes = rgb.baseAddress.map { $0 + start }
      sharp.withUnsafeBufferPointer { sharp in
        NoiseTable.values.withUnsafeBufferPointer { noise in
          directions.withUnsafeBufferPointer { directions in
            var sensor = scanmill_sensor(
              width: Int64(camera.width), height: Int64(camera.height),
              stride: Int64(PixelLoops.stride(width: camera.width)), is_blurred: isBlurred,
              fx: Float(camera.fx), fy: Float(camera.fy), shift: scanmill_vector(shift),
              turn: scanmill_vector(turn), readout: readout, shot: shot,
              noise: noise.baseAddress, directions: directions.baseAddress,
              picture: sharp.baseAddress)
            scanmill_render_expose(isWide, &sensor, Int64(v), y, random.state, bytes)
          }
        }
      }
    }
  }
}
