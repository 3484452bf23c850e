import Core
import Media
import SystemPackage

/// Poses, cameras, motion and positions that a `capture.yaml` describes.
extension OpenFolderCapture {
  func poses(_ stream: OpenFolderStream) throws(CaptureError) -> StreamState<PoseStream> {
    let map = stream.map
    let world: PoseWorld? = map.text("world") == "z-up" ? .zUp : nil
    if map.transformColumns.isEmpty {
      let found = PoseStream.Row.rows(frames.items.indices.map { ($0, map.pose(in: nil)) })
      return .present(
        PoseStream(
          description: StreamDescription(
            file: OpenFolderReader.fileName, encoding: "yaml", frames: found.count), rows: found,
          world: world))
    }
    guard
      let (items, values) = try rows(
        stream, .poses, columns: map.transformColumns, { map.pose(in: $0) })
    else { return .absent("no rows with poses") }
    let match = try given(items, of: stream)
    let found = PoseStream.Row.rows(
      zip(match.frames, values).compactMap { frame, value in
        frame.flatMap { frame in value.map { (frame, $0) } }
      }
    ).sorted { $0.frame < $1.frame }
    let missing = values.count { $0 == PoseReading.none }
    let malformed = values.count { $0 == .malformed }
    if missing + malformed == values.count {
      throw CaptureError(
        file: content.full(stream.name),
        problem: "no row has a pose as capture.yaml describes it "
          + "(\(missing) rows without its keys, \(malformed) that are no rotation and position)",
        correction: "check the keys, order and units under poses")
    }
    warnings.add(.missingKey, "poses", count: missing, "rows without all numbers of the pose")
    warnings.addUnusable(values.compactMap(\.self))
    let times = found.map { frames.items[$0.frame].time }
    warnings.addPoseJumps(found, times)
    let held = Set(match.frames.compactMap(\.self))
    var description = StreamDescription(
      file: stream.name, encoding: "table", frames: found.count)
    describe(
      &description, match, stream, of: items.items.count,
      without: frames.items.indices.filter { !held.contains($0) }, times)
    return .present(PoseStream(description: description, rows: found, world: world))
  }

  typealias Cameras = [(frame: Int, camera: OpenFolderCamera)]

  func cameras(_ stream: OpenFolderStream) throws(CaptureError) -> StreamState<Cameras> {
    let map = stream.map
    if map.cameraColumns.isEmpty, let stated = OpenFolderCamera(map, in: nil) {
      return .present(frames.items.indices.map { ($0, stated) })
    }
    var found: Cameras = []
    // What the first row without intrinsics lacks.
    var lacking: String?
    if let (items, values) = try rows(
      stream, .intrinsics, columns: map.cameraColumns,
      { row in
        let camera = OpenFolderCamera(map, in: row)
        if camera == nil, lacking == nil {
          lacking =
            row.notANumber(map.cameraColumns)
            ?? row.notOneNumber(OpenFolderMap.cameraNumbers.compactMap(map.text))
            ?? map.cameraColumns.first { row.text($0) == nil }.map {
              "no value at `\($0)` in \(row.line)"
            }
        }
        return camera
      })
    {
      for (frame, value) in zip(try given(items, of: stream).frames, values) {
        if let frame, let camera = value.flatMap(\.self) { found.append((frame, camera)) }
      }
      warnings.add(
        .missingKey, "intrinsics", count: values.count { $0.map { $0 == nil } ?? false },
        "rows without all numbers of the intrinsics" + (lacking.map { ": \($0)" } ?? ""))
    }
    guard !found.isEmpty else {
      warnings.add(
        .calibrationMissing, "color",
        "no row has all numbers of the intrinsics; check the columns under intrinsics in "
          + OpenFolderReader.fileName)
      return .absent("no row has intrinsics")
    }
    return .present(found.sorted { $0.frame < $1.frame })
  }

