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

  /// The measurements in whole millimeters.
  func depthImage(_ exact: [Double], frame: Int) -> DepthImage {
    DepthImage(
      width: camera.width, height: camera.height,
      millimeters: measure(exact, frame: frame).millimeters)
  }

  func confidenceImage(_ exact: [Double]) -> GrayImage {
    GrayImage(width: camera.width, height: camera.height, values: confidence(exact))
  }

  /// The mean of a pixel and its four neighbors.
  private func blended(_ exact: [Double], _ row: Int, _ column: Int) -> Double {
    let left = exact[row * camera.width + max(0, column - 1)]
    let right = exact[row * camera.width + min(camera.width - 1, column + 1)]
    let above = exact[max(0, row - 1) * camera.width + column]
    let below = exact[min(camera.height - 1, row + 1) * camera.width + column]
    return (2 * exact[row * camera.width + column] + left + right + above + below) / 6
  }

  /// The largest difference to pixels `reach` away, relative to the pixel.
  private func steepest(_ exact: [Double], _ row: Int, _ column: Int, reach: Int) -> Double {
    let center = exact[row * camera.width + column]
    let left = exact[row * camera.width + max(0, column - reach)]
    let right = exact[row * camera.width + min(camera.width - 1, column + reach)]
    let above = exact[max(0, row - reach) * camera.width + column]
    let below = exact[min(camera.height - 1, row + reach) * camera.width + column]
    return max(abs(left - center), abs(right - center), abs(above - center), abs(below - center))
      / center
  }

  private static func noise(_ bits: UInt64) -> Double {
    let mask = (UInt64(1) << NoiseTable.indexBits) - 1
    return Double(NoiseTable.values[Int(truncatingIfNeeded: bits & mask)])
  }
}

extension [Float] {
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

  /// Nine numbers, column-major: `fx 0 0 0 fy 0 cx cy 1`.
  static func columnMajor(_ camera: PinholeCamera) -> [Double] {
    [camera.fx, 0, 0, 0, camera.fy, 0, camera.cx, camera.cy, 1]
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
