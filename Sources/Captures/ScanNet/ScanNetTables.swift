import Core
import SystemPackage

/// The two cameras in the metadata: as the app writes them nominal and without lens distortion, after a
/// laboratory has calibrated the device with the coefficients of their lenses.
extension ScanNetMetadata {
  /// A rigid transform from sixteen row-major numbers; `nil` when they are not one. The app prints
  /// six decimals, so that columns are orthonormal only to about 1e-6.
  func transform(_ key: String) -> RigidTransform? {
    guard let transform = statedTransform(key), transform.isRigid() else { return nil }
    return transform
  }

  /// The transform in the metadata, even if it is not a rotation: stages that use it report that.
  private func statedTransform(_ key: String) -> RigidTransform? {
    guard let matrix = matrix(key), RigidTransform.hasUsualLastRow(matrix) else { return nil }
    return RigidTransform(rowMajor: matrix)
  }

  /// What is known about the two cameras.
  func calibration(depthSize: PictureSize, color: PinholeCamera?) -> DepthCalibration {
    var calibration = DepthCalibration(registered: false)
    if let depthFromColor = transform(Self.extrinsicsKey) {
      calibration.registered = depthFromColor.isIdentity
      calibration.colorFromDepth =
        depthFromColor.isIdentity ? .identity : depthFromColor.inverse
    } else if let colorFromDepth = transform(Self.inverseExtrinsicsKey) {
      calibration.registered = colorFromDepth.isIdentity
      calibration.colorFromDepth = colorFromDepth
    } else {
      calibration.colorFromDepth =
        statedTransform(Self.extrinsicsKey) ?? statedTransform(Self.inverseExtrinsicsKey)
    }
    calibration.depthIntrinsics = camera("depth", depthSize)
    // Without a size there is no camera for alignment.
    calibration.colorIntrinsics = color.flatMap { $0.width > 0 && $0.height > 0 ? $0 : nil }
    calibration.depthDistortion = lens("depth")
    calibration.colorDistortion = lens("color")
    return calibration
  }

  /// k1 … k5 of a camera, which are k1, k2, p1, p2, k3; absent ones are 0. None if one cannot be used: the
  /// others alone are another lens.
  private func lens(_ camera: String) -> LensDistortion {
    let keys = Self.lensKeys.filter { $0.hasSuffix(camera) }
    let coefficients = keys.map { text($0) == nil ? 0 : number($0) }
    return coefficients.contains(nil)
      ? .none : LensDistortion(openCVOrder: coefficients.compactMap(\.self))
  }

  /// The color camera for the existing pictures, else as stated; of size 0 if none is known; `nil`
  /// when the metadata lack a parameter or fit no picture.
  func colorCamera(_ fit: ColorFit) -> PinholeCamera? {
    guard fit.obstacle == nil, let stated = camera("color", PictureSize(width: 0, height: 0))
    else { return nil }
    return fit.camera(Intrinsics(stated)) ?? stated
  }

  private func camera(_ name: String, _ size: PictureSize) -> PinholeCamera? {
    guard let fx = focalLength("fx_\(name)"), let fy = focalLength("fy_\(name)"),
      let cx = number("mx_\(name)"), let cy = number("my_\(name)")
    else { return nil }
    return PinholeCamera(Intrinsics(fx: fx, fy: fy, cx: cx, cy: cy), size)
  }
}

/// The keys of the metadata file, and warnings about absent, unusable and unknown ones.
extension ScanNetMetadata {
  static let closingKeys = [
    "scanSavedAt", "numDepthFrames", "numColorFrames", "numIMUmeasurements",
  ]
  private static let sizeKeys = ["colorWidth", "colorHeight", "depthWidth", "depthHeight"]
  private static let focalLengthKeys = ["fx_color", "fy_color", "fx_depth", "fy_depth"]
  private static let centerKeys = ["mx_color", "my_color", "mx_depth", "my_depth"]
  static let extrinsicsKey = "colorToDepthExtrinsics"
  /// Used when `extrinsicsKey` is absent.
  private static let inverseExtrinsicsKey = "depthToColorExtrinsics"
  /// The coefficients of the lenses, which a laboratory adds, in the order k1, k2, p1, p2, k3.
  private static let lensKeys = ["color", "depth"].flatMap { name in
    (1...5).map { "k\($0)_\(name)" }
  }
  /// Keys that may be absent.
  private static let optionalKeys: Set<String> = [
    "deviceId", "deviceName", "sceneLabel", "sceneType", "userName", "appVersionId",
    "axisAlignment", inverseExtrinsicsKey,
  ]
  static let requiredKeys =
    sizeKeys + focalLengthKeys + centerKeys + [extrinsicsKey] + closingKeys

