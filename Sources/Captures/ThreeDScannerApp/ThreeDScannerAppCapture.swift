import Media
import Core
import SystemPackage

/// Builds the capture from its tables and frames. A function that adds to `warnings` must be called
/// once only.
struct ThreeDScannerAppCapture {
  let tables: ThreeDScannerAppTables
  let frames: ThreeDScannerAppFrames
  let warnings: WarningCollector

  /// The size on devices, if no picture of a stream can be read.
  private static let usualSize = (width: 256, height: 192)

  init(
    _ tables: ThreeDScannerAppTables, _ frames: ThreeDScannerAppFrames,
    _ warnings: WarningCollector
  ) {
    self.tables = tables
    self.frames = frames
    self.warnings = warnings
  }

  func capture(id: String) throws(CaptureError) -> Capture {
    try refuseEmpty()
    var capture = Capture(
      id: id, family: .threeDScannerApp, generation: tables.files.generation.rawValue,
      folder: tables.files.folder, clock: CaptureClock(.uptime, unit: "s"))
    capture.recordedAt = startByFixes ?? FolderDate.recordedAt(id)
    capture.scene.label = tables.info?.title
    capture.frames = frames.frames
    capture.framesProblem = tables.problem
    capture.color = color
    capture.depth = depth
    capture.confidence = confidence
    capture.poses = poses()
    capture.intrinsics = intrinsics
    capture.cameraSettings = cameraSettings
    capture.geo = geo
    capture.imu = .absent("the app records no motion")
    if capture.depth.value != nil {
      capture.alignment = .sameCamera(
        intrinsics: anyIntrinsics,
        stored: tables.color.head.map { ($0.storedWidth, $0.storedHeight) })
    }
    reportFiles()
    reportLengths()
    reportTimes()
    capture.warnings = warnings.warnings
    if tables.files.isInfoOutside {
      capture.warn(ofLinksOutside: [ThreeDScannerAppFiles.infoName])
    }
    capture.files = filesOfParts
    capture.completeness = completeness
    claim(&capture)
    return capture
  }

  /// The start of the recording by the times of the position fixes, rounded to a second, as good as they are:
  /// `2022-03-04T10:25:18Z`. `nil` without any.
  private var startByFixes: String? {
    guard let first = frames.frames.lazy.compactMap(\.timestamp).first else { return nil }
    // A phone may deliver the fix of an earlier time: half of them are not late.
    let differences = tables.sorted.compactMap { _, file -> Double? in
      guard let fix = file.unixTime, let time = file.time else { return nil }
      return Double(fix.nanoseconds) - Double(time.nanoseconds)
    }
    guard !differences.isEmpty else { return nil }
    let seconds = ((Median.of(differences) + Double(first.nanoseconds)) / 1e9).rounded()
    return Int64(exactly: seconds).map { UTCText.text(seconds: $0) }
  }

  private var color: StreamState<ColorStream> {
    let files = tables.files[.color]
    guard !files.isEmpty else { return .absent("no frame_*.jpg") }
    var stream = ColorStream(tables.color, of: files, folder: Self.pattern(.color))
    describe(frames.frames.map(\.colorTimestamp), in: &stream.description)
    return .present(stream)
  }

  private var depth: StreamState<DepthStream> {
    guard !tables.files[.depth].isEmpty else { return .absent("no depth_*.png") }
    var stream = DepthStream(
      tables.depth, folder: Self.pattern(.depth), usualSize: Self.usualSize
    ) { _ in "png-u16" }
    describe(frames.frames.map(\.depthTimestamp), in: &stream.description)
    return .present(stream)
  }

  private var confidence: StreamState<ConfidenceStream> {
    guard !tables.files[.confidence].isEmpty else { return .absent("no conf_*.png") }
    var stream = ConfidenceStream(
      tables.confidence, folder: Self.pattern(.confidence), usualSize: Self.usualSize
    ) { _ in "png-u8" }
    let times = frames.frames.enumerated().map { frame, times in
      tables.confidence.hasFile(frame) ? times.timestamp : nil
    }
    describe(times, in: &stream.description)
    return .present(stream)
  }

  /// The name that stands for all files of a kind.
  static func pattern(_ kind: ThreeDScannerAppFiles.Kind) -> String {
    switch kind {
    case .frame: "frame_*.json"
    case .color: "frame_*.jpg"
    case .depth: "depth_*.png"
    case .confidence: "conf_*.png"
    }
  }

  /// Adds the times of a stream, `nil` for frames that it lacks. Steps have no usual length.
  func describe(_ times: [Timestamp?], in description: inout StreamDescription) {
    let known = times.compactMap(\.self)
    description.firstTimestamp = known.first
    description.lastTimestamp = known.last
    description.rateHz = TimeSteps(known).rateHz
  }

  private func refuseEmpty() throws(CaptureError) {
    let hasPicture =
      tables.color.first != nil || tables.depth.size != nil || tables.confidence.size != nil
    guard tables.rows.isEmpty, !hasPicture else { return }
    throw tables.problem
      ?? CaptureError(
        file: tables.files.folder, problem: "neither a picture nor a frame file can be read",
        remedy: "check whether the upload is complete")
  }
}
