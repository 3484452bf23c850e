import Core

/// The readings of a phone's motion sensors at one time, in device axes (x right, y up in portrait,
/// z out of the screen) with CoreMotion's signs.
struct InertialSample {
  /// rad/s, bias removed.
  var rotationRate: Vector3
  /// rad/s, with bias.
  var gyroscope: Vector3
  /// g: direction of gravity.
  var gravity: Vector3
  /// g: the negative acceleration of the device.
  var userAcceleration: Vector3
  /// µT.
  var magneticField: Vector3
  /// Roll, pitch, yaw in radians.
  var attitude: Vector3

  /// g: sum of gravity and user acceleration, the negative specific force.
  var acceleration: Vector3 { gravity + userAcceleration }
}

/// Motion sensors that move with the color camera.
struct InertialSensors {
  static let standardGravity = 9.80665
  /// Earth's magnetic field in the scene; north is −z.
  private static let earthField = Vector3(3, -42, -21)
  /// Device axes from those of the rear camera (x right, y down, z forward, landscape).
  static let deviceFromCamera = Matrix3(
    x: Vector3(0, -1, 0), y: Vector3(-1, 0, 0), z: Vector3(0, 0, -1))

  /// One clockwise quarter turn of the picture: from the turned camera to the camera before.
  private static let storedFromTurned = Matrix3(
    x: Vector3(0, -1, 0), y: Vector3(1, 0, 0), z: Vector3(0, 0, 1))

  private let motion: CameraMotion
  /// For the moving camera, whose picture is turned.
  private let deviceFromCamera: Matrix3
  private let noise: Double
  private let offsetSeconds: Double
  private let gyroscopeBias: Vector3
  private var random: SeededRandom

  /// `noise` 1 is that of a phone's sensors: 0.003 rad/s, 0.004 g, 0.4 µT. The pictures of the
  /// moving camera are the sensor's after this many clockwise quarter turns. `offsetSeconds` is how
  /// far the clock of the sensors is ahead: time of a sample = time of a picture + offset.
  init(
    motion: CameraMotion, clockwiseQuarterTurns: Int = 0, noise: Double, offsetSeconds: Double,
    seed: UInt64
  ) {
    self.motion = motion
    self.offsetSeconds = offsetSeconds
    deviceFromCamera = (0..<clockwiseQuarterTurns).reduce(Self.deviceFromCamera) { matrix, _ in
      matrix * Self.storedFromTurned
    }
    self.noise = noise
    random = SeededRandom(seed: seed, "inertial sensors")
    gyroscopeBias = Vector3(
      random.gaussian() * 0.004, random.gaussian() * 0.004, random.gaussian() * 0.004)
  }

  /// The next sample; times, those of the sensors' clock, must be ascending.
  mutating func sample(at time: Double) -> InertialSample {
    let state = motion.state(at: time - offsetSeconds)
    let deviceFromWorld = deviceFromCamera * state.worldFromCamera.transposed
    let turning = deviceFromCamera * state.angularVelocity
    let rate = turning + jitter(0.003)
    return InertialSample(
      rotationRate: rate,
      gyroscope: rate + gyroscopeBias,
      gravity: deviceFromWorld * Vector3(0, -1, 0),
      userAcceleration: deviceFromWorld * state.acceleration * (-1 / Self.standardGravity)
        + jitter(0.004),
      magneticField: deviceFromWorld * Self.earthField + jitter(0.4),
      attitude: Self.attitude(worldFromDevice: deviceFromWorld.transposed))
  }

  private mutating func jitter(_ deviation: Double) -> Vector3 {
    Vector3(random.gaussian(), random.gaussian(), random.gaussian()) * (deviation * noise)
  }

  /// Roll, pitch and yaw of a rotation `Rz(yaw)·Rx(pitch)·Ry(roll)` in a frame whose z axis points
  /// up.
  static func attitude(worldFromDevice: Matrix3) -> Vector3 {
    // The scene's y axis is the reference frame's z axis; the x axis is the same.
    let turn = Matrix3.zUpFromYUp * worldFromDevice
    return Vector3(
      Trigonometry.arcTangent(y: -turn.x.z, x: turn.z.z),
      Trigonometry.arcSine(turn.y.z),
      Trigonometry.arcTangent(y: -turn.y.x, x: turn.y.y))
  }
}

