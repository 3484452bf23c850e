import Captures
import Core
import SystemPackage

/// A board one meter before the depth camera, a wall three meters away, painted by formulas: what each
/// camera sees of them is known at every pixel.
public struct BoardScene {
  public var depthCamera = PinholeCamera(width: 80, height: 60, fx: 70, fy: 70, cx: 39.5, cy: 29.5)
  public var colorCamera = PinholeCamera(
    width: 240, height: 180, fx: 210, fy: 210, cx: 119.5, cy: 89.5)
  /// The color camera stands 0.2 m to the right.
  public var colorFromDepth = RigidTransform(
    rotation: RigidTransform.identity.rotation, translation: [-0.2, 0, 0])

  public init() {}

  /// A point in space and what is painted there.
  public struct Hit {
    /// Meters, depth camera axes.
    public var point: [Double]
    public var isBoard: Bool

    /// Rises slowly along x and y, so that neighbors differ by little; blue tells board from wall.
    public var rgb: [Double] {
      [120 + 30 * point[0], 120 + 30 * point[1], isBoard ? 250 : 20]
    }
  }

  private static let boardColumns = -0.15...0.25
  private static let boardRows = -0.2...0.2

  /// What the ray from `origin` along `direction` meets.
  public static func hit(from origin: [Double], along direction: [Double]) -> Hit {
    func point(_ z: Double) -> [Double] {
      let s = (z - origin[2]) / direction[2]
      return [origin[0] + s * direction[0], origin[1] + s * direction[1], z]
    }
    let board = point(1)
    if boardColumns.contains(board[0]), boardRows.contains(board[1]) {
      return Hit(point: board, isBoard: true)
    }
    return Hit(point: point(3), isBoard: false)
  }

  public func depthHit(_ i: Int, _ j: Int) -> Hit {
    Self.hit(
      from: [0, 0, 0],
      along: [
        (Double(i) - depthCamera.cx) / depthCamera.fx,
        (Double(j) - depthCamera.cy) / depthCamera.fy, 1,
      ])
  }

  /// Where a point of the depth camera's axes is in the color picture.
  public func colorPixel(_ point: [Double]) -> (u: Double, v: Double) {
    let q = colorFromDepth.apply(to: point)
    return (
      colorCamera.fx * q[0] / q[2] + colorCamera.cx, colorCamera.fy * q[1] / q[2] + colorCamera.cy
    )
  }

  public func colorHit(u: Double, v: Double) -> Hit {
    let depthFromColor = colorFromDepth.inverse
    let turn = RigidTransform(rotation: depthFromColor.rotation, translation: [0, 0, 0])
    return Self.hit(
      from: depthFromColor.translation,
      along: turn.apply(
        to: [(u - colorCamera.cx) / colorCamera.fx, (v - colorCamera.cy) / colorCamera.fy, 1]))
  }

  public var depth: DepthImage {
    var image = DepthImage(width: depthCamera.width, height: depthCamera.height)
    for j in 0..<image.height {
      for i in 0..<image.width {
        image.millimeters[j * image.width + i] = depthHit(i, j).isBoard ? 1000 : 3000
      }
    }
    return image
  }

  public var color: ColorImage {
    var image = ColorImage(width: colorCamera.width, height: colorCamera.height)
    for y in 0..<image.height {
      for x in 0..<image.width {
        for (channel, value) in colorHit(u: Double(x), v: Double(y)).rgb.enumerated() {
          image.rgb[3 * (y * image.width + x) + channel] = UInt8(min(max(value, 0), 255) + 0.5)
        }
      }
    }
    return image
  }

  /// How a depth pixel must come out in color.
  public enum Expected: Equatable {
    /// Seen by the color camera, far from every outline.
    case seen([Double])
    case hidden
    /// So close to an outline or the border that it may fall to either side.
    case unsure
  }

  public func expected(_ i: Int, _ j: Int) -> Expected {
    let hit = depthHit(i, j)
    for (di, dj) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
      if depthHit(i + di, j + dj).isBoard != hit.isBoard { return .unsure }
    }
    let pixel = colorPixel(hit.point)
    let margin = 5.0
    guard pixel.u > -margin, pixel.v > -margin, pixel.u < Double(colorCamera.width) + margin,
      pixel.v < Double(colorCamera.height) + margin
    else { return .hidden }
    guard pixel.u > margin, pixel.v > margin, pixel.u < Double(colorCamera.width) - margin,
      pixel.v < Double(colorCamera.height) - margin
    else { return .unsure }
    // The outline in the color picture is one depth pixel wide at most: three color pixels.
    let around = [-margin, 0, margin].flatMap { dv in
      [-margin, 0, margin].map { colorHit(u: pixel.u + $0, v: pixel.v + dv).isBoard }
    }
    if Set(around).count > 1 { return .unsure }
    return around[0] == hit.isBoard ? .seen(hit.rgb) : .hidden
  }

  /// A capture with these cameras, known by its calibration alone.
  public var capture: Capture { capture(frames: 6) }

  /// The capture with so many canonical frames, without times.
  public func capture(frames: Int) -> Capture {
    var capture = Capture(
      id: "board", family: .scannet, generation: "v1", folder: "/nowhere",
      clock: CaptureClock(.uptime, unit: "s"))
    capture.alignment = DepthCalibration(
      registered: false, colorFromDepth: colorFromDepth, depthIntrinsics: depthCamera,
      colorIntrinsics: colorCamera)
    capture.color = .stills(colorCamera.width, colorCamera.height)
    capture.frames = Array(repeating: CaptureFrame(), count: frames)
    return capture
  }
}
