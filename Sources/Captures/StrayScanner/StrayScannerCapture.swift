import Media
import Core
import SystemPackage

/// Builds the capture from its tables and frames. A function that adds to `warnings` must be called
/// once only.
struct StrayScannerCapture {
  let tables: StrayScannerTables
  let frames: StrayScannerFrames
  let warnings: WarningCollector

  /// The size on devices, if no picture of a stream can be read.
  private static let usualSize = (width: 256, height: 192)

  init(
    _ tables: StrayScannerTables, _ frames: StrayScannerFrames, _ warnings: WarningCollector
  ) {
    self.tables = tables
    self.frames = frames
    self.warnings = warnings
  }

  func capture(id: String) throws(CaptureError) -> Capture {
    try refuseEmpty()
    var capture = Capture(
      id: id, family: .strayScanner, generation: tables.generation.rawValue,
      folder: tables.files.folder, clock: CaptureClock(clockBase, unit: "s"))
    // Motion has the device's clock.
    capture.framesShareIMUClock = clockBase == .uptime
    capture.frames = frames.frames
    capture.framesProblem = tables.odometry.error
    capture.color = color()
    capture.depth = depth
    capture.confidence = confidence
    capture.poses = poses()
    capture.intrinsics = intrinsics()
    capture.imu = imu()
    capture.cameraSettings = .absent("the app records no camera settings")
    capture.geo = .absent("the app records no positions")
    if tables.depth.value != nil {
      capture.alignment = .sameCamera(
        intrinsics: anyIntrinsics.map { ($0.fx, $0.fy, $0.cx, $0.cy) }, tables.color.value?.track)
    }
    reportFiles()
    reportLengths()
    reportTimes()
    capture.warnings = warnings.warnings
    capture.warn(ofLinksOutside: tables.files.outside)
    capture.files = filesOfParts
    capture.completeness = completeness
    claim(&capture)
    return capture
  }

  private var clockBase: CaptureClock.Base {
    guard tables.generation == .early else { return .uptime }
    return frames.frameOfPicture.isEmpty ? .nominal : .video
  }

  private var depth: StreamState<DepthStream> {
    tables.depth.map { files in
      var stream = DepthStream(
        files, folder: StrayScannerFiles.depthName, usualSize: Self.usualSize
      ) { $0 == "npy" ? "npy-u16" : "png-u16" }
      describe(frames.frames.map(\.depthTimestamp), in: &stream.description)
      return stream
    }
  }

  private var confidence: StreamState<ConfidenceStream> {
    tables.confidence.map { files in
      var stream = ConfidenceStream(
        files, folder: StrayScannerFiles.confidenceName, usualSize: Self.usualSize
      ) { _ in "png-u8" }
      let times = frames.frames.enumerated().map { files.hasFile($0) ? $1.timestamp : nil }
      describe(times, in: &stream.description)
      return stream
    }
  }

  private func color() -> StreamState<ColorStream> {
    tables.color.map { video in
      VideoOddities(video.track).report(to: warnings)
      if video.track.orientation.isIgnored {
        warnings.add(
          .rotationIgnored, "color",
          "the rotation of \(video.name) is not a multiple of 90 degrees; it is not applied")
      }
      var description = video.description()
      describe(frames.frames.map(\.colorTimestamp), in: &description)
      description.pairing = frames.pairing
      return video.stream(description, framesOfPictures: frames.frameOfPicture)
    }
  }

  /// Adds the times of a stream, `nil` for frames that it lacks.
  func describe(_ times: [Timestamp?], in description: inout StreamDescription) {
    let known = times.compactMap(\.self)
    let steps = TimeSteps(known)
    description.firstTimestamp = known.first
    description.lastTimestamp = known.last
    description.rateHz = steps.rateHz
    description.gaps = steps.gaps(above: StrayScannerReader.description.frameGapFactor)
  }

  private func refuseEmpty() throws(CaptureError) {
    guard frames.frames.isEmpty, tables.color.value == nil, tables.motion.value == nil else {
      return
    }
    if let error = tables.odometry.error ?? tables.color.error ?? tables.depth.error
      ?? tables.confidence.error ?? tables.motion.error
    {
      throw error
    }
    throw CaptureError(
      file: tables.files.folder, problem: "neither a picture nor a row nor an IMU sample",
      remedy: "check whether the upload is complete")
  }
}
