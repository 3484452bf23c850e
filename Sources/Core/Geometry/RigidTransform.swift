/// A rotation followed by a translation: `q = R·p + t`, lengths in meters.
///
/// The rotation is kept as given (values printed with six decimals are not re-orthonormalized);
/// `isRigid(within:)` tells whether it is one. Names state both frames: `colorFromDepth` maps depth-camera
/// coordinates to color-camera coordinates.
public struct RigidTransform: Hashable, Sendable {
  /// Row-major 3×3.
  public var rotation: [Double]
  /// Meters.
  public var translation: [Double]

  public static let identity = RigidTransform(
    rotation: [1, 0, 0, 0, 1, 0, 0, 0, 1], translation: [0, 0, 0])

  public init(rotation: [Double], translation: [Double]) {
    self.rotation = rotation
    self.translation = translation
  }

  /// From a 4×4 matrix in row-major order; its last row is ignored. `nil` unless there are 16
  /// numbers.
  public init?(rowMajor m: [Double]) {
    guard m.count == 16 else { return nil }
    self.init(
      rotation: [m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]],
      translation: [m[3], m[7], m[11]])
  }

  /// Whether the last row of a row-major 4×4 matrix is 0 0 0 1, within the rounding of six
  /// decimals.
  public static func hasUsualLastRow(_ m: [Double]) -> Bool {
    m.count == 16 && zip(m[12...], [0, 0, 0, 1]).allSatisfy { abs($0 - $1) <= 1e-5 }
  }

  /// The length of the translation in meters.
  var baselineMeters: Double {
    translation.reduce(0) { $0 + $1 * $1 }.squareRoot()
  }

  /// The 4×4 matrix in row-major order.
  public var rowMajor: [Double] {
    let r = rotation
    let t = translation
    return [
      r[0], r[1], r[2], t[0], r[3], r[4], r[5], t[1], r[6], r[7], r[8], t[2], 0, 0, 0, 1,
    ]
  }

  /// The opposite direction, by transposing the rotation.
  public var inverse: RigidTransform {
    let r = rotation
    let t = translation
    return RigidTransform(
      rotation: [r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]],
      translation: [
        -(r[0] * t[0] + r[3] * t[1] + r[6] * t[2]),
        -(r[1] * t[0] + r[4] * t[1] + r[7] * t[2]),
        -(r[2] * t[0] + r[5] * t[1] + r[8] * t[2]),
      ])
  }

  /// The point `R·p + t`; three coordinates in meters.
  public func apply(to p: [Double]) -> [Double] {
    let r = rotation
    return [
      r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + translation[0],
      r[3] * p[0] + r[4] * p[1] + r[5] * p[2] + translation[1],
      r[6] * p[0] + r[7] * p[1] + r[8] * p[2] + translation[2],
    ]
  }

  /// The transform that applies `inner` first, then `outer`.
  public static func * (outer: RigidTransform, inner: RigidTransform) -> RigidTransform {
    var rotation = [Double](repeating: 0, count: 9)
    for row in 0..<3 {
      for column in 0..<3 {
        for k in 0..<3 {
          rotation[row * 3 + column] += outer.rotation[row * 3 + k] * inner.rotation[k * 3 + column]
        }
      }
    }
    return RigidTransform(rotation: rotation, translation: outer.apply(to: inner.translation))
  }

  /// Whether every number is finite.
  public var isFinite: Bool {
    rotation.allSatisfy(\.isFinite) && translation.allSatisfy(\.isFinite)
  }

  /// Whether `RᵀR = I` within `tolerance` in every element and the determinant is positive.
  public func isRigid(within tolerance: Double = 1e-3) -> Bool {
    guard isFinite else { return false }
    let r = rotation
    for i in 0..<3 {
      for j in 0..<3 {
        let dot = r[i] * r[j] + r[3 + i] * r[3 + j] + r[6 + i] * r[6 + j]
        if abs(dot - (i == j ? 1 : 0)) > tolerance { return false }
      }
    }
    return determinant > 0
  }

  /// Determinant of the 3×3 part: 1 for a rotation, -1 for a mirrored one.
  var determinant: Double {
    let r = rotation
    return r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6])
      + r[2] * (r[3] * r[7] - r[4] * r[6])
  }

  /// Whether this is exactly the identity.
  public var isIdentity: Bool { self == .identity }
}

/// A unit quaternion with `w ≥ 0`.
public struct Quaternion: Hashable, Sendable {
  public var x: Double
  public var y: Double
  public var z: Double
  public var w: Double

  /// Normalizes the components; negates all of them if `w` is below 0.
  public init(x: Double, y: Double, z: Double, w: Double) {
    let length = (x * x + y * y + z * z + w * w).squareRoot()
    let scale = (w < 0 ? -1 : 1) / length
    self.x = x * scale
    self.y = y * scale
    self.z = z * scale
    self.w = w * scale
  }

