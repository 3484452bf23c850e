import Core
import SystemPackage

/// The side files of a capture: metadata, samples, camera settings. Each of the last two is read
/// once, on request, because reading it adds warnings.
struct ScanNetTables {
  let files: ScanNetFiles
  let metadata: ScanNetMetadata
  /// Whether the `.txt` could be read and is not empty; without it cameras are unknown.
  let hasMetadata: Bool
  /// Why an existing `.txt` cannot be read; depth and cameras cannot be interpreted then.
  let metadataProblem: CaptureError?
  private let warnings: WarningCollector

  init(_ files: ScanNetFiles, _ warnings: WarningCollector) {
    self.files = files
    self.warnings = warnings
    var mapped: MappedFile?
    var problem: CaptureError?
    if let path = files.metadata {
      do throws(FileError) {
        let file = try MappedFile(path)
        mapped = file.count > 0 ? file : nil
      } catch {
        problem = CaptureError(reasonOf: error, at: path)
      }
    }
    metadataProblem = problem
    hasMetadata = mapped != nil
    // The app writes less than 1 KiB.
    metadata =
      mapped.map { file in
        ScanNetMetadata(file.withBytes(in: 0..<1_048_576) { $0.withUnsafeBytes(Array.init) })
      } ?? ScanNetMetadata()
  }

  /// The IMU stream, and the times of its first and last samples.
  func imu() -> (stream: StreamState<IMUStream>, start: Timestamp?, end: Timestamp?) {
    func missing(_ why: String) -> (StreamState<IMUStream>, Timestamp?, Timestamp?) {
      if !files.outside.contains("\(files.stem).imu") {
        warnings.add(.imuMissing, "imu", "\(files.stem).imu \(why): there are no IMU tables")
      }
      return (.absent("\(files.stem).imu \(why)"), nil, nil)
    }
    guard let path = files.imu else { return missing("is missing") }
    do {
      let file = try MappedFile(path)
      guard file.count > 0 else { return missing("is empty") }
      try InputLimits.samplesOfIMU.check(file.count / ScanNetIMU.recordBytes, of: path)
      let imu = ScanNetIMU(
        file, name: path.shownName, declared: metadata.count("numIMUmeasurements"), into: warnings)
      return (.present(imu.stream), imu.start, imu.end)
    } catch {
      let problem = CaptureError(reasonOf: error, at: path)
      return (.unreadable(problem), nil, nil)
    }
  }

  /// - Parameter depthRecords: the frame count of the depth file, if any.
  func cameraSettings(frameCount: Int, depthRecords: Int?) -> StreamState<CameraSettingsStream> {
    guard let path = files.camera else {
      missing("camera", "there are no camera settings")
      return .absent("\(files.stem).camera is missing")
    }
    let content: ScanNetCameraSettings.Content
    do {
      let file = try MappedFile(path)
      guard file.count > 0 else {
        missing("camera", "there are no camera settings", isEmpty: true)
        return .absent("\(path.shownName) is empty")
      }
      content = ScanNetCameraSettings.read(
        file, name: path.shownName, frames: frameCount, into: warnings)
    } catch {
      return .unreadable(CaptureError(reasonOf: error, at: path))
    }
    guard case .settings(let records, let rows) = content else {
      return .absent("\(path.shownName) has a layout other than v1")
    }
    if let depthRecords {
      warnings.add(
        .frameCountMismatch, "cameraSettings", count: abs(records - depthRecords),
        "\(path.shownName) holds \(records) records for \(depthRecords) depth frames: "
          + LossWords.unplaced(records - depthRecords))
    }
    var description = StreamDescription(
      file: path.shownName, encoding: "scannet-camera-v1", frames: records)
    description.pairing = depthRecords.map {
      .byRank(records, with: "depth frames", $0, isDoubtful: records != $0)
    }
    return .present(CameraSettingsStream(description: description, rows: rows))
  }

  /// Warns of an absent or empty file, unless a link out of the folder was reported in its place.
  func missing(_ ending: String, _ consequence: String, isEmpty: Bool = false) {
    let name = "\(files.stem).\(ending)"
    guard !files.outside.contains(name) else { return }
    warnings.add(
      .missingFile, name, "\(name) is \(isEmpty ? "empty" : "missing"): \(consequence)")
  }
}
