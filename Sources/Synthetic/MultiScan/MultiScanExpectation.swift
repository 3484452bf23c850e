import Media

/// What a reader must find in a MultiScan capture, computed from the plan by the rules of the
/// format.
struct MultiScanExpectation {
  let plan: MultiScanPlan
  private(set) var frameTimes: [Int64?] = []
  private(set) var colorTimes: [Int64?] = []
  private(set) var depthTimes: [Int64?] = []
  private(set) var warnings = WarningTally()

  init(plan: MultiScanPlan, times: MultiScanTimes, motionStart: Int64?) {
    self.plan = plan
    let depth =
      plan.hasDepthFile && plan.generation.hasDepth
      ? plan.lateDepth..<max(plan.lateDepth, plan.lateDepth + plan.depthFrames - filler) : 0..<0
    for frame in 0..<plan.canonicalFrames {
      let time = times.recorded(frame, motionStart: motionStart)
      frameTimes.append(time)
      colorTimes.append(frame < plan.readablePictures ? time : nil)
      depthTimes.append(depth.contains(frame) ? time : nil)
    }
    countTimes()
    countStreams()
    countLengths()
    countFiles()
    countMotion()
  }

  /// ARCore appends copies of the last line, depth and confidence until depth is as long as the video.
  private var filler: Int { plan.lateDepth }

  private mutating func countTimes() {
    let steps = TimeStepCount(frameTimes, gapFactor: 1.5)
    warnings.add("frame-gap", steps.gaps)
    warnings.add("timestamps-duplicate", steps.repeated)
    warnings.add("timestamps-unordered", steps.backward)
    if plan.poseJumpFrame != nil { warnings.add("pose-jump") }
    if !plan.generation.hasCameraInfo || plan.generation == .androidARCore {
      warnings.add("pairing-approximate", plan.readablePictures)
    } else if plan.readablePictures < plan.frames {
      // Even times of pictures do not tell whether the first or the last ones are missing; depth that
      // breaks off, too, does.
      let kept = TimeStepCount(Array(frameTimes.prefix(plan.readablePictures)), gapFactor: 1.4)
      if kept.gaps == 0, steps.gaps > 0 || !plan.endsInDepthFrame {
        warnings.add("pairing-approximate", plan.readablePictures)
      }
    }
  }

  private mutating func countStreams() {
    if plan.generation == .androidARCore { warnings.add("trailing-data", filler) }
    if plan.hasDepthFile {
      if plan.endsInDepthFrame { warnings.add("truncated-stream") }
      if plan.depthTailBytes > 0 { warnings.add("trailing-data") }
      if plan.nonFiniteFrame != nil { warnings.add("non-finite-value") }
    }
    if plan.hasEmptyConfidence { warnings.add("truncated-stream") }
    if plan.splitsConfidence { warnings.add("multiple-streams") }
    if plan.generation == .iosDual { warnings.add("multiple-streams") }
    if plan.generation.hasCameraInfo {
      warnings.add("corrupt-record", (0..<plan.frames).count { !plan.hasLine($0) })
    }
  }

  /// - Note: The caller counts stereo defects, because it knows the frame size.
  mutating func addStereoDefects(_ frames: Int) { warnings.add("corrupt-record", frames) }

  private mutating func countLengths() {
    // Without camera info only the metadata states the length of a stream. ARCore's counts are not
    // compared, and its video is complete.
    let isCompared = plan.hasMetadata || plan.generation.hasCameraInfo
    guard isCompared, plan.generation != .androidARCore else { return }
    let hasColor = plan.hasVideo && plan.hasVideoIndex
    let hasDepth = plan.generation.hasDepth && plan.hasDepthFile
    if hasColor { warnings.add("frame-count-mismatch", abs(plan.pictures - plan.frames)) }
    if hasDepth { warnings.add("frame-count-mismatch", abs(plan.depthFrames - plan.frames)) }
    if plan.generation.hasConfidence, plan.hasConfidenceFile {
      let counted = plan.hasEmptyConfidence ? 0 : plan.confidenceFrames
      warnings.add("frame-count-mismatch", abs(counted - plan.frames))
    }
    if hasColor, hasDepth {
      warnings.add("color-shorter-than-depth", plan.depthFrames - plan.pictures)
      warnings.add("depth-shorter-than-color", plan.pictures - plan.depthFrames)
    }
  }

