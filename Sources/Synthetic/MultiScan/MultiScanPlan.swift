import Media

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

  /// Whether a reader finds depth, whatever is in its file.
  var writesDepth: Bool { generation.hasDepth && hasDepthFile }
  var writesConfidence: Bool { generation.hasConfidence && hasConfidenceFile }

  var videoEndings: [String] {
    generation == .iosDual ? ["-primary.mp4", "-secondary.mp4"] : [".mp4"]
  }

  func hasColor(_ frame: Int) -> Bool { frame < readablePictures }
  func hasDepth(_ frame: Int) -> Bool { writesDepth && frame >= lateDepth && frame < depthFrames }

  /// Whether the frame's camera info line has content.
  func hasLine(_ frame: Int) -> Bool {
    generation.hasCameraInfo && frame < frames && !brokenLines.contains(frame)
      && !(cutsLastLine && frame == frames - 1)
  }
}

extension MultiScanFamily {
  static let plannedFaults: [Fault] = depth + confidence + video + lines + files + motion

  private static let depth = [
    Fault(
      "cut-depth", "depth stream", "the depth stream breaks off three frames early"
    ) {
      $0.depthFrames -= 3
      $0.endsInDepthFrame = true
    },
    Fault(
      "trailing-depth", "depth stream", "1000 bytes follow the last depth frame in the stream",
      \.depthTailBytes, 1000),
    Fault(
      "gzip-depth", "depth wrapper", "the depth stream has a gzip wrapper; no warning",
      \.depthFormat, .gzip),
    Fault(
      "zlib-depth", "depth wrapper", "the depth stream has a zlib wrapper; no warning",
      \.depthFormat, .zlib),
    Fault(
      "nan-depth", "depth values", "depth frame 2 holds NaN, infinities and negative values",
      \.nonFiniteFrame, 2),
  ].only(in: \.isLidar)

  private static let confidence = [
    Fault(
      "two-streams", "confidence", "confidence is two streams back to back", \.splitsConfidence,
      true),
    Fault("short-confidence", "confidence", "confidence lacks two frames") {
      $0.confidenceFrames -= 2
    },
    Fault(
      "missing-confidence", "confidence", "no confidence file", \.hasConfidenceFile, false),
  ].only(in: \.isLidar)

  private static let video = [
    Fault("short-video", "video", "the video lacks two pictures", in: \.isLidar) {
      $0.pictures -= 2
    },
    Fault("missing-video", "video", "no video file", \.hasVideo, false, in: \.isLidar),
    Fault(
      "killed-app", "recording end",
      "no metadata; streams, video and motion files as they were at that moment",
      in: { $0 == .iosLidar || $0 == .iosSingle }
    ) {
      $0.hasMetadata = false
      if $0.generation == .iosSingle {
        $0.hasMotionHeaders = false
      } else {
        $0.depthFrames -= 3
        $0.endsInDepthFrame = true
        $0.hasEmptyConfidence = true
        $0.hasVideoIndex = false
      }
    },
  ]

  private static let lines = [
    Fault(
      "broken-line", "lines", "camera info line 4 is no JSON", \.brokenLines, [4], in: \.isLidar),
    Fault(
      "cut-line", "lines", "the last camera info line is cut", \.cutsLastLine, true, in: \.isLidar),
    Fault(
      "crlf-lines", "line ends", "camera info lines end with CR LF; no warning", \.lineEnd, "\r\n",
      in: \.isLidar),
    .gap("two", 2),
    Fault("repeated-time", "times", "a time repeats the one before", in: \.isLidar) {
      $0.damage.repeatedFrame = $0.frames / 2
    },
    .poseJump(in: \.hasCameraInfo),
  ]

  private static let files = [
    Fault(
      "missing-metadata", "recording end", "no metadata file", \.hasMetadata, false,
      in: { $0 == .iosLidar || $0 == .iosSingle }),
    Fault(
      "missing-depth", "depth stream", "no depth file", \.hasDepthFile, false,
      in: { $0 == .iosLidar }),
  ]

  private static let motion = [
    Fault(
      "motion-partial", "motion end", "20 stray bytes end one motion file", \.motionPartialBytes,
      20),
    Fault(
      "motion-claim", "motion claim", "a motion file's header claims one record too many",
      \.motionClaimSurplus, 1),
    Fault(
      "missing-grav", "motion files", "the gravity file is absent", \.missingMotion, ["grav"]),
  ].only(in: \.hasMotion)
}
