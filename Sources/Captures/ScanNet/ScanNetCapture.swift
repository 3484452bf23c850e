import Core
import Media
import SystemPackage

/// A capture while it is opened. Its files are read one after the other, because each read depends
/// on earlier ones.
struct ScanNetCapture {
  let tables: ScanNetTables
  let warnings = WarningCollector()

  init(_ files: ScanNetFiles) {
    tables = ScanNetTables(files, warnings)
  }

  var files: ScanNetFiles { tables.files }
  var metadata: ScanNetMetadata { tables.metadata }

  /// Reads everything. Never fails: unreadable streams are part of the result.
  func capture() -> Capture {
    var capture = Capture(
      id: files.stem, family: .scannet, generation: "v1", folder: files.folder,
      clock: CaptureClock(.uptime, unit: "s"))
    for name in files.outside {
      warnings.add(.pathOutsideCapture, name, "\(name) is a link out of the capture's folder")
    }
    capture.depthTimesNeedPictures = false
    describe(&capture)

    let depth = ScanNetDepth(files, metadata: metadata, into: warnings)
    let color = color(timedPictures: depth.layout?.colorTimes.count)
    let frameCount = max(depth.layout?.records.count ?? 0, color.value?.pictureCount ?? 0)
    let (imu, imuStart, imuEnd) = tables.imu()
    capture.imu = imu
    let times = ScanNetFrames(
      layout: depth.layout ?? ScanNetDepthLayout(), frameCount: frameCount,
      imuStart: imuStart)
    capture.frames = times.frames
    capture.depth = tables.metadataProblem.map { .unreadable($0) } ?? depth.state(times: times)
    capture.color = colorStream(color, times: times)
    capture.cameraSettings = tables.cameraSettings(
      frameCount: frameCount, depthRecords: depth.layout?.records.count)
    if let layout = depth.layout, let file = files.depth {
      times.report(
        layout: layout, depthFile: file.shownName,
        lastSample: imuEnd, into: warnings)
      compareCounts(depth: layout.records.count, color: color.value?.pictureCount)
      if case .present(var stream) = capture.color, let pictures = color.value?.pictureCount {
        let declared = metadata.count("numColorFrames")
        stream.description.pairing = .byRank(
          pictures, with: "depth frames", layout.records.count,
          isDoubtful: pictures < layout.records.count && declared != pictures)
        capture.color = .present(stream)
      }
    }
    calibrate(&capture, depth: depth, color.value)
    capture.files = partFiles()
    capture.completeness = completeness(of: depth)
    claim(&capture, depth: depth.layout, color: color.value)
    capture.warnings = warnings.warnings
    return capture
  }

  private func describe(_ capture: inout Capture) {
    if let file = files.metadata, tables.hasMetadata {
      metadata.check(file: file.shownName, into: warnings)
    } else if tables.metadataProblem == nil {
      tables.missing(
        "txt", "cameras and labels are unknown, depth is taken as 640x480",
        lack: files.metadata == nil ? "missing" : "empty, or has no keys")
    }
    capture.device.id = metadata.text("deviceId")
    capture.device.name = metadata.text("deviceName")
    capture.scene.label = metadata.text("sceneLabel")
    capture.scene.type = metadata.text("sceneType")
    capture.user = metadata.text("userName")
    capture.recordedAt = Self.date(ofStem: files.stem)
  }

  /// The date, such as `2017-03-14`, at the start of a stem. The hour after it has no AM or PM.
  static func date(ofStem stem: String) -> String? {
    guard let found = stem.prefixMatch(of: /([0-9]{4}-([0-9]{2})-([0-9]{2}))(?:_|$)/)?.output,
      ("01"..."12").contains(found.2), ("01"..."31").contains(found.3)
    else { return nil }
    return String(found.1)
  }

  private func compareCounts(depth: Int, color: Int?) {
    guard let color else { return }
    warnings.add(
      .depthShorterThanColor, "depth", count: color - depth,
      "\(depth) depth frames for \(color) pictures: the last pictures have no depth")
    guard color < depth else { return }
    warnings.add(
      .colorShorterThanDepth, "color", count: depth - color,
      "\(color) pictures for \(depth) depth frames")
    let declared = metadata.count("numColorFrames")
    guard declared != color else { return }
    // The encoder lost pictures somewhere inside, at unknown positions.
    warnings.add(
      .pairingApproximate, "color", count: color,
      "pictures were lost during encoding; where is not recorded, so they are paired by order, and those behind "
        + "the first loss \(LossWords.shifted(depth - color))")
    if let declared {
      warnings.add(
        .frameCountMismatch, "color", count: abs(declared - color),
        "\(files.stem).h264 holds \(color) pictures, but the metadata says \(declared)")
    }
  }

