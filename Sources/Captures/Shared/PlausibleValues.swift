import Core
import Glibc

/// What the values of a capture can be, for all families. What lies outside is told (`implausible-unit`) and
/// never corrected: no value of a table changes by it.
///
/// Limits are wide: a unit that is wrong is wrong by a factor of 9.81, 57.3 or 1000. A rest of doubt
/// is no alarm.
enum PlausibleValues {
  /// Median magnitude of an acceleration that includes gravity, m/s². Falls and shakes are short;
  /// values in g have a median of 1, g taken for m/s² and multiplied again one of 96.
  static let accelerationWithGravity = 3.5...35.0
  /// Greatest median magnitude of any other acceleration, m/s².
  static let mostAcceleration = 35.0
  /// Greatest median magnitude of an angular velocity, rad/s: no hand turns a phone by 570 degrees per second for half
  /// of a recording. Values of a walk in degrees have a median of 10 to 40.
  static let mostRotation = 10.0
  /// Greatest median magnitude of three angles of at most one turn each, rad.
  static let mostAttitude = 10.9
  /// No hand keeps the magnitude of a rotation to one percent for so long; gravity keeps it always.
  static let longestConstantRotationNanoseconds: Int64 = 10_000_000_000
  /// Least mean magnitude of such a column, rad/s: gravity is 1 in g, 9.8 in m/s². At rest the constant
  /// bias of a gyroscope is left, which is far below.
  static let leastConstantRotation = 0.3
  /// Fewer samples have no median worth a word.
  static let fewestSamples = 5
  /// Median depth in millimeters: no sensor of a phone measures below, none above.
  static let depthMillimeters = 50...100_000
  /// Focal length in widths of the picture: 136 to 6 degrees of view.
  static let focalLengthInWidths = 0.2...10.0
  /// One focal length by the other, and where the principal point lies in sides of the picture: pictures that were
  /// stretched have no square pixels, pieces of pictures a principal point at their edge, and hardly any both.
  static let focalLengthRatio = 0.6667...1.5
  static let middleOfPicture = 0.25...0.75
  /// Where the principal point lies in sides of the picture, in one of the two at least.
  static let awayFromCorners = 0.1...0.9
  /// A step between neighboring positions, meters.
  static let longestStep = 1000.0
  /// Greatest median speed of poses, m/s. Of a walk in millimeters it is about 1,000.
  static let mostMedianSpeed = 50.0
  /// Greatest speed between two fixes that are further apart than `longestStep`, m/s: airliners are
  /// slower.
  static let mostGroundSpeed = 340.0

  /// What is odd about one sensor; `nil` for values that can be. `samples` are those of the sensor, in
  /// time order. Cost: two passes; a sort only of odd ones.
  static func doubt(
    _ sensor: String, _ samples: some Collection<IMUSample>, _ imu: IMUStream
  ) -> String? {
    let limits: ClosedRange<Double>
    switch sensor {
    case "accelerometer", "gravity": limits = accelerationWithGravity
    case "userAcceleration": limits = 0...mostAcceleration
    case "gyroscope", "rotationRate": limits = 0...mostRotation
    case "attitude": limits = 0...mostAttitude
    default: return nil
    }
    guard samples.count >= fewestSamples else { return nil }
    let outside = (
      below: samples.count { $0.magnitude < limits.lowerBound },
      above: samples.count { $0.magnitude > limits.upperBound }
    )
    if 2 * outside.below > samples.count || 2 * outside.above > samples.count {
      let median = Median.of(samples.map(\.magnitude))
      return words(sensor, median: median, of: imu)
    }
    guard sensor == "gyroscope" || sensor == "rotationRate",
      let first = samples.first?.timestamp, let last = samples.map(\.timestamp).last,
      last - first > longestConstantRotationNanoseconds
    else { return nil }
    let mean = samples.reduce(0) { $0 + $1.magnitude } / Double(samples.count)
    let near = samples.count { abs($0.magnitude - mean) <= mean / 100 }
    guard mean >= leastConstantRotation, near >= samples.count - samples.count / 100 else {
      return nil
    }
    return
      "the magnitude of \(sensor) stays \(text(mean)) for \(text(Double(last - first) / 1e9)) s: no rotation, but "
      + "what a column of gravity holds"
  }

