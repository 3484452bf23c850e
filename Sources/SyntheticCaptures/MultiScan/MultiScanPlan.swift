import Codecs

/// What is written into a MultiScan capture besides pictures and samples.
struct MultiScanPlan {
  let generation: MultiScanGeneration
  /// Camera frames of the recording.
  let frames: Int

  /// Whole depth frames in the stream; with `endsInDepthFrame` half of one more, and no end mark.
  var depthFrames: Int
  var endsInDepthFrame = false
  var depthFormat = DeflateFormat.raw
  /// Bytes in the stream behind the last frame.
  var depthTailBytes = 0
  var nonFiniteFrame: Int?
  var confidenceFrames: Int
  var confidenceFormat = DeflateFormat.raw
  /// The first half and the second half of the frames are streams of their own.
  var splitsConfidence = false
  /// A file of 0 bytes.
  var hasEmptyConfidence = false
  /// Frames at the start of an ARCore recording that have no depth yet.
  var lateDepth = 0

  var pictures: Int
  var hasVideo = true
  var hasVideoIndex = true

  var brokenLines: Set<Int> = []
  var cutsLastLine = false
  var lineEnd = "\n"
  var gap: (afterFrame: Int, frames: Int)?
  var poseJumpFrame: Int?
  /// The time of this line repeats the one before.
  var repeatedTime: Int?

  var hasMetadata = true
  var hasDepthFile = true
  var hasConfidenceFile = true

  var hasMotionHeaders = true
  var motionPartialBytes = 0
  /// Added to the number of records that the header of `acce` claims.
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

  /// Pictures that a reader can decode.
  var readablePictures: Int { hasVideo && hasVideoIndex ? pictures : 0 }

  /// Frame numbers of a reader: 0 ..< this.
  var canonicalFrames: Int {
    max(
      readablePictures, generation.hasCameraInfo ? frames : 0,
      hasDepthFile ? depthFrames : 0,
      hasConfidenceFile && !hasEmptyConfidence ? confidenceFrames : 0
    )
  }

  /// Camera info lines that hold something.
  func hasLine(_ frame: Int) -> Bool {
    generation.hasCameraInfo && frame < frames && !brokenLines.contains(frame)
      && !(cutsLastLine && frame == frames - 1)
  }
}