  private mutating func countFiles() {
    if !plan.hasMetadata { warnings.add("missing-file") }
    let needsMetadata = !plan.generation.hasCameraInfo
    if plan.generation == .androidPlain || (!plan.hasMetadata && needsMetadata) {
      warnings.add("calibration-missing")
    }
    if !plan.hasVideo { warnings.add("missing-file") }
    if !plan.hasDepthFile { warnings.add("missing-file") }
    if !plan.hasConfidenceFile { warnings.add("missing-file") }
  }

  private mutating func countMotion() {
    guard plan.generation.hasMotion else { return }
    let files = MultiScanMotion.files.count { !plan.missingMotion.contains($0.fileExtension) }
    if !plan.hasMotionHeaders { warnings.add("truncated-stream", files) }
    if plan.motionPartialBytes > 0 { warnings.add("imu-partial-record") }
    if plan.motionClaimSurplus != 0, plan.hasMotionHeaders {
      warnings.add("frame-count-mismatch", abs(plan.motionClaimSurplus))
    }
    warnings.add("missing-file", plan.missingMotion.count)
  }
}

/// What a MultiScan capture contains in addition to pictures and samples.
struct MultiScanPlan: SyntheticPlan {
  let generation: MultiScanGeneration
  var hasDepthCamera: Bool { generation.hasDepth }
  /// Number of camera frames of the recording.
  let frames: Int

  /// Number of whole depth frames in the stream; with `endsInDepthFrame` half a frame follows,
  /// without end mark.
  var depthFrames: Int
  var endsInDepthFrame = false
  var depthFormat = DeflateFormat.raw
  /// Number of bytes in the stream after the last frame.
  var depthTailBytes = 0
  var nonFiniteFrame: Int?
  var confidenceFrames: Int
  var confidenceFormat = DeflateFormat.raw
  /// The two halves of the frames are separate streams.
  var splitsConfidence = false
  /// A file of 0 bytes.
  var hasEmptyConfidence = false
  /// Number of frames at the start of an ARCore recording without depth.
  var lateDepth = 0

  var pictures: Int
  var hasVideo = true
  var hasVideoIndex = true

  var brokenLines: Set<Int> = []
  var cutsLastLine = false
  var lineEnd = "\n"
  var gap: (afterFrame: Int, frames: Int)?
  var poseJumpFrame: Int?
  /// The line whose time repeats that of the previous line.
  var repeatedTime: Int?

  var hasMetadata = true
  var hasDepthFile = true
  var hasConfidenceFile = true

  var hasMotionHeaders = true
  var motionPartialBytes = 0
  /// Added to the number of records in the header of `acce`.
  var motionClaimSurplus = 0
  var missingMotion: Set<String> = []

  init(generation: MultiScanGeneration, frames: Int) {
    self.generation = generation
    self.frames = frames
    depthFrames = generation.hasDepth ? frames : 0
    confidenceFrames = generation.hasConfidence ? frames : 0
    // The stereo mode always loses a picture.
    pictures = generation == .iosStereo ? frames - 1 : frames
    if generation == .androidARCore { lateDepth = 3 }
  }

  /// Number of pictures that a reader can decode.
  var readablePictures: Int { hasVideo && hasVideoIndex ? pictures : 0 }

  /// Number of canonical frames of a reader.
  var canonicalFrames: Int {
    max(
      readablePictures, generation.hasCameraInfo ? frames : 0,
      hasDepthFile ? depthFrames : 0,
      hasConfidenceFile && !hasEmptyConfidence ? confidenceFrames : 0
    )
  }

  /// Whether the frame's camera info line has content.
  func hasLine(_ frame: Int) -> Bool {
    generation.hasCameraInfo && frame < frames && !brokenLines.contains(frame)
      && !(cutsLastLine && frame == frames - 1)
  }
}
