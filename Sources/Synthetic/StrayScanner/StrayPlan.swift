/// What a Stray Scanner capture contains in addition to pictures and samples.
struct StrayPlan: TrackedPlan {
  enum Video {
    /// The first picture lies before the start of the movie, and an edit list hides it.
    case asRecorded
    /// A copy that a program made with its defaults: without the hidden picture, from time 0.
    case encodedAgain
    /// The app was killed: the index is not there, and neither is the camera matrix.
    case withoutIndex
    case absent
  }

  let generation: StrayScannerFamily
  let frames: Int

  var depth = FilesPlan()
  var confidence = FilesPlan()
  /// A frame that has a PNG beside its array.
  var doubledFrame: Int?

  var video = Video.asRecorded
  /// Pictures at the end without a row; negative: rows at the end without a picture.
  var surplusPictures = 0
  var hasBFrames = false

  var odometry = SideState.present
  var rowEdits: [Int: ItemEdit] = [:]
  var cutsLastRow = false
  var damage = FrameDamage()
  /// Rows at the start whose position is exactly zero.
  var untrackedRows = 0

  var motion = SideState.present
  /// Seconds from the first frame to the first sample.
  var motionDelay = 0.07
  var hasBrokenSample = false
  var hasNaNSample = false
  var cutsLastSample = false

  var hasMatrix = true

  init(generation: StrayScannerFamily, frames: Int) {
    self.generation = generation
    self.frames = frames
    confidence.isAbsent = !generation.hasConfidence
  }

  /// Frames that have a picture in the video, readable or not.
  var pictures: Range<Int> {
    switch video {
    case .absent: 0..<0
    case .encodedAgain: 1..<frames
    case .asRecorded, .withoutIndex: 0..<max(0, frames + surplusPictures)
    }
  }

  /// Frames whose picture a reader can decode.
  var readablePictures: Range<Int> { video == .withoutIndex ? 0..<0 : pictures }

  var canonicalFrames: Int { max(frames, readablePictures.upperBound) }

  func hasColor(_ frame: Int) -> Bool { readablePictures.contains(frame) }
  func hasDepth(_ frame: Int) -> Bool { frame < frames && depth.isReadable(frame) }

  /// Whether a reader keeps the row of a frame.
  func hasRow(_ frame: Int) -> Bool {
    odometry == .present && frame < frames && rowEdits[frame].isReadable
      && !(cutsLastRow && frame == frames - 1)
  }
}

extension StrayScannerFamily {
  static let plannedFaults: [Fault] = depth + confidence + video + rows + times + motion + matrix

  private static let depth =
    [
      Fault(
        "depth-hole", "depth", "the depth files of frames 4 and 5 are not there", \.depth.edits,
        [4: .absent, 5: .absent])
    ] + Fault.files("depth", "depth file", \.depth, [(.empty, 4), (.cut, 6)])
    + Fault.files("depth", "depth file", \.depth, [(.otherKind, 7)], in: { $0 != .npy })
    + Fault.files("depth", "depth file", \.depth, [(.otherSize, 5)]) + [
      Fault(
        "far-number", "depth", "a depth file has a number that no recording has",
        \.depth.hasFarNumber, true),
      Fault("missing-depth", "depth", "no depth", \.depth.isAbsent, true),
      Fault(
        "png-and-array", "depth", "frame 3 has a PNG beside its array, which counts; no warning",
        \.doubledFrame, 3, in: { $0 == .npy }),
    ]

  private static let confidence =
    Fault.files(
      "confidence", "confidence file", \.confidence,
      [(.absent, 5), (.empty, 3), (.cut, 8), (.otherKind, 6), (.otherSize, 2)],
      in: \.hasConfidence) + [
      Fault(
        "missing-confidence", "confidence", "no confidence", \.confidence.isAbsent, true,
        in: \.hasConfidence)
    ]

  private static let video = [
    Fault("missing-video", "video", "no video", \.video, .absent),
    Fault("killed-app", "video", "the video has no index, and there is no camera matrix") {
      $0.video = .withoutIndex
      $0.hasMatrix = false
    },
    Fault(
      "encoded-again", "video", "the video is a copy without the picture that the edit list hides",
      \.video, .encodedAgain),
    Fault("short-video", "video", "the last two frames have no picture", \.surplusPictures, -2),
    Fault("surplus-picture", "video", "one picture more than rows", \.surplusPictures, 1),
    Fault(
      "b-frames", "video", "pictures are stored in another order; no warning", \.hasBFrames, true),
  ]

  private static let rows = [
    Fault("missing-rows", "rows", "no odometry.csv", \.odometry, .absent),
    Fault(
      "no-column", "rows", "odometry.csv has no column qy: it cannot be read", \.odometry,
      .withoutColumn),
    Fault("lost-row", "rows", "frame 5 has no row", \.rowEdits[5], .absent),
    Fault("broken-row", "rows", "the time of frame 3 is no number", \.rowEdits[3], .broken),
    Fault("repeated-row", "rows", "frame 4 has a second row", \.rowEdits[4], .repeated),
    Fault("nan-pose", "rows", "a number of pose 6 is nan", \.rowEdits[6], .notFinite),
    Fault(
      "empty-intrinsics", "rows", "frame 2 has no intrinsics of its own; no warning", \.rowEdits[2],
      .withoutIntrinsics, in: \.hasIntrinsicsPerFrame),
    Fault("cut-rows", "rows", "odometry.csv ends inside a line", \.cutsLastRow, true),
    Fault(
      "untracked-start", "poses", "the first three positions are exactly zero", \.untrackedRows, 3),
    .poseJump(),
  ]

  private static let times = [.gap("three", 3)] + Fault.disorder

  private static let motion = [
    Fault("missing-imu", "imu", "no imu.csv", \.motion, .absent),
    Fault("empty-imu", "imu", "imu.csv is a header alone", \.motion, .headerAlone),
    Fault(
      "imu-column", "imu", "imu.csv has no column alpha_z: it cannot be read", \.motion,
      .withoutColumn),
    Fault(
      "imu-late", "imu", leastFrames: 60, "the samples begin half a second late", \.motionDelay, 0.5
    ),
    Fault("broken-sample", "imu", "a number of a sample is text", \.hasBrokenSample, true),
    Fault("nan-sample", "imu", "a number of a sample is nan", \.hasNaNSample, true),
    Fault("cut-imu", "imu", "imu.csv ends inside a line", \.cutsLastSample, true),
  ]

  private static let matrix = [
    Fault("missing-matrix", "matrix", "no camera_matrix.csv", \.hasMatrix, false)
  ]
}
