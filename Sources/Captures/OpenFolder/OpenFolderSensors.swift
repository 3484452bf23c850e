import Core
import Media
import SystemPackage

/// Poses, cameras, motion and positions that a `capture.yaml` describes.
extension OpenFolderCapture {
  mutating func poses() -> StreamState<PoseStream> {
    guard let poses = description.poses else { return .absent("capture.yaml describes no poses") }
    do throws(CaptureError) {
      guard
        let (items, values) = try rows(
          poses.items, .poses, columns: poses.transform.columns,
          { poses.transform.reading(in: $0) })
      else { return .absent("no rows with poses") }
      let match = frames.items.isEmpty ? frames.add(items, as: nil) : frames.match(items)
      var found: [PoseStream.Row] = []
      var (missing, nonFinite, malformed) = (0, 0, 0)
      for (frame, value) in zip(match.frames, values) {
        switch value {
        case .transform(let written)?:
          guard let pose = poses.pose(written) else {
            malformed += 1
            continue
          }
          if let frame { found.append(PoseStream.Row(frame: frame, pose: pose)) }
        case .missing?: missing += 1
        case .nonFinite?: nonFinite += 1
        case .malformed?: malformed += 1
        case nil: break
        }
      }
      found.sort { $0.frame < $1.frame }
      if missing + malformed == values.count {
        throw CaptureError(
          file: content.path.pushing(FilePath(text: poses.items.table?.file ?? "")),
          problem: "no row has a pose as capture.yaml describes it "
            + "(\(missing) rows without its keys, \(malformed) that are no rotation and position)",
          correction: "check the keys, order and units under poses")
      }
      warnings.add(.missingKey, "poses", count: missing, "rows without all numbers of the pose")
      warnings.add(
        .nonFiniteValue, "poses", count: nonFinite, "poses with NaN or infinite numbers have no row"
      )
      warnings.add(
        .corruptRecord, "poses", count: malformed, "poses that are no rotation and position")
      let times = found.map { frames.items[$0.frame].time }
      warnings.addPoseJumps(PoseJumps.countTimed(rows: found, times: times))
      let held = Set(match.frames.compactMap(\.self))
      var stream = StreamDescription(
        file: poses.items.table?.file ?? "", encoding: "table", frames: found.count)
      describe(
        &stream, match, poses.items, items.items.count,
        frames.items.indices.filter { !held.contains($0) }, times)
      return .present(PoseStream(description: stream, rows: found, world: poses.world))
    } catch {
      return .unreadable(error)
    }
  }

  /// The cameras by frame, or why there are none.
  struct Cameras {
    var rows: [(frame: Int, camera: OpenFolderCamera)] = []
    var state: StreamState<Void>
    var first: (frame: Int, camera: OpenFolderCamera)? { rows.first }
  }

  mutating func camera() -> Cameras {
    guard let camera = description.intrinsics else {
      return Cameras(state: .absent("capture.yaml describes no intrinsics"))
    }
    if camera.columns.isEmpty, let stated = OpenFolderCamera(camera, in: nil) {
      return Cameras(rows: frames.items.indices.map { ($0, stated) }, state: .present(()))
    }
    do throws(CaptureError) {
      guard
        let (items, values) = try rows(
          camera.items, .intrinsics, columns: camera.columns,
          { OpenFolderCamera(camera, in: $0) })
      else {
        let why = "no rows with intrinsics"
        warnings.add(.calibrationMissing, "color", why)
        return Cameras(state: .absent(why))
      }
      let match = frames.match(items)
      var found: [(frame: Int, camera: OpenFolderCamera)] = []
      for (frame, value) in zip(match.frames, values) {
        if let frame, let camera = value.flatMap(\.self) { found.append((frame, camera)) }
      }
      found.sort { $0.frame < $1.frame }
      warnings.add(
        .missingKey, "intrinsics", count: values.count { $0.map { $0 == nil } ?? false },
        "rows without all numbers of the intrinsics")
      if found.isEmpty {
        warnings.add(.calibrationMissing, "color", "no row has all numbers of the intrinsics")
        return Cameras(state: .absent("no row has intrinsics"))
      }
      return Cameras(rows: found, state: .present(()))
    } catch {
      return Cameras(state: .unreadable(error))
    }
  }