  /// Adds claims about stream lengths from metadata, depth and pictures.
  private func claim(
    _ capture: inout Capture, depth: ScanNetDepthLayout?, color: CaptureVideo?
  ) {
    let records = capture.depth.value.flatMap { _ in depth?.records.count }
    let times = metadata.count("numDepthFrames")
    capture.claims.add("depth", held: records, declared: times, by: "numDepthFrames")
    capture.claims.add(
      "color", held: color?.pictureCount, declared: metadata.count("numColorFrames"),
      by: "numColorFrames")
    capture.claims.add([
      StreamReport("depth", "the depth frames", records),
      StreamReport("color", "the pictures", color?.pictureCount),
    ])
    capture.claims.add(
      "cameraSettings", held: capture.cameraSettings.value?.description.frames,
      declared: records ?? color?.pictureCount, unit: "records are there",
      by: records == nil ? "the pictures" : "the depth frames")
    if let imu = capture.imu.value {
      capture.claims.add(
        "imu", held: imu.sampleCounts.values.max() ?? 0,
        declared: metadata.count("numIMUmeasurements"), unit: "records are there",
        by: "numIMUmeasurements")
    }
    // Times are stored after the last frame: a file that ends inside them has all frames.
    if let depth, depth.hasTimes, depth.truncatedAt != nil {
      capture.claims.add(
        "times", held: depth.depthTimes.count + depth.colorTimes.count,
        declared: times.map { $0.multipliedReportingOverflow(by: 2).partialValue },
        unit: "times of depth frames and pictures are there", by: "numDepthFrames")
    }
  }

  private func partFiles() -> [CapturePart: [FilePath]] {
    func list(_ paths: FilePath?...) -> [FilePath] { paths.compactMap { $0 } }
    return [
      .color: list(files.color),
      .depth: list(files.depth, files.metadata),
      .imu: list(files.imu),
      .cameraSettings: list(files.camera),
      // The size of the color pictures is that of the video.
      .intrinsics: list(files.metadata, files.color),
      .calibration: list(files.metadata, files.color),
      .frames: list(files.depth, files.metadata, files.color, files.imu),
    ].filter { !$0.value.isEmpty }
  }

  private func completeness(of depth: ScanNetDepth) -> UploadCompleteness {
    var absent = files.absentEndings
    if files.metadata != nil, tables.metadataProblem == nil, !tables.hasMetadata,
      !absent.contains(".txt")
    {
      // A `.txt` without keys says as much as none.
      absent.insert(".txt", at: 0)
    }
    var missing = absent.map { "\(files.stem)\($0) is missing" }
    let keys = ScanNetMetadata.closingKeys.filter { metadata.text($0) == nil }
    if tables.hasMetadata, !keys.isEmpty {
      missing.append("\(files.stem).txt is not closed: \(keys.joined(separator: ", ")) missing")
    }
    if let layout = depth.layout, layout.truncatedAt != nil {
      missing.append("\(files.stem).depth breaks off")
    }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }
}

extension ScanNetCapture {
  /// The `.h264` file: a bare stream, whose pictures are counted without decoding. Cost: one scan of the file for
  /// start codes.
  ///
  /// - Parameter timedPictures: number of color times, if any.
  func color(timedPictures: Int?) -> StreamState<CaptureVideo> {
    guard let path = files.color else {
      tables.missing("h264", "there is no color")
      return .absent("\(files.stem).h264 is missing")
    }
    let stated = [metadata.count("numColorFrames"), timedPictures].compactMap(\.self)
    do throws(CaptureError) {
      let video = try CaptureVideo(
        path, container: .annexB, statedCounts: Set(stated.filter { $0 > 0 }))
      if let video, video.pictureCount > 0 { return .present(video) }
      throw CaptureError(
        file: path, record: 0, byteOffset: 0, problem: "no picture of a bare H.264 stream in it")
    } catch {
      return .unreadable(error)
    }
  }

  func colorStream(
    _ color: StreamState<CaptureVideo>, times: ScanNetFrames
  ) -> StreamState<ColorStream> {
    color.map { stream(of: $0, times: times) }
  }

  /// Describes the pictures and compares their size with the declared one.
  private func stream(of video: CaptureVideo, times: ScanNetFrames) -> ColorStream {
    VideoOddities(video.track).report(to: warnings, beside: colorFit(video))
    var description = StreamDescription(
      file: video.name, encoding: VideoContainer.annexBEncoding,
      width: video.knownSize?.width ?? metadata.pixels("colorWidth"),
      height: video.knownSize?.height ?? metadata.pixels("colorHeight"),
      frames: video.pictureCount, declaredFrames: metadata.count("numColorFrames"))
    description.color = video.track.color
    let known = times.frames.prefix(video.pictureCount).compactMap(\.colorTimestamp)
    description.state(times: known)
    return video.stream(description)
  }