/// Sample times of a sensor: a constant rate with the jitter of a busy device, strictly ascending.
struct SampleClock {
  /// Time of sample 0 without jitter.
  let startNanoseconds: Int64
  let periodNanoseconds: Double
  /// Largest deviation to either side, less than half a period.
  let jitterNanoseconds: Double
  private let key: UInt64

  init(
    startNanoseconds: Int64, rate: Double, jitterSeconds: Double, seed: UInt64, _ purpose: String
  ) {
    self.startNanoseconds = startNanoseconds
    periodNanoseconds = 1e9 / rate
    jitterNanoseconds = min(jitterSeconds * 1e9, 0.45 * periodNanoseconds)
    var random = SeededRandom(seed: seed, "clock of \(purpose)")
    key = random.next()
  }

  /// A camera's frames on a device that was started some hours before.
  init(rate: Double, jitterSeconds: Double, seed: UInt64) {
    var random = SeededRandom(seed: seed, "uptime")
    self.init(
      startNanoseconds: Int64(random.uniform(20_000...300_000) * 1e9), rate: rate,
      jitterSeconds: jitterSeconds, seed: seed, "frames")
  }

  /// The times of all samples up to a time.
  func times(through end: Int64) -> [Int64] {
    Array((0...).lazy.map(nanoseconds).prefix { $0 <= end })
  }

  /// The time of a sample. Clocks that count microseconds have three zeros as their last digits.
  func nanoseconds(of index: Int) -> Int64 {
    var random = SeededRandom(key: key, frame: index, row: 0)
    let jitter = (random.unit() * 2 - 1) * jitterNanoseconds
    let time = (Double(index) * periodNanoseconds + jitter).rounded(.toNearestOrAwayFromZero)
    return startNanoseconds + Int64(time)
  }
}

/// The motion sensors in the order of the rows of one time.
enum MotionSensor: Int {
  case accelerometer
  case gyroscope
  case magnetometer
  case userAcceleration
  case rotationRate
  case gravity
  case attitude
}

/// One row of the table of motion that a reader writes: m/s², rad/s, µT.
struct MotionRow {
  /// Nanoseconds.
  let time: Int64
  let sensor: MotionSensor
  let value: Vector3

  var json: JSONRow { [time, "\(sensor)", value.x, value.y, value.z] }
}

extension InertialSample {
  /// The rows of a sample of an app that stores what CoreMotion gives.
  func rows(_ time: Int64) -> [MotionRow] {
    let g = InertialSensors.standardGravity
    let values: [(MotionSensor, Vector3)] = [
      (.magnetometer, magneticField), (.userAcceleration, userAcceleration * g),
      (.rotationRate, rotationRate), (.gravity, gravity * g), (.attitude, attitude),
    ]
    return values.map { MotionRow(time: time, sensor: $0, value: $1) }
  }
}

extension [MotionRow] {
  func sorted() -> [MotionRow] {
    sorted { ($0.time, $0.sensor.rawValue) < ($1.time, $1.sensor.rawValue) }
  }

  func times(of sensor: MotionSensor) -> [Int64] { filter { $0.sensor == sensor }.map(\.time) }

  /// Number of rows by sensor.
  var counts: [String: Int] { Dictionary(grouping: self) { "\($0.sensor)" }.mapValues(\.count) }

  /// The part of `imu.csv` in the truth: counts by sensor, the first and the last rows.
  var json: JSONObject {
    [
      "counts": counts, "rows": count, "first": prefix(5).map(\.json),
      "last": suffix(5).map(\.json),
    ]
  }
}

extension [Int64] {
  /// Number of these sorted times that are at most 50 ms from a frame's.
  func countNear(_ frame: Int64) -> Int {
    partitioningIndex { $0 >= frame + 50_000_001 } - partitioningIndex { $0 >= frame - 50_000_000 }
  }
}

/// Samples of the motion sensors with their times, nanoseconds.
typealias MotionSamples = [(time: Int64, sample: InertialSample)]

extension Synthesis where Family.Clock == SampleClock {
  /// What the sensors measure at ascending times.
  func motionSamples(_ times: [Int64], clockwiseQuarterTurns: Int = 0) -> MotionSamples {
    var sensors = inertialSensors(clockwiseQuarterTurns: clockwiseQuarterTurns)
    return times.map { ($0, sensors.sample(at: worldSeconds($0))) }
  }
}