  /// Other spellings of keys, and the usual ones.
  private static let usualSpelling = [
    "color_width": "colorWidth", "color_height": "colorHeight", "depth_width": "depthWidth",
    "depth_height": "depthHeight",
  ]

  /// Warns of absent, unusable and unknown keys, each by its name.
  func check(file: String, into warnings: WarningCollector) {
    for key in Self.requiredKeys where !isUsable(key) {
      if key == Self.extrinsicsKey, values[key] == nil, isUsable(Self.inverseExtrinsicsKey) {
        continue
      }
      guard let value = values[key] else {
        let why = Self.closingKeys.contains(key) ? ": the scan was not closed" : ""
        warnings.add(.missingKey, key, "\(file) has no key \(key)\(why)")
        continue
      }
      warnings.add(Self.code(of: value), key, Self.unusable(key, value, in: file))
    }
    for key in Self.lensKeys {
      guard let value = text(key), number(key) == nil else { continue }
      let camera = key.hasSuffix("color") ? "color" : "depth"
      warnings.add(
        Self.code(of: value), key,
        Self.unusable(key, value, in: file)
          + ": the \(camera) camera is taken to have no lens distortion")
    }
    for (key, value) in values.sorted(by: { $0.key < $1.key })
    where !(Self.requiredKeys + Self.lensKeys).contains(key) && !Self.optionalKeys.contains(key) {
      warnings.add(.unknownKey, key, "\(file) has an unknown key: \(key) = \(value.prefix(80))")
    }
  }

  private static func code(of value: String) -> WarningCode {
    let numbers = value.split { $0 == " " || $0 == "\t" }.map { Double($0) }
    return numbers.contains { $0.map { !$0.isFinite } ?? false } ? .nonFiniteValue : .missingKey
  }

  private static func unusable(_ key: String, _ value: String, in file: String) -> String {
    "\(file): the value of \(key) cannot be used: \(value.prefix(80))"
  }

  private func isUsable(_ key: String) -> Bool {
    switch key {
    case "scanSavedAt": text(key) != nil
    case Self.extrinsicsKey, Self.inverseExtrinsicsKey: transform(key) != nil
    case _ where Self.sizeKeys.contains(key): pixels(key) != nil
    case _ where Self.focalLengthKeys.contains(key): focalLength(key) != nil
    case _ where Self.centerKeys.contains(key): number(key) != nil
    default: count(key) != nil
    }
  }
}

/// The `key = value` lines of a capture's `.txt`.
///
/// One pair per line, split at the first `=`; surrounding blanks, tabs and CR are removed. There
/// are no comments and no quotes.
struct ScanNetMetadata {
  /// Values by the usual spelling of the key; of repeated keys the last one.
  private(set) var values: [String: String] = [:]
  var isEmpty: Bool { values.isEmpty }

  /// Without any key: for a capture without `.txt`.
  init() {}

  /// From UTF-8, or from UTF-16 as some editors write it; damaged sequences become replacement
  /// characters.
  init(_ bytes: [UInt8]) {
    for line in TextBytes.utf8(bytes).split(separator: UInt8(ascii: "\n")) {
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let key = Self.trimmed(line[..<equals])
      guard !key.isEmpty else { continue }
      values[Self.usualSpelling[key] ?? key] = Self.trimmed(line[(equals + 1)...])
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    let start = bytes.drop(while: isBlank)
    let end = start.lastIndex { !isBlank($0) }
    return String(decoding: end.map { start[...$0] } ?? [], as: UTF8.self)
  }

  func text(_ key: String) -> String? { values[key] }

  /// A finite number.
  func number(_ key: String) -> Double? {
    guard let value = values[key].flatMap(Double.init), value.isFinite else { return nil }
    return value
  }

  /// An integer of 0 or more, which may be written with zero decimals.
  func count(_ key: String) -> Int? {
    guard let text = values[key] else { return nil }
    guard let count = Int(text) ?? Double(text).flatMap(Int.init(exactly:)) else { return nil }
    return count >= 0 ? count : nil
  }

  /// A picture size in pixels. `nil` above 8192, which no camera of this app has, so that memory is
  /// not allocated for damaged values.
  func pixels(_ key: String) -> Int? {
    guard let size = count(key), (1...8192).contains(size) else { return nil }
    return size
  }

  /// A focal length; must be above 0.
  func focalLength(_ key: String) -> Double? {
    guard let length = number(key), length > 0 else { return nil }
    return length
  }

  /// Sixteen finite numbers.
  func matrix(_ key: String) -> [Double]? {
    guard let text = values[key] else { return nil }
    let numbers = text.split { $0 == " " || $0 == "\t" }.map { Double($0) ?? .nan }
    guard numbers.count == 16, numbers.allSatisfy(\.isFinite) else { return nil }
    return numbers
  }
}

/// Reads the `.imu` file: records of sixteen float64, five sensors at one time.
struct ScanNetIMU {
  static let recordBytes = 128
  /// A longer step between neighboring records is a gap.
  static let gapNanoseconds: Int64 = 250_000_000