  func intrinsics(
    _ cameras: StreamState<Cameras>, _ fit: ColorFit
  ) -> StreamState<[IntrinsicsRow]> {
    cameras.then { rows in
      if let obstacle = fit.obstacle { return .absent(obstacle) }
      let upright = uprightSize ?? rows.first?.camera.size
      return .present(rows.map { fit.row($0.frame, $0.camera.intrinsics, upright) })
    }
  }

  func alignment(
    _ first: OpenFolderCamera?, _ fit: ColorFit
  ) throws(CaptureError) -> DepthCalibration {
    let color = fit.obstacle == nil ? first.flatMap { fit.camera($0.intrinsics) } : nil
    var found = DepthCalibration(
      registered: true, colorFromDepth: .identity, colorIntrinsics: storedSize == nil ? nil : color,
      colorDistortion: first?.lens ?? .none)
    if let (camera, colorFromDepth) = description.depthCamera {
      found.registered = colorFromDepth.isIdentity
      found.colorFromDepth = colorFromDepth
      found.depthIntrinsics = camera.size.map { PinholeCamera(camera.intrinsics, $0) }
      found.depthDistortion = camera.lens
    }
    if let fault = found.firstFault {
      throw CaptureError(
        file: description.map.file, problem: "\(fault)",
        correction: "check intrinsics and colorFromDepth")
    }
    return found
  }

  /// The samples of all tables.
  func motion(_ first: OpenFolderStream) throws(CaptureError) -> StreamState<IMUStream> {
    let all = description.motion
    for key in ["convention", "acceleration"]
    where Set(all.compactMap { $0.map.text(key) }).count > 1 {
      throw first.map.fault(key, "all motion tables need the same")
    }
    guard Set(all.map(\.time?.clock)).count == 1 else {
      throw first.map.fault(
        "time",
        "all motion tables need one clock; an `offset` brings times to the capture's clock")
    }
    var samples: [IMUSample] = []
    var names: [String] = []
    for stream in all { try read(stream, into: &samples, &names) }
    guard !samples.isEmpty else {
      warnings.add(.imuMissing, "imu", "no sample that capture.yaml describes is there")
      return .absent("no samples")
    }
    let bounds = TimeBounds(samples.lazy.map(\.timestamp))
    let count = samples.count
    samples.removeAll { !bounds.contains($0.timestamp) }
    warnings.add(
      .corruptRecord, "imu", count: count - samples.count, "samples far away from all others")
    var tables: [String] = []
    for stream in all where !tables.contains(stream.name) { tables.append(stream.name) }
    var (imu, duplicates) = IMUStream.sorting(
      samples, sensorNames: names,
      description: StreamDescription(file: tables.joined(separator: ", "), encoding: "table"),
      convention: first.map.text("convention").flatMap(IMUConvention.init) ?? .coremotion)
    imu.recordedAcceleration =
      all.lazy.compactMap { $0.map.text("acceleration") }.first.flatMap(AccelerationUnit.init)
      ?? .metersPerSecondSquared
    for sensor in imu.sensors {
      warnings.add(
        .timestampsDuplicate, sensor, count: duplicates[sensor] ?? 0,
        "samples of \(sensor) at the time of an earlier one; the first in the file was kept")
    }
    imu.description.firstTimestamp = imu.samples.first?.timestamp
    imu.description.lastTimestamp = imu.samples.last?.timestamp
    imu.description.rateHz = TimeSteps(imu.timestamps(ofSensor: 0)).rateHz
    return .present(imu)
  }

