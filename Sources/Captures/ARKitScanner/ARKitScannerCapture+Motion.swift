import Core

extension ARKitScannerCapture {
  func imu() -> StreamState<IMUStream> {
    let file = sidecars.files[.imu]?.first ?? ""
    switch sidecars.motion {
    case .unreadable(let error): return .unreadable(error)
    case .absent(let why): return withoutMotion(why)
    case .present(let motion):
      guard motion.entryCount > 0 else { return withoutMotion("\(file) holds no entry") }
      warnings.add(
        .corruptRecord, "imu", count: motion.malformed,
        "motion entries that are not lists of the expected length are left out")
      warnings.add(.emptyRecord, "imu", count: motion.empty, "motion files of 0 bytes")
      warnings.add(
        .nonFiniteValue, "imu", count: motion.nonFinite,
        "samples with NaN or infinite values have no row")
      var description = StreamDescription(file: file, encoding: sidecars.encoding)
      description.firstTimestamp = motion.samples.map(\.timestamp).min()
      description.lastTimestamp = motion.samples.map(\.timestamp).max()
      var (stream, duplicates) = IMUStream.sorting(
        motion.samples, sensorNames: ARKitScannerMotion.sensors, description: description,
        convention: .coremotion)
      stream.recordedAcceleration = .g
      if !stream.sensors.isEmpty {
        stream.description.rateHz = TimeSteps(stream.timestamps(ofSensor: 0)).rateHz
      }
      for (sensor, count) in duplicates.sorted(by: { $0.key < $1.key }) {
        warnings.add(
          .timestampsDuplicate, sensor, count: count,
          "of several samples at the same time, the first is kept")
      }
      return .present(stream)
    }
  }

  private func withoutMotion(_ why: String) -> StreamState<IMUStream> {
    warnings.add(.imuMissing, "imu", "no motion samples: \(why)")
    return .absent(why)
  }
}
