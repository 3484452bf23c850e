/// A fault of a Stray Scanner capture.
typealias StrayFault = PlannedFault<StrayGeneration, StrayPlan>

enum StrayFaults {
  static let all: [StrayFault] = depth + confidence + video + rows + times + motion + matrix

  private static let depth = [
    StrayFault("depth-hole", "depth", "the depth files of frames 4 and 5 are not there") {
      $0.depth.edits = [4: .absent, 5: .absent]
    },
    StrayFault("empty-depth", "depth", "a depth file of no bytes") { $0.depth.edits[4] = .empty },
    StrayFault("cut-depth", "depth", "half a depth file") { $0.depth.edits[6] = .cut },
    StrayFault("depth-kind", "depth", "a depth file of eight bits", in: { $0 != .npy }) {
      $0.depth.edits[7] = .otherKind
    },
    StrayFault("depth-size", "depth", "a depth file of half the size") {
      $0.depth.edits[5] = .otherSize
    },
    StrayFault("far-number", "depth", "a depth file has a number that no recording has") {
      $0.depth.hasFarNumber = true
    },
    StrayFault("missing-depth", "depth", "no depth") { $0.depth.isAbsent = true },
    StrayFault(
      "png-and-array", "depth", "frame 3 has a PNG beside its array, which counts; no warning",
      in: { $0 == .npy }
    ) {
      $0.doubledFrame = 3
    },
  ]

  private static let confidence = [
    StrayFault(
      "confidence-hole", "confidence", "the confidence file of frame 5 is not there",
      in: \.hasConfidence
    ) {
      $0.confidence.edits[5] = .absent
    },
    StrayFault(
      "empty-confidence", "confidence", "a confidence file of no bytes", in: \.hasConfidence
    ) {
      $0.confidence.edits[3] = .empty
    },
    StrayFault("cut-confidence", "confidence", "half a confidence file", in: \.hasConfidence) {
      $0.confidence.edits[8] = .cut
    },
    StrayFault("confidence-kind", "confidence", "a confidence file of color", in: \.hasConfidence) {
      $0.confidence.edits[6] = .otherKind
    },
    StrayFault(
      "confidence-size", "confidence", "a confidence file of half the size", in: \.hasConfidence
    ) {
      $0.confidence.edits[2] = .otherSize
    },
    StrayFault("missing-confidence", "confidence", "no confidence", in: \.hasConfidence) {
      $0.confidence.isAbsent = true
    },
  ]

  private static let video = [
    StrayFault("missing-video", "video", "no video") { $0.video = .absent },
    StrayFault("killed-app", "video", "the video has no index, and there is no camera matrix") {
      $0.video = .withoutIndex
      $0.hasMatrix = false
    },
    StrayFault(
      "encoded-again", "video", "the video is a copy without the picture that the edit list hides"
    ) {
      $0.video = .encodedAgain
    },
    StrayFault("short-video", "video", "the last two frames have no picture") {
      $0.surplusPictures = -2
    },
    StrayFault("surplus-picture", "video", "one picture more than rows") {
      $0.surplusPictures = 1
    },
    StrayFault("b-frames", "video", "pictures are stored in another order; no warning") {
      $0.hasBFrames = true
    },
  ]

  private static let rows = [
    StrayFault("missing-rows", "rows", "no odometry.csv") { $0.odometry = .absent },
    StrayFault("no-column", "rows", "odometry.csv has no column qy: it cannot be read") {
      $0.odometry = .withoutColumn
    },
    StrayFault("lost-row", "rows", "frame 5 has no row") { $0.rowEdits[5] = .absent },
    StrayFault("broken-row", "rows", "the time of frame 3 is no number") {
      $0.rowEdits[3] = .broken
    },
    StrayFault("repeated-row", "rows", "frame 4 has a second row") { $0.rowEdits[4] = .repeated },
    StrayFault("nan-pose", "rows", "a number of pose 6 is nan") { $0.rowEdits[6] = .notFinite },
    StrayFault(
      "empty-intrinsics", "rows", "frame 2 has no intrinsics of its own; no warning",
      in: \.hasIntrinsicsPerFrame
    ) {
      $0.rowEdits[2] = .withoutIntrinsics
    },
    StrayFault("cut-rows", "rows", "odometry.csv ends inside a line") { $0.cutsLastRow = true },
    StrayFault("untracked-start", "poses", "the first three positions are exactly zero") {
      $0.untrackedRows = 3
    },
    StrayFault("pose-jump", "poses", "tracking relocalizes 1.8 m away") {
      $0.poseJumpFrame = $0.frames / 2
    },
  ]

  private static let times = [
    StrayFault("gap", "times", "three camera frames are dropped in the middle") {
      $0.gap = (afterFrame: $0.frames / 2, frames: 3)
    },
    StrayFault("swapped-times", "times", "two neighboring times are exchanged") {
      $0.swappedFrame = $0.frames / 2
    },
    StrayFault("equal-times", "times", "two neighboring frames have one time") {
      $0.repeatedTimeFrame = $0.frames / 2
    },
  ]

  private static let motion = [
    StrayFault("missing-imu", "imu", "no imu.csv") { $0.motion = .absent },
    StrayFault("empty-imu", "imu", "imu.csv is a header alone") { $0.motion = .headerAlone },
    StrayFault("imu-column", "imu", "imu.csv has no column alpha_z: it cannot be read") {
      $0.motion = .withoutColumn
    },
    StrayFault("imu-late", "imu", leastFrames: 60, "the samples begin half a second late") {
      $0.motionDelay = 0.5
    },
    StrayFault("broken-sample", "imu", "a number of a sample is text") {
      $0.hasBrokenSample = true
    },
    StrayFault("nan-sample", "imu", "a number of a sample is nan") { $0.hasNaNSample = true },
    StrayFault("cut-imu", "imu", "imu.csv ends inside a line") { $0.cutsLastSample = true },
  ]

  private static let matrix = [
    StrayFault("missing-matrix", "matrix", "no camera_matrix.csv") { $0.hasMatrix = false }
  ]
}
