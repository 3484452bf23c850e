import Core

/// The depth map of a phone with a laser scanner: smooth, a few millimeters of noise, edges a pixel
/// or two wide, and a confidence for each pixel.
///
/// Modeled: blending across edges, noise in patches that grows with distance, confidence by edges
/// and distance. Noise 0 leaves exact distances of pixel centers, and the confidence.
struct LidarSensor {
  let camera: PinholeCamera
  private let noise: Double
  private let key: UInt64
  private static let patch = 8
  private static let bands = 8
  /// Largest measurable distance, meters.
  private static let longestRange = 5.0

  init(camera: PinholeCamera, noise: Double, seed: UInt64) {
    self.camera = camera
    self.noise = noise
    var random = SeededRandom(seed: seed, "lidar")
    key = random.next()
  }

  /// Meters in raster order; `exact` are distances along the optical axis.
  func measure(_ exact: [Double], frame: Int) -> [Float] {
    precondition(exact.count == camera.width * camera.height)
    var measured = [Float](repeating: 0, count: exact.count)
    withConcurrentRowBands(
      of: &measured, rows: camera.height, rowLength: camera.width, bands: Self.bands
    ) { rows, measured in
      for row in rows {
        var patches = SeededRandom(key: key, frame: frame, row: row / Self.patch)
        var pixels = SeededRandom(key: key &+ 1, frame: frame, row: row)
        var patchNoise = 0.0
        for column in 0..<camera.width {
          if column % Self.patch == 0 { patchNoise = Self.noise(patches.next()) }
          let pixelNoise = Self.noise(pixels.next())
          let center = exact[row * camera.width + column]
          var value = center
          if noise > 0 {
            value = blended(exact, row, column)
            let deviation = noise * (0.001 + 0.0015 * value)
            value += deviation * (patchNoise + 0.35 * pixelNoise)
          }
          measured[(row - rows.lowerBound) * camera.width + column] = Float(max(0.1, value))
        }
      }
    }
    return measured
  }

  /// 2 = high, 1 = medium beside edges and beyond three meters, 0 = low on edges and beyond five.
  func confidence(_ exact: [Double]) -> [UInt8] {
    var values = [UInt8](repeating: 2, count: exact.count)
    for row in 0..<camera.height {
      for column in 0..<camera.width {
        let center = exact[row * camera.width + column]
        let near = steepest(exact, row, column, reach: 1)
        if near > 0.1 || center > Self.longestRange {
          values[row * camera.width + column] = 0
        } else if center > 3 || steepest(exact, row, column, reach: 3) > 0.1 {
          values[row * camera.width + column] = 1
        }
      }
    }
    return values
  }

  /// The mean of a pixel and its four neighbors.
  private func blended(_ exact: [Double], _ row: Int, _ column: Int) -> Double {
    let near = neighbors(exact, row, column, reach: 1)
    return (2 * exact[row * camera.width + column] + near.x + near.y + near.z + near.w) / 6
  }

  /// The largest difference to pixels `reach` away, relative to the pixel.
  private func steepest(_ exact: [Double], _ row: Int, _ column: Int, reach: Int) -> Double {
    let center = exact[row * camera.width + column]
    let steps = neighbors(exact, row, column, reach: reach) - center
    return max(abs(steps.x), abs(steps.y), abs(steps.z), abs(steps.w)) / center
  }

  /// The pixels left, right, above and below, inside the picture.
  private func neighbors(
    _ exact: [Double], _ row: Int, _ column: Int, reach: Int
  ) -> SIMD4<Double> {
    let (width, start) = (camera.width, row * camera.width)
    return SIMD4(
      exact[start + max(0, column - reach)], exact[start + min(width - 1, column + reach)],
      exact[max(0, row - reach) * width + column],
      exact[min(camera.height - 1, row + reach) * width + column])
  }

  private static func noise(_ bits: UInt64) -> Double {
    let mask = (UInt64(1) << NoiseTable.indexBits) - 1
    return Double(NoiseTable.values[Int(truncatingIfNeeded: bits & mask)])
  }
}

/// The depth sensor's view of a frame.
struct DepthView {
  let frame: Int
  let sensor: LidarSensor
  /// Exact distances, meters.
  let exact: [Double]

  /// The measurements.
  var meters: [Float] { sensor.measure(exact, frame: frame) }

  /// The measurements in whole millimeters.
  var image: DepthImage {
    DepthImage(
      width: sensor.camera.width, height: sensor.camera.height, millimeters: meters.millimeters)
  }

  var confidence: [UInt8] { sensor.confidence(exact) }

  /// - Parameter stored: what the app stores for low, medium and high.
  func confidenceImage(_ stored: [UInt8] = [0, 1, 2]) -> GrayImage {
    GrayImage(
      width: sensor.camera.width, height: sensor.camera.height,
      values: confidence.map { stored[Int($0)] })
  }
}

extension [Float] {
  /// The frame with these values in single pixels.
  func with(_ odd: Float...) -> [Float] {
    var meters = self
    for (index, value) in odd.enumerated() { meters[index * 7] = value }
    return meters
  }

  /// Meters in whole millimeters.
  var millimeters: [UInt16] { map { Core.millimeters(fromMeters: Double($0)) } }
}

/// A color camera whose autofocus changes the focal length a little from frame to frame.
struct DriftingCamera {
  private let atRest: PinholeCamera
  private let phase: Double

  init(_ camera: PinholeCamera, seed: UInt64) {
    atRest = camera
    var random = SeededRandom(seed: seed, "autofocus")
    phase = random.uniform(0...(2 * Trigonometry.pi))
  }

  /// The parameters of a frame in single precision, as the apps store them.
  func camera(_ frame: Int) -> PinholeCamera {
    var camera = atRest
    let turn = Trigonometry.sine(Double(frame) * 0.11 + phase)
    let focal = Double(Float(camera.fx * (1 + 0.0006 * turn)))
    camera.fx = focal
    camera.fy = focal
    camera.cx = Double(Float(camera.cx + 0.4 * turn))
    camera.cy = Double(Float(camera.cy - 0.25 * turn))
    return camera
  }
}

extension MotionState {
  /// Camera to world as ARKit stores it: column-major, single precision, camera axes x right, y up,
  /// z toward the viewer.
  func arkitTransform(shiftedBy shift: Vector3 = .zero) -> [Float] {
    let turn = worldFromCamera
    let place = position + shift
    let columns = [turn.x, turn.y * -1, turn.z * -1]
    return columns.flatMap { [Float($0.x), Float($0.y), Float($0.z), 0] }
      + [Float(place.x), Float(place.y), Float(place.z), 1]
  }
}