  private func read(
    _ stream: OpenFolderStream, into samples: inout [IMUSample], _ names: inout [String]
  ) throws(CaptureError) {
    let map = stream.map
    let acceleration = map.text("acceleration").flatMap(AccelerationUnit.init)
    let rotation = map.text("rotation").flatMap(RotationUnit.init)
    var sensors: [(index: Int, columns: [String], factor: Double)] = []
    for name in IMUStream.knownSensors where map.has(name) {
      let index = names.firstIndex(of: name) ?? names.count
      if index == names.count { names.append(name) }
      let factor =
        IMUStream.isAcceleration(name)
        ? acceleration?.inMetersPerSecondSquared
        : IMUStream.isRotation(name) ? rotation?.inRadiansPerSecond : nil
      sensors.append((index, map.columns(name), factor ?? 1))
    }
    var times: [Timestamp] = []
    var found: [IMUSample] = []
    var (unusable, nonFinite) = (0, 0)
    var unread: (count: Int, first: String) = (0, "")
    let count = try read(
      stream, .imu, most: InputLimits.samplesOfIMU, columns: sensors.flatMap(\.columns)
    ) { row, isUsable, time in
      guard isUsable else { return }
      guard let time else {
        unusable += 1
        return
      }
      times.append(time)
      let whole = sensors.compactMap { sensor in
        row.numbers(sensor.columns).flatMap { $0.count == 3 ? (sensor, $0) : nil }
      }
      if whole.count < sensors.count {
        // An empty cell means that the sensor has no sample at this time.
        let odd = sensors.compactMap { row.notANumber($0.columns) }
        if unread.count == 0 { unread.first = odd.first ?? "" }
        unread.count += odd.count
        if whole.isEmpty, odd.isEmpty { unusable += 1 }
      }
      for (sensor, values) in whole {
        guard values.allSatisfy(\.isFinite) else {
          nonFinite += 1
          continue
        }
        found.append(
          IMUSample(
            timestamp: time, sensor: sensor.index, x: values[0] * sensor.factor,
            y: values[1] * sensor.factor, z: values[2] * sensor.factor))
      }
    }
    guard let count, let file = stream.table?.file else { return }
    if found.isEmpty {
      throw CaptureError(
        file: content.full(file),
        problem: "none of its \(count) rows has a time and a sample"
          + (unread.count > 0 ? ": \(unread.first)" : ""),
        correction: "check columns and units under motion")
    }
    try TimeMajority.checkAdvance(
      of: times, in: content.full(file),
      correction: "leave motion out of \(OpenFolderReader.fileName) to process the rest")
    samples += found
    var order = TimeOrder()
    for time in times { order.add(time) }
    order.report(to: warnings, subject: file)
    warnings.add(
      .corruptRecord, "imu", count: unusable, "rows without a time or without a whole sample")
    warnings.add(.corruptRecord, "imu", count: unread.count, "samples left out: \(unread.first)")
    warnings.add(.nonFiniteValue, "imu", count: nonFinite, "samples that are not finite")
  }

  func geo(_ stream: OpenFolderStream) throws(CaptureError) -> StreamState<GeoStream> {
    guard stream.time?.clock == frames.shared.clock else {
      return .absent("their clock is not that of the frames: an `offset` under geo.time is needed")
    }
    let map = stream.map
    let columns = map.columns("latitude", "longitude", "altitude", "accuracy")
    guard
      let (items, values) = try rows(
        stream, .geo, columns: columns,
        { row in
          ["latitude", "longitude", "altitude", "accuracy"].map { key in
            map.number(key, in: row).flatMap { $0.isFinite ? $0 : nil }
          }
        })
    else { return .absent("no rows with positions") }
    try checkMeeting(of: items, stream)
    let positions = zip(items.items, values).compactMap { item, value -> GeoPosition? in
      guard let time = item.time, let value, let latitude = value[0], let longitude = value[1],
        abs(latitude) <= 90, abs(longitude) <= 180
      else { return nil }
      return GeoPosition(
        timestamp: time, latitude: latitude, longitude: longitude, accuracy: value[3],
        altitude: value[2])
    }
    warnings.add(
      .corruptRecord, "geo", count: values.count - positions.count,
      "rows without a time or with impossible coordinates")
    return .present(
      GeoStream(
        description: StreamDescription(
          file: stream.name, encoding: "table", frames: positions.count),
        track: GeoTrack(positions: positions.sorted { $0.timestamp < $1.timestamp }),
        coverage: .everyFrame))
  }
}
