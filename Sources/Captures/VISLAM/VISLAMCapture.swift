import Core
import SystemPackage

/// Builds the capture of one session.
struct VISLAMCapture {
  let folder: VISLAMFiles
  let id: String
  let warnings = WarningCollector()
  private let tables: VISLAMTables

  init(_ recognition: Recognition) throws(CaptureError) {
    folder = try VISLAMFiles(recognition.folder)
    id = recognition.id
    tables = VISLAMTables(folder, warnings)
    for name in folder.outside {
      warnings.add(.pathOutsideCapture, name, "a link that leads out of the folder; not followed")
    }
  }

  func capture() throws(CaptureError) -> Capture {
    let table = tables.frames()
    let pictures = VISLAMPictures(folder, table.value, warnings)
    let joined = VISLAMFrames(pictures, table, warnings)
    let samples = tables.samples()

    var capture = Capture(
      id: id, family: .vislam, generation: "v1", folder: folder.path,
      clock: CaptureClock(.uptime, unit: "ns"))
    capture.recordedAt = VISLAMSessionName.recordedAt(id)
    capture.frames = joined.frames.frames
    capture.framesProblem = table.error
    capture.framesShareIMUClock = joined.hasRows
    capture.color = joined.color(declaredFrames: tables.metadata.frameCount, warnings)
    capture.cameraSettings = joined.cameraSettings(table)

    let isAndroid = table.value?.hasExposureInNanoseconds == true || tables.metadata.hasRecordingID
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
    [VISLAMFiles.metadataFile, "calibration.json", "checksums.sha256"]
      .contains(where: folder.contains)
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

  /// Times of more than 31 years are not an uptime.
  private func clock(_ joined: VISLAMFrames, _ imu: IMUStream?) -> CaptureClock {
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