  /// The median of a sensor's values in another unit.
  private static func words(_ sensor: String, median: Double, of imu: IMUStream) -> String {
    var stated = "rad/s"
    var other: String? = "degrees per second"
    var value = median
    if sensor == "attitude" {
      (stated, other) = ("radians", "degrees")
    } else if IMUStream.isAcceleration(sensor) {
      let unit = imu.recordedAcceleration
      let recorded = median / unit.inMetersPerSecondSquared
      let likely = AccelerationUnit.allCases.first {
        $0 != unit && accelerationWithGravity.contains(recorded * $0.inMetersPerSecondSquared)
      }
      (stated, other, value) = (unit.words, likely?.words, recorded)
    }
    return
      "the median magnitude of \(sensor) is \(text(value)), which cannot be \(stated), as its column says"
      + (other.map { "; it may be \($0)" } ?? "")
  }

  /// A number with three significant digits or two decimals, for messages.
  static func text(_ value: Double) -> String {
    let scale = abs(value) < 1 ? 1000.0 : 100.0
    let rounded = (value * scale).rounded() / scale
    return rounded.isFinite && abs(rounded) < 1e15 ? "\(rounded)" : "\(value)"
  }
}

extension Capture {
  /// Warns of values that cannot be what the capture says they are, of times that lost digits and of
  /// clocks that do not meet. Called once, when a capture is opened; depth is looked at where it is
  /// decoded (`OutcomeTally`). Cost: a few passes over samples and rows.
  mutating func tellWhatCannotBe() {
    if let imu = imu.value {
      tellMotion(imu)
      tellClocks(imu)
    }
    tellFocalLengths()
    tellPrincipalPoints()
    tellPoses()
    tellTrack()
    tellConfidence()
  }

  /// Confidence of another size than depth says nothing about a pixel of depth.
  private mutating func tellConfidence() {
    guard let confidence = confidence.value?.description, let depth = depth.value?.description,
      let width = confidence.width, let height = confidence.height, let depthWidth = depth.width,
      let depthHeight = depth.height, (width, height) != (depthWidth, depthHeight)
    else { return }
    warnings.append(
      CaptureWarning(
        .sizeMismatch, "confidence",
        "confidence has \(width)x\(height), depth has \(depthWidth)x\(depthHeight): the pictures are kept, and a "
          + "minimum confidence of depth cannot be applied"))
  }

  private mutating func tellMotion(_ imu: IMUStream) {
    var samples = [[IMUSample]](repeating: [], count: imu.sensors.count)
    for sample in imu.samples where samples.indices.contains(sample.sensor) {
      samples[sample.sensor].append(sample)
    }
    for (sensor, samples) in zip(imu.sensors, samples) {
      if let doubt = PlausibleValues.doubt(sensor, samples, imu) {
        warnings.append(CaptureWarning(.implausibleUnit, sensor, count: samples.count, doubt))
      }
      if let truncated = imu.truncatedTimes[sensor] {
        warnings.append(
          CaptureWarning(
            .timestampsTruncated, sensor, count: truncated.count, truncated.words(of: sensor)))
      }
    }
  }