  /// One of the five vectors of a record.
  private struct Sensor {
    var name: String
    /// Byte offset of x in the record.
    var offset: Int
    /// Factor to the unit of the tables.
    var scale = 1.0
  }

  /// CoreMotion states these two accelerations in units of gravity.
  private static let standardGravity = AccelerationUnit.g.inMetersPerSecondSquared
  private static let sensors = [
    Sensor(name: "rotationRate", offset: 8),
    Sensor(name: "userAcceleration", offset: 32, scale: standardGravity),
    Sensor(name: "magnetometer", offset: 56),
    Sensor(name: "attitude", offset: 80),
    Sensor(name: "gravity", offset: 104, scale: standardGravity),
  ]

  /// Number of whole records in the file.
  let recordCount: Int
  let stream: IMUStream
  /// Times of the first and last accepted records.
  private let firstTimestamps, lastTimestamps: [Timestamp]

  /// Reads all records; `declared` is the number that the app declares. Cost: one pass and one
  /// sort.
  init(_ file: MappedFile, name: String, declared: Int?, into warnings: WarningCollector) {
    let head = file.withBytes(Self.headerBytes)
    let count = max(0, file.count - head) / Self.recordBytes
    recordCount = count
    let rest = file.count - head - count * Self.recordBytes
    if rest > 0 {
      warnings.add(
        .imuPartialRecord, "imu",
        "\(name), record \(count), byte \(head + count * Self.recordBytes): "
          + "the file ends after \(rest) bytes of a record")
    }
    // The declared number may be one too low.
    if let declared, abs(declared - count) > 1 {
      warnings.add(
        .frameCountMismatch, "imu", count: abs(declared - count),
        "\(name) holds \(count) records, but the metadata says \(declared)")
    }

    let (samples, times, nonFinite, noTime) = file.withBytes { bytes in
      Self.samples(bytes, head: head, count: count)
    }
    (firstTimestamps, lastTimestamps) = (Array(times.prefix(5)), Array(times.suffix(5)))
    warnings.add(
      .corruptRecord, "imu", count: noTime,
      "\(name): records whose time is zero or more than an hour away from all others")
    warnings.add(
      .nonFiniteValue, "imu", count: nonFinite, "\(name): records with values that are not finite")
    warnings.add(
      .timestampsUnordered, "imu", count: TimeSteps(times).backward, of: .size(times.count),
      "\(name): records earlier than the one before")
    var description = StreamDescription(
      file: name, encoding: head == 0 ? "scannet-imu-128" : "scannet-imu-128-head8",
      declaredFrames: declared)
    description.firstTimestamp = times.min()
    description.lastTimestamp = times.max()
    var (stream, duplicates) = IMUStream.sorting(
      samples, sensorNames: Self.sensors.map(\.name), description: description,
      convention: .coremotion)
    stream.recordedAcceleration = .g
    // Times that lost digits are spread; others are those of the records, also of unusable ones.
    let steps = TimeSteps(
      stream.truncatedTimes.isEmpty ? times.sorted() : stream.timestamps(ofSensor: 0))
    let gaps = steps.nanoseconds.count { $0 > Self.gapNanoseconds }
    warnings.add(.imuGap, "imu", count: gaps, "\(name): steps above 0.25 s")
    stream.description.rateHz = steps.rateHz
    stream.description.gaps = gaps
    stream.gapThresholdNanoseconds = stream.sensors.map { _ in Self.gapNanoseconds }
    // The five sensors of a record share its time: if all of them lose a sample, that is one
    // record.
    warnings.add(
      .timestampsDuplicate, "imu", count: duplicates.values.max() ?? 0,
      "\(name): records with the time of an earlier record; the first is kept")
    self.stream = stream
  }

