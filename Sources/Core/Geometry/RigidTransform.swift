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
