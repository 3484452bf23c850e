import Core

extension MultiScanCapture {
  /// All samples of the motion files in the units of the output tables.
  func makeIMU() -> StreamState<IMUStream> {
    let kinds = MultiScanMotionKind.allCases
    let readable = kinds.compactMap { kind in
      contents.motion[kind]?.value.map { (kind: kind, file: $0) }
    }
    guard let firstName = readable.first.flatMap({ contents.files.motion[$0.kind] }) else {
      let error = kinds.lazy.compactMap { contents.motion[$0]?.error }.first
      return error.map { .unreadable($0) } ?? .absent("no motion files")
    }
    let android = contents.generation.isAndroid
    var samples: [IMUSample] = []
    samples.reserveCapacity(readable.reduce(0) { $0 + $1.file.records.count })
    var notFinite = 0
    for (sensor, (kind, file)) in readable.enumerated() {
      warnOfDamage(in: file, kind: kind)
      for record in file.records {
        let (x, y, z) = kind.values(of: record, android: android)
        guard x.isFinite, y.isFinite, z.isFinite else {
          notFinite += 1
          continue
        }
        samples.append(
          IMUSample(timestamp: record.timestamp, sensor: sensor, x: x, y: y, z: z))
      }
    }
    warnings.add(.nonFiniteValue, "imu", count: notFinite, "samples with NaN or infinity; left out")
    var (stream, duplicates) = IMUStream.sorting(
      samples, sensorNames: readable.map { $0.kind.sensorName(android: android) },
      description: motionDescription(firstName, samples: samples, file: readable.first?.file),
      convention: android ? .android : .coremotion)
    if !android { stream.recordedAcceleration = .g }
    if !stream.truncatedTimes.isEmpty {
      stream.description.rateHz = TimeSteps(stream.timestamps(ofSensor: 0)).rateHz
    }
    warnings.add(
      .timestampsDuplicate, "imu", count: duplicates.values.reduce(0, +),
      "samples at a time that the same sensor already has; left out")
    return .present(stream)
  }

  private func motionDescription(
    _ name: String, samples: [IMUSample], file: MultiScanMotionFile?
  ) -> StreamDescription {
    let encoding =
      switch file?.header?.encoding {
      case .bigEndian: "ply-binary-big-endian"
      case .text: "ply-ascii"
      case .littleEndian: "ply-binary-little-endian"
      case nil: contents.generation.isAndroid ? "binary-big-endian" : "binary-little-endian"
      }
    var description = StreamDescription(file: name, encoding: encoding, frames: samples.count)
    let declared = contents.motion.values.compactMap { $0.value?.header?.declaredRecords }
    description.declaredFrames =
      declared.isEmpty
      ? nil : declared.reduce(0) { $0.addingReportingOverflow($1).partialValue }
    description.firstTimestamp = samples.lazy.map(\.timestamp).min()
    description.lastTimestamp = samples.lazy.map(\.timestamp).max()
    let firstSensor = samples.lazy.filter { $0.sensor == 0 }.map(\.timestamp).sorted()
    description.rateHz = TimeSteps(firstSensor).rateHz
    return description
  }

  private func warnOfDamage(in file: MultiScanMotionFile, kind: MultiScanMotionKind) {
    if let header = file.header {
      if let declared = header.declaredRecords {
        warnings.add(
          .frameCountMismatch, "imu", count: abs(declared - file.recordCount),
          "the header of .\(kind) claims \(declared) records; \(file.recordCount) are there")
      }
    } else {
      warnings.add(
        .truncatedStream, "imu", "motion files without header: the app was killed; records are read"
      )
    }
    warnings.add(
      .corruptRecord, "imu", count: file.farOff,
      "records more than an hour away from all others in their file are left out")
    if file.hasPartialRecord {
      warnings.add(.imuPartialRecord, "imu", "bytes after the last complete record are ignored")
    }
  }
}

extension MultiScanMotionKind {
  /// The sensor type of a file's samples.
  func sensorName(android: Bool) -> String {
    switch self {
    case .rot: android ? "gyroscope" : "rotationRate"
    case .acce: android ? "accelerometer" : "userAcceleration"
    case .mag: "magnetometer"
    case .grav: "gravity"
    case .atti: "attitude"
    }
  }

  /// The values of a record in m/s², rad/s, µT or rad.
  ///
  /// iOS writes accelerations in g; Android's attitude is azimuth, pitch, roll in degrees, whatever
  /// the names of its properties. Everything else is stored in the unit of the tables.
  func values(
    of record: MultiScanMotionFile.Record, android: Bool
  ) -> (x: Double, y: Double, z: Double) {
    switch (self, android) {
    case (.acce, false), (.grav, false):
      Self.metersPerSecondSquared(record)
    case (.atti, true):
      (record.z * .pi / 180, record.y * .pi / 180, record.x * .pi / 180)
    default:
      (record.x, record.y, record.z)
    }
  }

  private static func metersPerSecondSquared(
    _ record: MultiScanMotionFile.Record
  ) -> (x: Double, y: Double, z: Double) {
    let scale = StandardGravity.metersPerSecondSquared
    return (record.x * scale, record.y * scale, record.z * scale)
  }
}
