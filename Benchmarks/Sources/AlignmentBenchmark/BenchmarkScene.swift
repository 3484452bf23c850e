import Core

/// Two cameras of the usual sizes, and depth of a furnished room: walls, a floor, boards in front of them.
enum BenchmarkScene {
  /// Different frames.
  static let count = 4

  static let depthCamera = PinholeCamera(
    width: 640, height: 480, fx: 571.62, fy: 571.62, cx: 319.5, cy: 239.5)
  static let colorCamera = PinholeCamera(
    width: 1296, height: 968, fx: 1170.19, fy: 1170.19, cx: 647.75, cy: 483.75)

  static func calibration(hasLenses: Bool) -> DepthCalibration {
    DepthCalibration(
      registered: false,
      colorFromDepth: RigidTransform(
        rotation: [
          0.999973, -0.004106, -0.006064, 0.0042, 0.999871, 0.015474, 0.006, -0.015499, 0.999862,
        ], translation: [0.03807, 0.0036, 0.021615]),
      depthIntrinsics: depthCamera, colorIntrinsics: colorCamera,
      depthDistortion: hasLenses
        ? LensDistortion(openCVOrder: [-0.09, 0.11, 6e-4, -4e-4, -0.03]) : .none,
      colorDistortion: hasLenses
        ? LensDistortion(openCVOrder: [0.0712, -0.153, 0.0011, -0.0008, 0.0561]) : .none)
  }

  /// Depth in the steps of a structured-light sensor (z² / 300,000 mm), with its noise and holes.
  static func frame(seed: UInt64) -> DepthImage {
    var random = Numbers(state: seed &+ 1)
    var image = DepthImage(width: depthCamera.width, height: depthCamera.height)
    let boards = (0..<12).map { _ in
      (
        left: Int.random(in: -40..<600, using: &random),
        top: Int.random(in: -40..<440, using: &random),
        width: Int.random(in: 30..<160, using: &random),
        height: Int.random(in: 30..<160, using: &random),
        z: Double.random(in: 700...2600, using: &random),
        slant: Double.random(in: -1.5...1.5, using: &random)
      )
    }
    var noise = 0.0
    for j in 0..<image.height {
      for i in 0..<image.width {
        // A wall that recedes to the right, a floor from below the middle on.
        var z = 2600 + 1.1 * Double(i)
        let down = (Double(j) - depthCamera.cy) / depthCamera.fy
        if down > 0 { z = min(z, 1300 / down) }
        for board in boards
        where (board.left..<(board.left + board.width)).contains(i)
          && (board.top..<(board.top + board.height)).contains(j)
        { z = min(z, board.z + board.slant * Double(i - board.left)) }
        // Noise of about a step, smooth over three pixels as sensors that match patterns have it.
        let step = max(1, z * z / 300_000)
        noise = 0.7 * noise + Double.random(in: -0.5...0.5, using: &random)
        z = (z / step + noise).rounded() * step
        let isHole = UInt8.random(in: 0...255, using: &random) == 0
        image.millimeters[j * image.width + i] = isHole || z > 6000 ? 0 : UInt16(z)
      }
    }
    return image
  }

  static func color() -> ColorImage {
    var image = ColorImage(width: colorCamera.width, height: colorCamera.height)
    for index in image.rgb.indices { image.rgb[index] = UInt8(truncatingIfNeeded: index / 7) }
    return image
  }

  /// SplitMix64: the same scenes in every run.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }
}