  func fit(_ first: (frame: Int, camera: OpenFolderCamera)?) -> ColorFit {
    let stated = first?.camera.size
    let fit =
      track.map { ColorFit(stated: stated, $0) } ?? ColorFit(stated: stated, stored: storedSize)
    fit.report(to: warnings)
    return fit
  }

  func intrinsics(_ cameras: Cameras, _ fit: ColorFit) -> StreamState<[IntrinsicsRow]> {
    switch cameras.state {
    case .absent(let why): return .absent(why)
    case .unreadable(let error): return .unreadable(error)
    case .present: break
    }
    if let obstacle = fit.obstacle { return .absent(obstacle) }
    let stored = storedSize ?? cameras.first?.camera.size
    let upright = track?.orientation.swapsSides ?? false ? stored?.turned : stored
    return .present(cameras.rows.map { fit.row($0.frame, $0.camera.intrinsics, upright) })
  }

  func alignment(
    _ first: OpenFolderCamera?, _ fit: ColorFit
  ) throws(CaptureError) -> DepthCalibration {
    let color = fit.obstacle == nil ? first.flatMap { fit.camera($0.intrinsics) } : nil
    var found = DepthCalibration(
      registered: true, colorFromDepth: .identity, colorIntrinsics: storedSize == nil ? nil : color,
      colorDistortion: first?.lens ?? .none)
    if let own = description.depth?.camera.flatMap({ OpenFolderCamera($0, in: nil) }) {
      found.registered = false
      found.colorFromDepth = description.depth?.colorFromDepth
      found.depthIntrinsics = own.size.map { PinholeCamera(own.intrinsics, $0) }
      found.depthDistortion = own.lens
    }
    if let fault = found.firstFault {
      throw CaptureError(
        file: description.file, problem: "\(fault)",
        correction: "check intrinsics and colorFromDepth")
    }
    return found
  }

  // MARK: Motion and positions

  /// The samples and the name of their clock.
  mutating func motion() -> (StreamState<IMUStream>, clock: String?) {
    guard let first = description.motion.first else {
      return (.absent("capture.yaml describes no motion"), nil)
    }
    let clocks = Set(description.motion.compactMap(\.items.time?.clock))
    do throws(CaptureError) {
      if clocks.count > 1
        || description.motion.contains(where: {
          $0.convention != first.convention || $0.acceleration != first.acceleration
        })
      {
        throw first.items.map.fault(
          nil,
          "all motion tables need one clock, one convention and one unit of acceleration; an `offset` brings "
            + "times to the capture's clock")
      }
      var samples: [IMUSample] = []
      var names: [String] = []
      for motion in description.motion { try read(motion, into: &samples, &names) }
      guard !samples.isEmpty else {
        warnings.add(.imuMissing, "imu", "no sample that capture.yaml describes is there")
        return (.absent("no samples"), nil)
      }
      let bounds = TimeBounds(samples.lazy.map(\.timestamp))
      let count = samples.count
      samples.removeAll { !bounds.contains($0.timestamp) }
      warnings.add(
        .corruptRecord, "imu", count: count - samples.count, "samples far away from all others")
      let tables = description.motion.compactMap(\.items.table?.file)
      var (stream, duplicates) = IMUStream.sorting(
        samples, sensorNames: names,
        description: StreamDescription(
          file: tables.joined(separator: ", "), encoding: "table"), convention: first.convention)
      stream.recordedAcceleration = first.acceleration
      for sensor in stream.sensors {
        warnings.add(
          .timestampsDuplicate, sensor, count: duplicates[sensor] ?? 0,
          "samples of \(sensor) at the time of an earlier one; the first in the file was kept")
      }
      stream.description.firstTimestamp = stream.samples.first?.timestamp
      stream.description.lastTimestamp = stream.samples.last?.timestamp
      stream.description.rateHz = TimeSteps(stream.timestamps(ofSensor: 0)).rateHz
      return (.present(stream), clocks.first)
    } catch {
      return (.unreadable(error), nil)
    }
  }