  /// The quaternion nearest to a row-major 3×3 rotation that may be off by float rounding.
  ///
  /// It is the eigenvector to the largest eigenvalue of Bar-Itzhack's symmetric 4×4 matrix (2000): that
  /// of the rotation nearest to `m`, whichever elements are off.
  public init(rotation m: [Double]) {
    self.init(largestComponentOf: m)
    // The other eigenvalues of the matrix plus one are near 0: each step of the power method divides
    // the error by the inverse of the rounding, 1e-7 for floats. Two steps reach double precision.
    for _ in 0..<2 {
      self.init(
        x: (1 + m[0] - m[4] - m[8]) * x + (m[1] + m[3]) * y + (m[2] + m[6]) * z
          + (m[7] - m[5]) * w,
        y: (m[1] + m[3]) * x + (1 - m[0] + m[4] - m[8]) * y + (m[5] + m[7]) * z
          + (m[2] - m[6]) * w,
        z: (m[2] + m[6]) * x + (m[5] + m[7]) * y + (1 - m[0] - m[4] + m[8]) * z
          + (m[3] - m[1]) * w,
        w: (m[7] - m[5]) * x + (m[2] - m[6]) * y + (m[3] - m[1]) * z
          + (1 + m[0] + m[4] + m[8]) * w)
    }
  }

  /// Computes the largest of the four components from its own diagonal sum, which avoids division
  /// by a small number. Exact for an exact rotation.
  private init(largestComponentOf m: [Double]) {
    let trace = m[0] + m[4] + m[8]
    if trace >= max(m[0], m[4], m[8]) {
      self.init(x: m[7] - m[5], y: m[2] - m[6], z: m[3] - m[1], w: 1 + trace)
    } else if m[0] >= m[4], m[0] >= m[8] {
      self.init(x: 1 + m[0] - m[4] - m[8], y: m[1] + m[3], z: m[2] + m[6], w: m[7] - m[5])
    } else if m[4] >= m[8] {
      self.init(x: m[1] + m[3], y: 1 - m[0] + m[4] - m[8], z: m[5] + m[7], w: m[2] - m[6])
    } else {
      self.init(x: m[2] + m[6], y: m[5] + m[7], z: 1 - m[0] - m[4] + m[8], w: m[3] - m[1])
    }
  }

  /// Row-major 3×3.
  public var rotation: [Double] {
    [
      1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
      2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
      2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y),
    ]
  }

  /// This rotation followed by another one about the axes that it has turned.
  public func then(_ q: Quaternion) -> Quaternion {
    Quaternion(
      x: w * q.x + x * q.w + y * q.z - z * q.y, y: w * q.y - x * q.z + y * q.w + z * q.x,
      z: w * q.z + x * q.y - y * q.x + z * q.w, w: w * q.w - x * q.x - y * q.y - z * q.z)
  }

  /// The rotation back. A component of 0 stays 0 and does not become -0.
  public var inverse: Quaternion { Quaternion(x: 0 - x, y: 0 - y, z: 0 - z, w: w) }
}

/// Position and orientation of a camera: camera to world, OpenCV camera axes (x right, y down, z
/// forward), the world frame of the app, meters.
public struct Pose: Hashable, Sendable {
  /// Position in the world frame: x, y, z in meters.
  public var position: [Double]
  public var orientation: Quaternion

  public init(position: [Double], orientation: Quaternion) {
    self.position = position
    self.orientation = orientation
  }

  /// From a column-major 4×4 in ARKit camera axes (x right, y up, z toward the viewer), as the iOS
  /// and ARCore loggers write it: the second and third axis are negated, the position stays.
  ///
  /// Divides by element 15 unless it is exactly 1. `nil` unless there are sixteen finite numbers
  /// with a usable element 15, zeros at 3, 7 and 11, and a rotation.
  public init?(arkitColumnMajor m: [Double]) {
    guard m.count == 16, m.allSatisfy(\.isFinite), m[15] != 0 else { return nil }
    let t = m[15] == 1 ? m : m.map { $0 / m[15] }
    // Elements other than 0 here mean a row-major matrix or one that is no rigid motion.
    guard [t[3], t[7], t[11]].allSatisfy({ abs($0) < 1e-3 }) else { return nil }
    self.init(
      rotation: [t[0], -t[4], -t[8], t[1], -t[5], -t[9], t[2], -t[6], -t[10]],
      position: [t[12], t[13], t[14]])
  }

  /// From a row-major 3×3 rotation and a position. `nil` when a number is not finite, or when the
  /// rotation is degenerate or mirrored: a quaternion has no mirror image.
  public init?(rotation: [Double], position: [Double]) {
    guard rotation.count == 9, position.count == 3 else { return nil }
    guard rotation.allSatisfy(\.isFinite), position.allSatisfy(\.isFinite) else { return nil }
    guard RigidTransform(rotation: rotation, translation: position).determinant > 0 else {
      return nil
    }
    let orientation = Quaternion(rotation: rotation)
    guard orientation.w.isFinite else { return nil }
    self.init(position: position, orientation: orientation)
  }

  /// The pose of the camera after its picture is turned clockwise by `quarterTurns` × 90°: same
  /// position and optical axis, x and y rotated about it. Goes with
  /// `PinholeCamera.turnedClockwise`.
  public func turnedClockwise(quarterTurns: Int) -> Pose {
    let half = 0.5.squareRoot()
    // Half the angle by which the axes rotate about z.
    let (s, c): (Double, Double)
    switch quarterTurns.withinFullTurn {
    case 1: (s, c) = (-half, half)
    case 2: (s, c) = (-1, 0)
    case 3: (s, c) = (half, half)
    default: return self
    }
    let q = orientation
    return Pose(
      position: position,
      orientation: Quaternion(
        x: q.x * c + q.y * s, y: q.y * c - q.x * s, z: q.z * c + q.w * s, w: q.w * c - q.z * s))
  }

  /// Camera coordinates to world coordinates.
  public var worldFromCamera: RigidTransform {
    RigidTransform(rotation: orientation.rotation, translation: position)
  }
}
