import Media

extension MultiScanFamily {
  static let plannedFaults: [Fault] = depth + confidence + video + lines + files + motion

  private static let depth = [
    Fault(
      "cut-depth", "depth stream", "the depth stream breaks off three frames early", in: \.isLidar
    ) {
      $0.depthFrames -= 3
      $0.endsInDepthFrame = true
    },
    Fault(
      "trailing-depth", "depth stream", "1000 bytes follow the last depth frame in the stream",
      \.depthTailBytes, 1000, in: \.isLidar),
    Fault(
      "gzip-depth", "depth wrapper", "the depth stream has a gzip wrapper; no warning",
      \.depthFormat, .gzip, in: \.isLidar),
    Fault(
      "zlib-depth", "depth wrapper", "the depth stream has a zlib wrapper; no warning",
      \.depthFormat, .zlib, in: \.isLidar),
    Fault(
      "nan-depth", "depth values", "depth frame 2 holds NaN, infinities and negative values",
      \.nonFiniteFrame, 2, in: \.isLidar),
  ]

  private static let confidence = [
    Fault(
      "two-streams", "confidence", "confidence is two streams back to back", \.splitsConfidence,
      true, in: \.isLidar),
    Fault("short-confidence", "confidence", "confidence lacks two frames", in: \.isLidar) {
      $0.confidenceFrames -= 2
    },
    Fault(
      "missing-confidence", "confidence", "no confidence file", \.hasConfidenceFile, false,
      in: \.isLidar),
  ]

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
      20, in: \.hasMotion),
    Fault(
      "motion-claim", "motion claim", "a motion file's header claims one record too many",
      \.motionClaimSurplus, 1, in: \.hasMotion),
    Fault(
      "missing-grav", "motion files", "the gravity file is absent", \.missingMotion, ["grav"],
      in: \.hasMotion),
  ]
}
