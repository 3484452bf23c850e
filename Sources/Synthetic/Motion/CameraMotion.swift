/// The motion of a hand-held scanner: slow sweeps with a tremor, within the free space in the
/// middle of the scene.
///
/// Heading, pitch, roll and the three coordinates are sums of sinusoids, so that inertial sensors
/// get exact derivatives and recordings may be of any length.
struct CameraMotion {
  private let position: [HarmonicSum]
  /// Rotation about the vertical, counter-clockwise seen from above, radians.
  private let heading: HarmonicSum
  /// Positive upward, radians.
  private let pitch: HarmonicSum
  /// Counter-clockwise as seen by the camera, radians.
  private let roll: HarmonicSum

  /// `center` is the middle of the free space, `reach` the largest distance from it on each axis.
  init(seed: UInt64, center: Vector3, reach: Vector3) {
    var random = SeededRandom(seed: seed, "camera motion")
    // Tremor of a hand: 4-9 Hz, some tenths of a millimeter and of a milliradian.
    func swing(
      mean: Double, _ amplitude: Double, periods: ClosedRange<Double>, tremor: Double
    ) -> HarmonicSum {
      var terms: [HarmonicSum.Term] = []
      for (share, faster) in [(0.7, 1.0), (0.3, 2.3)] {
        terms.append(
          HarmonicSum.Term(
            amplitude: amplitude * share,
            rate: 2 * Trigonometry.pi * faster / random.uniform(periods),
            phase: random.uniform(0...(2 * Trigonometry.pi))))
      }
      terms.append(
        HarmonicSum.Term(
          amplitude: tremor, rate: 2 * Trigonometry.pi * random.uniform(4...9),
          phase: random.uniform(0...(2 * Trigonometry.pi))))
      return HarmonicSum(mean: mean, terms: terms)
    }
    position = (0..<3).map {
      swing(mean: center[$0], reach[$0], periods: 7...12, tremor: 0.0003)
    }
    heading = swing(
      mean: random.uniform(0...(2 * Trigonometry.pi)), 2.4, periods: 36...44, tremor: 0.0006)
    pitch = swing(mean: -0.22, 0.20, periods: 8...13, tremor: 0.0006)
    roll = swing(mean: 0, 0.06, periods: 6...9, tremor: 0.0004)
  }

  func state(at time: Double) -> MotionState {
    let headingTurn = Matrix3.aboutY(heading.value(at: time))
    let pitchAngle = pitch.value(at: time)
    let rollTurn = Matrix3.aboutZ(roll.value(at: time))
    // A camera at rest looks along −z of the world, with its y axis down.
    let cameraAtRest = Matrix3(
      x: Vector3(1, 0, 0), y: Vector3(0, -1, 0), z: Vector3(0, 0, -1))
    let upright = headingTurn * Matrix3.aboutX(pitchAngle) * rollTurn

    let (sinePitch, cosinePitch) = Trigonometry.sineAndCosine(pitchAngle)
    let beforeRoll =
      Vector3(0, cosinePitch, -sinePitch) * heading.firstDerivative(at: time)
      + Vector3(pitch.firstDerivative(at: time), 0, 0)
    let turning =
      rollTurn.transposed * beforeRoll + Vector3(0, 0, roll.firstDerivative(at: time))

    return MotionState(
      time: time,
      position: vector { $0.value(at: time) },
      velocity: vector { $0.firstDerivative(at: time) },
      acceleration: vector { $0.secondDerivative(at: time) },
      worldFromCamera: upright * cameraAtRest,
      angularVelocity: cameraAtRest * turning)
  }

  private func vector(_ part: (HarmonicSum) -> Double) -> Vector3 {
    Vector3(part(position[0]), part(position[1]), part(position[2]))
  }
}

/// A sum of sinusoids about a mean, with exact first and second derivatives.
struct HarmonicSum {
  struct Term {
    var amplitude: Double
    /// Radians per second.
    var rate: Double
    var phase: Double
  }

  var mean: Double
  var terms: [Term]

  func value(at time: Double) -> Double {
    terms.reduce(mean) { $0 + $1.amplitude * Trigonometry.sine($1.rate * time + $1.phase) }
  }

  func firstDerivative(at time: Double) -> Double {
    terms.reduce(0) {
      $0 + $1.amplitude * $1.rate * Trigonometry.cosine($1.rate * time + $1.phase)
    }
  }

  func secondDerivative(at time: Double) -> Double {
    terms.reduce(0) {
      $0 - $1.amplitude * $1.rate * $1.rate * Trigonometry.sine($1.rate * time + $1.phase)
    }
  }
}

/// Position and motion of the color camera at one time.
///
/// World: y up, meters. Camera axes: x right, y down, z forward.
struct MotionState {
  /// Seconds since the first frame.
  var time: Double
  var position: Vector3
  /// In world axes, m/s and m/s².
  var velocity: Vector3
  var acceleration: Vector3
  var worldFromCamera: Matrix3
  /// In camera axes, rad/s.
  var angularVelocity: Vector3

  /// The viewpoint of a camera that is mounted on this one.
  func viewpoint(_ mount: CameraMount = .color) -> Viewpoint {
    Viewpoint(
      position: position + worldFromCamera * mount.position,
      worldFromCamera: worldFromCamera * mount.colorFromCamera)
  }
}

/// Position and orientation of a camera: `world = worldFromCamera · p + position`.
struct Viewpoint {
  var position: Vector3
  var worldFromCamera: Matrix3
}

/// Mounting of a camera on the device relative to the color camera, meters.
struct CameraMount: Hashable {
  var colorFromCamera: Matrix3
  var position: Vector3

  static let color = CameraMount(colorFromCamera: .identity, position: .zero)
}