  /// Time of the first samples: the median of the first five accepted records in file order, so
  /// that a single early time does not count.
  var start: Timestamp? { Self.median(firstTimestamps) }

  /// Time of the last sample, unless it is alone and more than a second after its neighbors.
  var end: Timestamp? {
    guard let last = stream.samples.last?.timestamp, let usual = Self.median(lastTimestamps) else {
      return nil
    }
    if last - usual <= 1_000_000_000 { return last }
    return lastTimestamps.filter { $0 - usual <= 1_000_000_000 }.max() ?? usual
  }

  private static func median(_ times: [Timestamp]) -> Timestamp? {
    times.isEmpty ? nil : times.sorted()[(times.count - 1) / 2]
  }

  /// Samples in file order, the accepted times of the records, the number of records that lost a
  /// sample, and the number with an implausible time.
  private static func samples(
    _ bytes: RawSpan, head: Int, count: Int
  ) -> (samples: [IMUSample], times: [Timestamp], nonFinite: Int, noTime: Int) {
    let all = (0..<count).map { record in
      bytes.littleEndianDouble(at: head + record * recordBytes)
        .flatMap(Timestamp.init(exactSeconds:))
    }
    // Times are seconds since boot.
    let bounds = TimeBounds(all.lazy.compactMap { $0 }.filter { $0.nanoseconds > 0 })
    var samples: [IMUSample] = []
    samples.reserveCapacity(count * sensors.count)
    var times: [Timestamp] = []
    times.reserveCapacity(count)
    var nonFinite = 0
    var noTime = 0
    for record in 0..<count {
      let start = head + record * recordBytes
      guard let time = all[record] else {
        // Finite, but not a possible time.
        let isFinite = bytes.littleEndianDouble(at: start)?.isFinite ?? false
        if isFinite { noTime += 1 } else { nonFinite += 1 }
        continue
      }
      guard time.nanoseconds > 0, bounds.contains(time) else {
        noTime += 1
        continue
      }
      times.append(time)
      var isWhole = true
      for (index, sensor) in sensors.enumerated() {
        func value(_ axis: Int) -> Double {
          let offset = start + sensor.offset + 8 * axis
          return (bytes.littleEndianDouble(at: offset) ?? .nan) * sensor.scale
        }
        let sample = IMUSample(
          timestamp: time, sensor: index, x: value(0), y: value(1), z: value(2))
        if sample.x.isFinite, sample.y.isFinite, sample.z.isFinite {
          samples.append(sample)
        } else {
          isWhole = false
        }
      }
      if !isWhole { nonFinite += 1 }
    }
    return (samples, times, nonFinite, noTime)
  }

  /// 8 when the file starts with a start time before its records, else 0.
  ///
  /// Determined by content, because a partial record at the end may hide it in the file's size.
  private static func headerBytes(_ bytes: RawSpan) -> Int {
    properSteps(bytes, from: 8) > properSteps(bytes, from: 0) ? 8 : 0
  }

  /// Number of steps between neighbors among the first 64 records whose times look like seconds
  /// since boot and are at most one second apart. A record ends with a component of gravity in g: a
  /// greater value is the time of the next record, and what looks like a time a rotation rate.
  private static func properSteps(_ bytes: RawSpan, from start: Int) -> Int {
    let records = min(64, max(0, bytes.byteCount - start) / recordBytes)
    var count = 0
    for record in 1..<max(records, 1) {
      let end = start + record * recordBytes
      guard let earlier = bytes.littleEndianDouble(at: end - recordBytes),
        let gravity = bytes.littleEndianDouble(at: end - 8),
        let later = bytes.littleEndianDouble(at: end)
      else { break }
      let areTimes = [earlier, later].allSatisfy { $0 > 0 && $0 < 1e9 }
      if areTimes, abs(gravity) <= 16, (0...1).contains(later - earlier) { count += 1 }
    }
    return count
  }
}