  /// Frames and samples that are far from each other have different clocks.
  private mutating func tellClocks(_ imu: IMUStream) {
    let times = frames.compactMap(\.timestamp)
    guard framesShareIMUClock, let first = times.min(), let last = times.max(),
      let firstSample = imu.samples.first?.timestamp, let lastSample = imu.samples.last?.timestamp,
      Self.areApart(first...last, firstSample...lastSample)
    else { return }
    let factor = Self.unitFactor(first, firstSample)
    let message =
      "the frames lie at \(Self.span(first, last)), the samples at \(Self.span(firstSample, lastSample)): the two "
      + "do not meet, which means "
      + (factor.map {
        "another unit: the numbers differ by a factor of \($0), and one of the two is stated wrongly. "
          + "No frame has samples"
      }
        ?? "different clocks. No frame has samples; imu.timeOffset brings them together, if the offset is known")
    let known = warnings.firstIndex { $0.code == .imuOutsideFrames && $0.subject == "imu" }
    if let known {
      warnings[known].message = message
    } else {
      warnings.append(CaptureWarning(.imuOutsideFrames, "imu", count: times.count, message))
    }
  }

  /// The factor between units of time by which two times differ, to a thousandth; `nil`: they differ by none.
  private static func unitFactor(_ one: Timestamp, _ other: Timestamp) -> Int? {
    let (low, high) = (
      min(one.nanoseconds, other.nanoseconds), max(one.nanoseconds, other.nanoseconds)
    )
    guard low > 0 else { return nil }
    let ratio = Double(high) / Double(low)
    return [1000, 1_000_000, 1_000_000_000].first { abs(ratio / Double($0) - 1) < 1e-3 }
  }

  /// `58442.390 to 58443.892 s`, with the date of times that count from 1970.
  static func span(_ first: Timestamp, _ last: Timestamp) -> String {
    let leastUnix: Int64 = 1_000_000_000_000_000_000
    return "\(milliseconds(first)) to \(milliseconds(last)) s"
      + (first.nanoseconds >= leastUnix
        ? " (\(UTCText.text(seconds: first.nanoseconds / 1_000_000_000)))" : "")
  }

  private static func milliseconds(_ time: Timestamp) -> String {
    let thousandths = time.nanoseconds.magnitude / 1_000_000
    let rest = String(thousandths % 1000)
    return (time.nanoseconds < 0 ? "-" : "") + "\(thousandths / 1000)."
      + String(repeating: "0", count: 3 - rest.count) + rest
  }

  private mutating func tellPrincipalPoints() {
    let size = color.value?.description
    // Where the principal point lies, in sides of the picture.
    let places = (intrinsics.value ?? []).compactMap {
      row -> (row: IntrinsicsRow, x: Double, y: Double)? in
      guard let width = row.width ?? size?.width, let height = row.height ?? size?.height,
        width > 0, height > 0
      else { return nil }
      return (row, row.cx / Double(width), row.cy / Double(height))
    }
    func tell(_ odd: [IntrinsicsRow], _ what: String) {
      guard let first = odd.first else { return }
      warnings.append(
        CaptureWarning(
          .implausibleUnit, "principalPoint", count: odd.count,
          "frame \(first.frame) has its principal point at \(PlausibleValues.text(first.cx)), "
            + "\(PlausibleValues.text(first.cy)), \(what)"))
    }
    let outside = places.filter { place in
      !(place.row.cx >= -1 && place.row.cy >= -1 && place.x <= 1 && place.y <= 1)
    }
    tell(outside.map(\.row), "outside of its picture")
    if !outside.isEmpty { return }
    // At the first corner are those of matrices written the other way around, at the last those of pictures of twice
    // the sides. A turn takes a corner to another one.
    let inner = PlausibleValues.awayFromCorners
    let cornered = places.filter { !inner.contains($0.x) && !inner.contains($0.y) }
    tell(
      cornered.map(\.row),
      "near a corner: the numbers may be those of larger pictures, or of a matrix written the other way around"
    )
    if !cornered.isEmpty { return }
    let middle = PlausibleValues.middleOfPicture
    let exchanged = places.filter { place in
      let ratio = place.row.fx / place.row.fy
      return !PlausibleValues.focalLengthRatio.contains(ratio)
        && !(middle.contains(place.x) && middle.contains(place.y))
    }
    tell(
      exchanged.map(\.row),
      "far from the middle, and focal lengths that differ by more than half: numbers may be exchanged"
    )
  }

