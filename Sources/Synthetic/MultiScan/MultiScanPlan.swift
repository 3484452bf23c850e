import Media

/// What a MultiScan capture contains in addition to pictures and samples.
struct MultiScanPlan {
  let generation: MultiScanGeneration
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
