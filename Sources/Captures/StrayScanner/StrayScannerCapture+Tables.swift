import Media
import Core

extension StrayScannerCapture {
  /// Poses in frame order. The app wrote OpenCV's camera axes.
  func poses() -> StreamState<PoseStream> {
    // The error of a table that cannot be read is told, whatever the video is.
    if tables.odometry.error == nil, let why = mirrorObstacle(tables.color.value?.track) {
      return .absent(why)
    }
    return tables.odometry.map { odometry in
      let found = odometry.rows.compactMap { row in
        row.pose.map { (row: PoseStream.Row(frame: row.frame, pose: $0), time: row.time) }
      }
      warnings.add(
        .nonFiniteValue, "poses", count: odometry.nonFinite,
        "poses with NaN or infinite numbers have no row; their frames are kept")
      // Before tracking has begun, positions are exactly zero.
      let untracked = odometry.rows.prefix { row in
        row.pose?.position.allSatisfy { $0 == 0 } ?? false
      }.count
      warnings.add(
        .untrackedPoses, "poses", count: untracked > 1 ? untracked : 0,
        "rows at the start are at 0, 0, 0: tracking had not begun, only their rotation is real")
      let tracked = found.dropFirst(untracked)
      warnings.add(
        .poseJump, "poses",
        count: PoseJumps.countTimed(rows: tracked.map(\.row), times: tracked.map(\.time)),
        "steps faster than 10 m/s: tracking was lost and found elsewhere")
      var description = StreamDescription(
        file: StrayScannerFiles.odometryName, encoding: "csv", frames: found.count)
      describe(found.map(\.time), in: &description)
      return PoseStream(description: description, rows: found.map(\.row))
    }
  }

  /// The row's own intrinsics, else those of the camera matrix, for every frame with a row.
  func intrinsics() -> StreamState<[IntrinsicsRow]> {
    let track = tables.color.value?.track
    if let error = tables.odometry.error { return .unreadable(error) }
    if let obstacle = ColorFit(stated: nil, track).obstacle { return .absent(obstacle) }
    guard anyIntrinsics != nil else {
      warnings.add(.calibrationMissing, "color", "no intrinsics are recorded")
      return .absent("neither \(StrayScannerFiles.matrixName) nor a row has intrinsics")
    }
    let size = track.map { ($0.uprightWidth, $0.uprightHeight) }
    return .present(
      (tables.odometry.value?.rows ?? []).compactMap { row in
        (row.intrinsics ?? tables.matrix).map {
          IntrinsicsRow(
            frame: row.frame, width: size?.0, height: size?.1, fx: $0.fx, fy: $0.fy, cx: $0.cx,
            cy: $0.cy)
        }
      })
  }

  /// The first intrinsics of any frame; `nil` if there are none.
  var anyIntrinsics: StrayScannerIntrinsics? {
    tables.odometry.value?.rows.lazy.compactMap(\.intrinsics).first ?? tables.matrix
  }

  /// Samples in the units of the output tables. Both sensors of a row have one time, so rows are
  /// what warnings count.
  func imu() -> StreamState<IMUStream> {
    tables.motion.map { motion in
      reportOrder(of: motion)
      let (samples, sensors) = motion.samples
      var (stream, duplicates) = IMUStream.sorting(
        samples, sensorNames: sensors,
        description: StreamDescription(file: StrayScannerFiles.motionName, encoding: "csv"),
        convention: .coremotion)
      if motion.isInGravities { stream.recordedAcceleration = .g }
      warnings.add(
        .timestampsDuplicate, "imu", count: duplicates.values.max() ?? 0,
        "rows at the time of an earlier one; the first in the file was kept")
      let times = stream.timestamps(ofSensor: 0)
      let steps = TimeSteps(times)
      let threshold = stream.gapThresholdNanoseconds.first ?? .max
      let gaps = steps.nanoseconds.count { $0 > threshold }
      warnings.add(
        .imuGap, "imu", count: gaps, "steps longer than \(threshold / 1_000_000) ms")
      stream.description.rateHz = steps.rateHz
      stream.description.gaps = gaps
      stream.description.firstTimestamp = times.first
      stream.description.lastTimestamp = times.last
      reportFramesOutside(times)
      return stream
    }
  }

  private func reportOrder(of motion: StrayScannerMotion) {
    var order = TimeOrder()
    for row in motion.rows { order.add(row.time) }
    order.report(to: warnings, subject: "imu")
    warnings.add(
      .corruptRecord, "imu", count: motion.corrupt,
      "rows with too few or too many cells, without a usable time or with text for a number"
        + (motion.firstCorruptLine > 0 ? ", the first in line \(motion.firstCorruptLine)" : ""))
    warnings.add(
      .nonFiniteValue, "imu", count: motion.nonFinite, "rows with a value that is not finite")
    reportUnknown(motion.unknownColumns, in: "imu")
  }

  /// The app's IMU starts after the first frame and ends before or after the last: frames within a
  /// quarter of a second of a sample are not reported.
  private func reportFramesOutside(_ samples: [Timestamp]) {
    let tolerance: Int64 = 250_000_000
    guard tables.generation != .early, let first = samples.first, let last = samples.last else {
      return
    }
    let times = frames.frames.compactMap(\.timestamp)
    var outside = FramesOutside(frames: times.count, rateHz: TimeSteps(times).rateHz)
    outside.before = times.count { first - $0 > tolerance }
    outside.after = times.count { $0 - last > tolerance }
    warnings.add(
      .imuOutsideFrames, "imu", count: outside.count, of: .ends(outside),
      "frames more than 250 ms before the first or after the last sample")
  }

  func reportUnknown(_ columns: [String], in subject: String) {
    warnings.add(
      .unknownKey, subject, count: columns.count,
      "unknown columns: \(columns.prefix(8).joined(separator: ", "))")
  }
}
