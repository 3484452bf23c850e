import Core
import Media

/// What a reader must find in a MultiScan capture, computed from the plan by the rules of the
/// format.
extension Synthesis<MultiScanFamily> {
  func expectation(motionStart: Int64?) -> Expectation {
    var expectation = Expectation()
    let depth =
      plan.hasDepthFile && plan.generation.hasDepth
      ? plan.lateDepth..<max(plan.lateDepth, plan.depthFrames) : 0..<0
    for frame in 0..<plan.canonicalFrames {
      expectation.add(
        recorded(frame, motionStart: motionStart), hasColor: frame < plan.readablePictures,
        hasDepth: depth.contains(frame))
    }
    expectation.warnings = plan.warnings(
      expectation.frames, depthPixels: rig.depth.width * rig.depth.height)
    return expectation
  }
}

extension MultiScanPlan {
  fileprivate func warnings(_ times: [Int64?], depthPixels: Int) -> WarningTally {
    var warnings = WarningTally(namesSubjects: false)
    countTimes(&warnings, times)
    countStreams(&warnings, depthPixels: depthPixels)
    countLengths(&warnings)
    countFiles(&warnings)
    countMotion(&warnings)
    return warnings
  }

  private func countTimes(_ warnings: inout WarningTally, _ times: [Int64?]) {
    warnings.addSteps(times)
    warnings.add("pose-jump", damage.poseJump != nil)
    if !generation.hasCameraInfo || generation == .androidARCore {
      warnings.add("pairing-approximate", readablePictures)
    } else if readablePictures < frames {
      // Even times of pictures do not tell whether the first or the last ones are missing; depth that
      // breaks off, too, does.
      let kept = TimeStepCount(Array(times.prefix(readablePictures)), gapFactor: 1.4)
      if kept.gaps == 0, TimeStepCount(times, gapFactor: 1.5).gaps > 0 || !endsInDepthFrame {
        warnings.add("pairing-approximate", readablePictures)
      }
    }
  }

  private func countStreams(_ warnings: inout WarningTally, depthPixels: Int) {
    // ARCore appends copies of the last line, depth and confidence until depth is as long as the video.
    warnings.add("trailing-data", lateDepth)
    if hasDepthFile {
      warnings.add("truncated-stream", endsInDepthFrame)
      warnings.add("trailing-data", depthTailBytes > 0)
      warnings.add("non-finite-value", nonFiniteFrame != nil)
    }
    warnings.add("truncated-stream", hasEmptyConfidence)
    warnings.add("multiple-streams", splitsConfidence)
    warnings.add("multiple-streams", generation == .iosDual)
    if generation == .iosStereo,
      depthPixels * 2 > Self.compressorBytes
    {
      warnings.add("corrupt-record", depthFrames)
    }
    if generation.hasCameraInfo {
      warnings.add("corrupt-record", (0..<frames).count { !hasLine($0) })
    }
  }

  private func countLengths(_ warnings: inout WarningTally) {
    // Without camera info only the metadata states the length of a stream. ARCore's counts are not
    // compared, and its video is complete.
    let isCompared = hasMetadata || generation.hasCameraInfo
    guard isCompared, generation != .androidARCore else { return }
    let color = hasVideo && hasVideoIndex ? pictures : nil
    let depth = generation.hasDepth && hasDepthFile ? depthFrames : nil
    let confidence =
      generation.hasConfidence && hasConfidenceFile
      ? (hasEmptyConfidence ? 0 : confidenceFrames) : nil
    warnings.addLengths(
      [("color", color), ("depth", depth), ("confidence", confidence)], expected: frames)
    warnings.addDifference(color: color, depth: depth)
  }

  private func countFiles(_ warnings: inout WarningTally) {
    let needsMetadata = !generation.hasCameraInfo
    if generation == .androidPlain || (!hasMetadata && needsMetadata) {
      warnings.add("calibration-missing")
    }
    let files = [hasMetadata, hasVideo, hasDepthFile, hasConfidenceFile]
    warnings.add("missing-file", files.count { !$0 })
  }

  private func countMotion(_ warnings: inout WarningTally) {
    guard generation.hasMotion else { return }
    let files = MultiScanMotion.files.count { !missingMotion.contains($0.fileExtension) }
    if !hasMotionHeaders { warnings.add("truncated-stream", files) }
    warnings.add("imu-partial-record", motionPartialBytes > 0)
    if motionClaimSurplus != 0, hasMotionHeaders {
      warnings.add("frame-count-mismatch", abs(motionClaimSurplus))
    }
    warnings.add("missing-file", missingMotion.count)
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