  /// Sets intrinsics and extrinsics, if there is a metadata file.
  func calibrate(
    _ capture: inout Capture, depth: ScanNetDepth, _ video: CaptureVideo?
  ) {
    guard tables.hasMetadata else {
      capture.intrinsics =
        tables.metadataProblem.map { .unreadable($0) } ?? .absent("\(files.stem).txt is missing")
      return
    }
    let fit = colorFit(video)
    let color = metadata.colorCamera(fit)
    if let obstacle = fit.obstacle {
      capture.intrinsics = .absent(obstacle)
    } else {
      // One identical row per canonical frame.
      let rows = color.map { camera in
        let isSizeKnown = camera.width > 0 && camera.height > 0
        let size = PictureSize(width: camera.width, height: camera.height)
        return capture.frames.indices.map {
          IntrinsicsRow($0, Intrinsics(camera), isSizeKnown ? size : nil)
        }
      }
      capture.intrinsics =
        rows.map { .present($0) } ?? .absent("\(files.stem).txt lacks color intrinsics")
    }
    if files.depth != nil {
      capture.alignment = metadata.calibration(
        depthSize: PictureSize(width: depth.width, height: depth.height), color: color)
    }
  }

  /// How the intrinsics in the metadata relate to the pictures. A side that the metadata do not
  /// state is that of the pictures.
  private func colorFit(_ video: CaptureVideo?) -> ColorFit {
    let stored = video?.knownSize
    guard let width = metadata.pixels("colorWidth") ?? stored?.width,
      let height = metadata.pixels("colorHeight") ?? stored?.height
    else { return ColorFit(stated: nil, stored: stored) }
    return ColorFit(stated: PictureSize(width: width, height: height), stored: stored)
  }
}

extension CaptureVideo {
  /// The size of the decoded pictures; `nil` when the stream's header does not state it.
  fileprivate var knownSize: PictureSize? {
    let size = track.uprightSize
    return size.width > 0 && size.height > 0 ? size : nil
  }
}

/// The side files of a capture: metadata, samples, camera settings. Each of the last two is read
/// once, on request, because reading it adds warnings.
struct ScanNetTables {
  let files: ScanNetFiles
  let metadata: ScanNetMetadata
  /// Whether the `.txt` could be read and has keys; without it cameras are unknown.
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
    // The app writes less than 1 KiB.
    metadata =
      mapped.map { file in
        ScanNetMetadata(file.withBytes(in: 0..<1_048_576) { $0.withUnsafeBytes(Array.init) })
      } ?? ScanNetMetadata()
    hasMetadata = !metadata.isEmpty
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
    let content: (records: Int, rows: [CameraSettingsRow])?
    do {
      let file = try MappedFile(path)
      guard file.count > 0 else {
        missing("camera", "there are no camera settings", lack: "empty")
        return .absent("\(path.shownName) is empty")
      }
      content = readCameraSettings(file, name: path.shownName, frames: frameCount)
    } catch {
      return .unreadable(CaptureError(reasonOf: error, at: path))
    }
    guard let (records, rows) = content else {
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
  func missing(_ ending: String, _ consequence: String, lack: String = "missing") {
    let name = "\(files.stem).\(ending)"
    guard !files.outside.contains(name) else { return }
    warnings.add(.missingFile, name, "\(name) is \(lack): \(consequence)")
  }
}

/// The `.camera` file: the tag `v1`, then five float32 per frame.
extension ScanNetTables {
  private static let tag = Array("v1".utf8)
  private static let recordBytes = 20

  private func readCameraSettings(
    _ file: MappedFile, name: String, frames: Int
  ) -> (records: Int, rows: [CameraSettingsRow])? {
    let (tag, recordBytes) = (Self.tag, Self.recordBytes)
    let start = file.withBytes(in: 0..<tag.count) { $0.withUnsafeBytes(Array.init) }
    guard tag.starts(with: start) else {
      warnings.add(
        .unsupportedStream, "cameraSettings",
        "\(name), byte 0: the tag is not v1; there are no camera settings")
      return nil
    }
    let records = max(0, file.count - tag.count) / recordBytes
    let end = tag.count + records * recordBytes
    if file.count != end {
      warnings.add(
        .truncatedStream, "cameraSettings",
        "\(name), record \(records), byte \(min(end, file.count)): the file ends inside a record")
    }
    var rows: [CameraSettingsRow] = []
    rows.reserveCapacity(min(records, frames))
    var nonFinite = 0
    file.withBytes { bytes in
      for frame in 0..<min(records, frames) {
        let row = Self.row(bytes, frame: frame)
        rows.append(row)
        if [row.gainRed, row.gainGreen, row.gainBlue, row.exposureSeconds, row.iso].contains(nil) {
          nonFinite += 1
        }
      }
    }
    warnings.add(
      .nonFiniteValue, "cameraSettings", count: nonFinite,
      "\(name): records with values that are not finite")
    return (records, rows)
  }

  /// Reads gains for red, green and blue, then exposure, then ISO; values that are not finite are
  /// unknown.
  private static func row(_ bytes: RawSpan, frame: Int) -> CameraSettingsRow {
    func value(_ index: Int) -> Double? {
      let offset = tag.count + frame * recordBytes + 4 * index
      guard let value = bytes.littleEndianFloat(at: offset), value.isFinite else { return nil }
      return Double(value)
    }
    return CameraSettingsRow(
      frame: frame, exposureSeconds: value(3), iso: value(4), gainRed: value(0),
      gainGreen: value(1), gainBlue: value(2))
  }
}
