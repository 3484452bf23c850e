import Core
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
    let frameCount = max(depth.layout?.records.count ?? 0, color.value?.pictures ?? 0)
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
      compareCounts(depth: layout.records.count, color: color.value?.pictures)
      if case .present(var stream) = capture.color, let pictures = color.value?.pictures {
        let declared = metadata.count("numColorFrames")
        stream.description.pairing = .byRank(
          pictures, with: "depth frames", layout.records.count,
          isDoubtful: pictures < layout.records.count && declared != pictures)
        capture.color = .present(stream)
      }
    }
    calibrate(&capture, depth: depth, colorFacts: color.value)
    capture.files = partFiles()
    capture.completeness = completeness(of: depth)
    claim(&capture, depth: depth.layout, color: color.value)
    capture.warnings = warnings.warnings
    return capture
  }

  private func describe(_ capture: inout Capture) {
    if let file = files.metadata, tables.hasMetadata {
      ScanNetKeys.check(metadata, file: file.shownName, into: warnings)
    } else if tables.metadataProblem == nil {
      tables.missing(
        "txt", "cameras and labels are unknown, depth is taken as 640x480",
        isEmpty: files.metadata != nil)
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
    let date = stem.utf8.prefix(10)
    guard date.count == 10, [nil, UInt8(ascii: "_")].contains(stem.utf8.dropFirst(10).first) else {
      return nil
    }
    for (position, byte) in date.enumerated() {
      let isDash = position == 4 || position == 7
      guard isDash ? byte == UInt8(ascii: "-") : (0x30...0x39).contains(byte) else { return nil }
    }
    let numbers = date.split(separator: UInt8(ascii: "-")).compactMap { Int(Substring($0)) }
    guard numbers.count == 3, (1...12).contains(numbers[1]), (1...31).contains(numbers[2]) else {
      return nil
    }
    return String(stem.prefix(10))
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
    _ capture: inout Capture, depth: ScanNetDepthLayout?, color: ScanNetColor.Facts?
  ) {
    let records = capture.depth.value.flatMap { _ in depth?.records.count }
    let times = metadata.count("numDepthFrames")
    capture.claims.add("depth", held: records, declared: times, by: "numDepthFrames")
    capture.claims.add(
      "color", held: color?.pictures, declared: metadata.count("numColorFrames"),
      by: "numColorFrames")
    capture.claims.addTogether([
      ("depth", records, "the depth frames"), ("color", color?.pictures, "the pictures"),
    ])
    capture.claims.add(
      "cameraSettings", held: capture.cameraSettings.value?.description.frames,
      declared: records ?? color?.pictures, unit: "records are there",
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
    let absent = files.absentEndings
    var missing = absent.map { "\(files.stem)\($0) is missing" }
    let keys = ScanNetKeys.closing.filter { metadata.text($0) == nil }
    if tables.hasMetadata, !keys.isEmpty {
      missing.append("\(files.stem).txt is not closed: \(keys.joined(separator: ", ")) missing")
    }
    if let layout = depth.layout, layout.truncatedAt != nil {
      missing.append("\(files.stem).depth breaks off")
    }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }
}