  mutating func read(
    _ motion: OpenFolderDescription.Motion, into samples: inout [IMUSample], _ names: inout [String]
  ) throws(CaptureError) {
    guard let table = motion.items.table, case .column(let timeColumn)? = motion.items.time?.source,
      absence(of: table.file, "imu") == nil
    else { return }
    let path = content.path.pushing(FilePath(text: table.file))
    files[.imu, default: []].append(path)
    var reader = try OpenFolderTable(path, table)
    try reader.check(motion.sensors.flatMap(\.columns) + [timeColumn])
    let sensors = motion.sensors.map { sensor in
      let factor =
        IMUStream.isAcceleration(sensor.name)
        ? motion.acceleration.inMetersPerSecondSquared
        : IMUStream.isRotation(sensor.name) ? motion.rotation.inRadiansPerSecond : 1
      let index = names.firstIndex(of: sensor.name) ?? names.count
      if index == names.count { names.append(sensor.name) }
      return (index: index, columns: sensor.columns, factor: factor)
    }
    var times: [Timestamp] = []
    var (unusable, nonFinite, read) = (0, 0, 0)
    while let isUsable = try reader.nextRow() {
      if let problem = InputLimits.samplesOfIMU.problem(reader.count) {
        throw CaptureError(file: path, problem: problem)
      }
      guard isUsable else { continue }
      guard let time = reader.text(timeColumn).flatMap({ time(of: $0, motion.items) }) else {
        unusable += 1
        continue
      }
      times.append(time)
      var hasSample = false
      for sensor in sensors {
        guard let values = reader.numbers(sensor.columns), values.count == 3 else { continue }
        hasSample = true
        guard values.allSatisfy(\.isFinite) else {
          nonFinite += 1
          continue
        }
        samples.append(
          IMUSample(
            timestamp: time, sensor: sensor.index, x: values[0] * sensor.factor,
            y: values[1] * sensor.factor, z: values[2] * sensor.factor))
        read += 1
      }
      if !hasSample { unusable += 1 }
    }
    report(reader, table.file)
    if reader.count > 0, read == 0 {
      throw CaptureError(
        file: path, problem: "none of its \(reader.count) rows has a time and a sample",
        correction: "check columns and units under motion")
    }
    if let stale = TimeMajority.stale(times) {
      throw CaptureError(
        file: path,
        problem:
          "\(stale.count) of \(times.count) rows have the same time: the clock did not advance",
        correction: "leave motion out of \(OpenFolderReader.fileName) to process the rest")
    }
    var order = TimeOrder()
    for time in times { order.add(time) }
    order.report(to: warnings, subject: table.file)
    warnings.add(
      .corruptRecord, "imu", count: unusable, "rows without a time or without a whole sample")
    warnings.add(.nonFiniteValue, "imu", count: nonFinite, "samples that are not finite")
  }

  mutating func geo() -> StreamState<GeoStream> {
    guard let geo = description.geo else { return .absent("capture.yaml describes no positions") }
    guard geo.items.time?.clock == frames.shared.clock else {
      return .absent("their clock is not that of the frames: an `offset` under geo.time is needed")
    }
    do throws(CaptureError) {
      let columns = geo.place + (geo.altitude ?? []) + (geo.accuracy ?? [])
      let found = try rows(geo.items, .geo, columns: columns) { row in
        (
          row.numbers(geo.place), geo.altitude.flatMap(row.numbers),
          geo.accuracy.flatMap(row.numbers)
        )
      }
      guard let (items, values) = found else { return .absent("no rows with positions") }
      let positions = zip(items.items, values).compactMap { item, value -> GeoPosition? in
        guard let time = item.time, let (place, altitude, accuracy) = value, let place,
          place.count == 2, abs(place[0]) <= 90, abs(place[1]) <= 180
        else { return nil }
        func finite(_ value: [Double]?) -> Double? {
          value?.first.flatMap { $0.isFinite ? $0 : nil }
        }
        return GeoPosition(
          timestamp: time, latitude: place[0], longitude: place[1], accuracy: finite(accuracy),
          altitude: finite(altitude))
      }
      warnings.add(
        .corruptRecord, "geo", count: values.count - positions.count,
        "rows without a time or with impossible coordinates")
      return .present(
        GeoStream(
          description: StreamDescription(
            file: geo.items.table?.file ?? "", encoding: "table", frames: positions.count),
          track: GeoTrack(positions: positions.sorted { $0.timestamp < $1.timestamp }),
          coverage: .everyFrame))
    } catch {
      return .unreadable(error)
    }
  }

  func reportTimes() {
    let times = frames.items.map(\.time)
    guard
      [description.color?.time, description.depth?.items.time, description.poses?.items.time]
        .contains(where: { $0 != nil })
    else { return }
    warnings.add(
      .timestampsMissing, "frames", count: times.count { $0 == nil }, "frames without a time")
    warnings.addOrder(of: TimeSteps(ofNeighbors: times), times: times.count)
  }
}
