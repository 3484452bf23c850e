import Geometry
import SystemPackage

/// One session on its way to become a capture.
struct VISLAMSession {
  let folder: VISLAMFolder
  let id: String
  let warnings = WarningCollector()
  private let metadata: VISLAMMetadata

  init(_ recognition: Recognition) throws(CaptureError) {
    folder = try VISLAMFolder(recognition.folder)
    id = recognition.id
    metadata = VISLAMMetadata(folder)
    for name in folder.outside {
      warnings.add(.pathOutsideCapture, name, "a link that leads out of the folder; not followed")
    }
  }

  func capture() throws(CaptureError) -> Capture {
    let table = frameTable()
    let pictures = VISLAMPictures(folder, table.value, warnings)
    let joined = VISLAMJoin(pictures, table, warnings)
    let samples = imuTable()

    var capture = Capture(
      id: id, family: .vislam, generation: "v1", folder: folder.path,
      clock: CaptureClock(.uptime, unit: "ns"))
    capture.recordedAt = VISLAMSessionName.recordedAt(id)
    capture.frames = joined.frames.frames
    capture.framesProblem = table.error
    capture.framesShareIMUClock = joined.hasRows
    capture.color = joined.color(declaredFrames: metadata.frameCount, warnings)
    capture.cameraSettings = joined.cameraSettings(table)

    let isAndroid = table.value?.hasExposureInNanoseconds == true || metadata.hasRecordingID
    let isSibling = table.value?.hasSiblingForm == true || samples.value?.isSibling == true
    if isSibling || joined.usesStills || hasSiblingFiles { capture.generation = "android" }
    let convention: IMUConvention =
      isAndroid || samples.value?.isAndroid == true ? .android : .coremotion
    capture.imu = imu(samples, convention, frames: joined.hasRows ? capture.frames : [])
    capture.clock = clock(joined, capture.imu.value)

    capture.files = files(pictures, samples: samples, table: table)
    capture.completeness = completeness(pictures, samples: samples, table: table)
    capture.warnings = warnings.warnings
    claim(&capture, joined)
    try refuseEmpty(capture)
    return capture
  }

  private var hasSiblingFiles: Bool {
    [VISLAMFolder.metadataFile, "calibration.json", "checksums.sha256"]
      .contains(where: folder.contains)
  }

  private func frameTable() -> StreamState<VISLAMFrameTable> {
    let file = VISLAMFolder.frameFile
    do throws(CaptureError) {
      guard folder.contains(file) else {
        warnings.add(.missingFile, file, "no frame table: frames are the pictures")
        return .absent("no \(file)")
      }
      let table = try VISLAMFrameTable(folder.file(file), warnings: warnings)
      if table.hasRows { return .present(table) }
      warnings.add(.missingFile, file, "the frame table is empty: frames are the pictures")
      return .absent("\(file) is empty")
    } catch {
      return .unreadable(error)
    }
  }

  private func imuTable() -> StreamState<VISLAMIMUTable> {
    let names = [VISLAMFolder.imuFile, VISLAMFolder.siblingIMUFile]
    do throws(CaptureError) {
      guard let file = names.first(where: folder.contains) else {
        warnings.add(.imuMissing, "imu", "no \(names[0])")
        return .absent("no \(names[0])")
      }
      let table = try VISLAMIMUTable(folder.file(file))
      table.report(to: warnings)
      if table.columns != nil { return .present(table) }
      warnings.add(.imuMissing, "imu", "\(file) is empty")
      return .absent("\(file) is empty")
    } catch {
      return .unreadable(error)
    }
  }

  private func imu(
    _ table: StreamState<VISLAMIMUTable>, _ convention: IMUConvention, frames: [CaptureFrame]
  ) -> StreamState<IMUStream> {
    switch table {
    case .absent(let why): return .absent(why)
    case .unreadable(let error): return .unreadable(error)
    case .present(let table):
      do throws(CaptureError) {
        let imu = try VISLAMIMU(table, convention: convention, warnings: warnings)
        let tail =
          table.rowCount == 10_000
          ? "; the file holds exactly 10,000 rows, the tail that a ring buffer keeps" : ""
        let outside = imu.framesOutside(frames)
        warnings.add(
          .imuOutsideFrames, "imu", count: outside.count, of: .ends(outside),
          "frames before the first or after the last sample of an inertial sensor" + tail)
        return .present(imu.stream)
      } catch {
        return .unreadable(error)
      }
    }
  }

  /// Stamps of more than 31 years are no uptime.
  private func clock(_ joined: VISLAMJoin, _ imu: IMUStream?) -> CaptureClock {
    guard joined.hasRows else { return CaptureClock(.video, unit: "s") }
    let first = joined.frames.frames.first?.timestamp ?? imu?.samples.first?.timestamp
    let isUnix = (first?.nanoseconds ?? 0) >= 1_000_000_000_000_000_000
    return CaptureClock(isUnix ? .unix : .uptime, unit: "ns")
  }

  private func refuseEmpty(_ capture: Capture) throws(CaptureError) {
    guard capture.frames.isEmpty, capture.color.value == nil, capture.imu.value == nil else {
      return
    }
    if let error = capture.framesProblem ?? capture.imu.error ?? capture.color.error { throw error }
    throw CaptureError(
      file: folder.path, problem: "neither a picture nor a frame nor an IMU sample",
      remedy: "the tables are written when recording ends; check whether the upload is complete")
  }
}

extension VISLAMIMUTable {
  /// Any form but the one that the app itself writes.
  var isSibling: Bool {
    columns?.isSibling == true || hasForeignSpelling || file == VISLAMFolder.siblingIMUFile
  }

  /// Whether the form tells that values are specific force.
  var isAndroid: Bool {
    if case .wide = columns?.form { return true }
    return hasForeignSpelling
  }
}
