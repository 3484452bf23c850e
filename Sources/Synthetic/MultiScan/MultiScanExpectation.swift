import Core
import Media

/// What a reader must find in a MultiScan capture, computed from the plan by the rules of the
/// format.
extension Synthesis<MultiScanFamily> {
  func expectation(motionStart: Int64?) -> Expectation {
    var expectation = Expectation()
    expectation.warnings.namesSubjects = false
    let depth =
      plan.hasDepthFile && plan.generation.hasDepth
      ? plan.lateDepth..<max(plan.lateDepth, plan.lateDepth + plan.depthFrames - filler) : 0..<0
    for frame in 0..<plan.canonicalFrames {
      expectation.add(
        recorded(frame, motionStart: motionStart), hasColor: frame < plan.readablePictures,
        hasDepth: depth.contains(frame))
    }
    countTimes(in: &expectation.warnings, expectation.frames)
    countStreams(in: &expectation.warnings)
    countLengths(in: &expectation.warnings)
    countFiles(in: &expectation.warnings)
    countMotion(in: &expectation.warnings)
    return expectation
  }

  /// ARCore appends copies of the last line, depth and confidence until depth is as long as the video.
  private var filler: Int { plan.lateDepth }

  private func countTimes(in warnings: inout WarningTally, _ times: [Int64?]) {
    warnings.addSteps(times)
    warnings.add("pose-jump", plan.damage.poseJump != nil)
    if !plan.generation.hasCameraInfo || plan.generation == .androidARCore {
      warnings.add("pairing-approximate", plan.readablePictures)
    } else if plan.readablePictures < plan.frames {
      // Even times of pictures do not tell whether the first or the last ones are missing; depth that
      // breaks off, too, does.
      let kept = TimeStepCount(Array(times.prefix(plan.readablePictures)), gapFactor: 1.4)
      if kept.gaps == 0, TimeStepCount(times, gapFactor: 1.5).gaps > 0 || !plan.endsInDepthFrame {
        warnings.add("pairing-approximate", plan.readablePictures)
      }
    }
  }

  private func countStreams(in warnings: inout WarningTally) {
    if plan.generation == .androidARCore { warnings.add("trailing-data", filler) }
    if plan.hasDepthFile {
      warnings.add("truncated-stream", plan.endsInDepthFrame)
      warnings.add("trailing-data", plan.depthTailBytes > 0)
      warnings.add("non-finite-value", plan.nonFiniteFrame != nil)
    }
    warnings.add("truncated-stream", plan.hasEmptyConfidence)
    warnings.add("multiple-streams", plan.splitsConfidence)
    warnings.add("multiple-streams", plan.generation == .iosDual)
    if plan.generation == .iosStereo,
      rig.depth.width * rig.depth.height * 2 > MultiScanPlan.compressorBytes
    {
      warnings.add("corrupt-record", plan.depthFrames)
    }
    if plan.generation.hasCameraInfo {
      warnings.add("corrupt-record", (0..<plan.frames).count { !plan.hasLine($0) })
    }
  }

  private func countLengths(in warnings: inout WarningTally) {
    // Without camera info only the metadata states the length of a stream. ARCore's counts are not
    // compared, and its video is complete.
    let isCompared = plan.hasMetadata || plan.generation.hasCameraInfo
    guard isCompared, plan.generation != .androidARCore else { return }
    let color = plan.hasVideo && plan.hasVideoIndex ? plan.pictures : nil
    let depth = plan.generation.hasDepth && plan.hasDepthFile ? plan.depthFrames : nil
    let confidence =
      plan.generation.hasConfidence && plan.hasConfidenceFile
      ? (plan.hasEmptyConfidence ? 0 : plan.confidenceFrames) : nil
    warnings.addLengths(
      [("color", color), ("depth", depth), ("confidence", confidence)], expected: plan.frames)
    warnings.addDifference(color: color, depth: depth)
  }

  private func countFiles(in warnings: inout WarningTally) {
    let needsMetadata = !plan.generation.hasCameraInfo
    if plan.generation == .androidPlain || (!plan.hasMetadata && needsMetadata) {
      warnings.add("calibration-missing")
    }
    let files = [plan.hasMetadata, plan.hasVideo, plan.hasDepthFile, plan.hasConfidenceFile]
    warnings.add("missing-file", files.count { !$0 })
  }

  private func countMotion(in warnings: inout WarningTally) {
    guard plan.generation.hasMotion else { return }
    let files = MultiScanMotion.files.count { !plan.missingMotion.contains($0.fileExtension) }
    if !plan.hasMotionHeaders { warnings.add("truncated-stream", files) }
    warnings.add("imu-partial-record", plan.motionPartialBytes > 0)
    if plan.motionClaimSurplus != 0, plan.hasMotionHeaders {
      warnings.add("frame-count-mismatch", abs(plan.motionClaimSurplus))
    }
    warnings.add("missing-file", plan.missingMotion.count)
  }
}

/// What a MultiScan capture contains in addition to pictures and samples.
struct MultiScanPlan: TrackedPlan {
  let generation: MultiScanFamily
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
  var damage = FrameDamage()

  var hasMetadata = true
  var hasDepthFile = true
  var hasConfidenceFile = true

  var hasMotionHeaders = true
  var motionPartialBytes = 0
  /// Added to the number of records in the header of `acce`.
  var motionClaimSurplus = 0
  var missingMotion: Set<String> = []

  init(generation: MultiScanFamily, frames: Int) {
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
