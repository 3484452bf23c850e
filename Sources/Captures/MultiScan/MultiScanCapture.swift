import Media
import Core
import SystemPackage

/// Builds the capture from the tables of its files: pairs frames, assigns times, builds the
/// streams. Each aspect is an extension. A `make…` function adds to `warnings`, so it must be
/// called only once.
struct MultiScanCapture {
  let contents: MultiScanTables
  let warnings: WarningCollector
  let frames: MultiScanFrames

  init(_ contents: MultiScanTables, warnings: WarningCollector) {
    var contents = contents
    self.warnings = warnings
    frames = MultiScanFrames(&contents)
    self.contents = contents
  }

  func capture() -> Capture {
    let files = contents.files
    var capture = Capture(
      id: files.stem, family: .multiscan, generation: contents.generation.rawValue,
      folder: files.folder, clock: clock)
    capture.device.id = contents.metadata?.deviceID
    capture.device.name = contents.metadata?.deviceName
    capture.device.model = contents.metadata?.deviceType
    capture.scene.type = contents.metadata?.sceneType
    capture.scene.description = contents.metadata?.sceneDescription
    capture.user = contents.metadata?.userName
    capture.recordedAt = MultiScanFiles.recordedAt(stem: files.stem)
    capture.frames = frames.frames
    capture.color = makeColor()
    capture.depth = makeDepth()
    capture.confidence = makeConfidence()
    capture.imu = makeIMU()
    capture.poses = makePoses()
    capture.intrinsics = intrinsics
    capture.cameraSettings = cameraSettings
    capture.geo = geo
    capture.alignment = alignment
    capture.files = filesOfParts
    capture.completeness = completeness
    warnOfMissingFiles()
    warnOfLengths()
    warnOfTimes()
    capture.warnings = warnings.warnings
    claim(&capture)
    return capture
  }

  /// Uptime if the app wrote any times, else the video's own clock.
  private var clock: CaptureClock {
    contents.linesInUse == nil && contents.earliestMotion == nil
      ? CaptureClock(.video, unit: "ns") : CaptureClock(.uptime, unit: "ns")
  }

  /// A description with the facts that all frame streams have.
  func description(
    _ file: String, encoding: String, width: Int?, height: Int?, frames: Int, declared: Int?,
    times: [Timestamp?]
  ) -> StreamDescription {
    var description = StreamDescription(
      file: file, encoding: encoding, width: width, height: height, frames: frames,
      declaredFrames: declared)
    let steps = TimeSteps(ofNeighbors: times)
    description.firstTimestamp = times.lazy.compactMap(\.self).first
    description.lastTimestamp = times.reversed().lazy.compactMap(\.self).first
    description.rateHz = steps.rateHz
    description.gaps = steps.gaps(
      above: MultiScanReader.description.frameGapFactor)
    return description
  }
}