  private mutating func tellFocalLengths() {
    let limits = PlausibleValues.focalLengthInWidths
    func isOdd(_ fx: Double, _ fy: Double, _ width: Int?) -> Bool {
      guard let width, width > 0 else { return false }
      return ![fx, fy].allSatisfy { limits.contains($0 / Double(width)) }
    }
    let width = color.value?.description.width
    let odd = (intrinsics.value ?? []).filter { isOdd($0.fx, $0.fy, $0.width ?? width) }
    if let first = odd.first {
      warnings.append(
        CaptureWarning(
          .implausibleUnit, "intrinsics", count: odd.count,
          "frame \(first.frame) has focal lengths of \(PlausibleValues.text(first.fx)) and "
            + "\(PlausibleValues.text(first.fy)), which cannot be pixels of a picture that is "
            + "\(first.width ?? width ?? 0) wide"))
    }
    // Intrinsics of registered depth follow from those of color.
    if alignment?.registered == false, let camera = alignment?.depthIntrinsics,
      isOdd(camera.fx, camera.fy, camera.width)
    {
      warnings.append(
        CaptureWarning(
          .implausibleUnit, "depthIntrinsics",
          "the depth camera has focal lengths of \(PlausibleValues.text(camera.fx)) and "
            + "\(PlausibleValues.text(camera.fy)), which cannot be pixels of a picture that is \(camera.width) wide"
        ))
    }
  }

  private mutating func tellPoses() {
    guard let rows = poses.value?.rows, rows.count > 1 else { return }
    var speeds: [Double] = []
    var jumps = 0
    for (before, after) in zip(rows, rows.dropFirst()) {
      let squares = zip(before.pose.position, after.pose.position).map { ($1 - $0) * ($1 - $0) }
      let distance = squares.reduce(0, +).squareRoot()
      if distance >= PlausibleValues.longestStep { jumps += 1 }
      if frames.indices.contains(before.frame), frames.indices.contains(after.frame),
        let from = frames[before.frame].timestamp, let to = frames[after.frame].timestamp, from < to
      {
        speeds.append(distance / (Double(to - from) / 1e9))
      }
    }
    let median = Median.of(speeds)
    if speeds.count >= PlausibleValues.fewestSamples, median > PlausibleValues.mostMedianSpeed {
      warnings.append(
        CaptureWarning(
          .implausibleUnit, "poses", count: rows.count,
          "the camera moves at \(PlausibleValues.text(median)) m/s in half of all steps, which cannot be meters; "
            + "it may be millimeters, or the times have another unit"))
    } else if jumps > 0 {
      warnings.append(
        CaptureWarning(
          .implausibleUnit, "poses", count: jumps,
          "steps of a kilometer and more between neighboring poses"))
    }
  }

  private mutating func tellTrack() {
    let positions = (geo.value?.track.positions ?? []).sorted { $0.timestamp < $1.timestamp }
    let jumps = zip(positions, positions.dropFirst()).count { from, to in
      let meters = from.meters(to: to)
      let seconds = Double(to.timestamp - from.timestamp) / 1e9
      return meters >= PlausibleValues.longestStep
        && meters > seconds * PlausibleValues.mostGroundSpeed
    }
    guard jumps > 0 else { return }
    warnings.append(
      CaptureWarning(
        .implausibleUnit, "geo", count: jumps,
        "steps of a kilometer and more between neighboring fixes, faster than an airliner"))
  }
}

extension IMUSample {
  fileprivate var magnitude: Double { (x * x + y * y + z * z).squareRoot() }
}

extension GeoPosition {
  /// Meters along the surface of a sphere, for distances of some kilometers.
  fileprivate func meters(to other: GeoPosition) -> Double {
    let metersPerDegree = 111_195.0
    let turn = abs(other.longitude - longitude).truncatingRemainder(dividingBy: 360)
    let east = min(turn, 360 - turn) * cos((latitude + other.latitude) / 2 * .pi / 180)
    let north = other.latitude - latitude
    return (east * east + north * north).squareRoot() * metersPerDegree
  }
}
