extension StrayScannerFamily {
  static let plannedFaults: [Fault] = depth + confidence + video + rows + times + motion + matrix

  private static let depth =
    [
      Fault("depth-hole", "depth", "the depth files of frames 4 and 5 are not there") {
        $0.depth.edits = [4: .absent, 5: .absent]
      }
    ] + Fault.files("depth", "depth file", \.depth, [(.empty, 4), (.cut, 6)])
    + Fault.files("depth", "depth file", \.depth, [(.otherKind, 7)], in: { $0 != .npy })
    + Fault.files("depth", "depth file", \.depth, [(.otherSize, 5)]) + [
      Fault("far-number", "depth", "a depth file has a number that no recording has") {
        $0.depth.hasFarNumber = true
      },
      Fault("missing-depth", "depth", "no depth") { $0.depth.isAbsent = true },
      Fault(
        "png-and-array", "depth", "frame 3 has a PNG beside its array, which counts; no warning",
        in: { $0 == .npy }
      ) {
        $0.doubledFrame = 3
      },
    ]

  private static let confidence =
    Fault.files(
      "confidence", "confidence file", \.confidence,
      [(.absent, 5), (.empty, 3), (.cut, 8), (.otherKind, 6), (.otherSize, 2)],
      in: \.hasConfidence) + [
      Fault("missing-confidence", "confidence", "no confidence", in: \.hasConfidence) {
        $0.confidence.isAbsent = true
      }
    ]

  private static let video = [
    Fault("missing-video", "video", "no video") { $0.video = .absent },
    Fault("killed-app", "video", "the video has no index, and there is no camera matrix") {
      $0.video = .withoutIndex
      $0.hasMatrix = false
    },
    Fault(
      "encoded-again", "video", "the video is a copy without the picture that the edit list hides"
    ) {
      $0.video = .encodedAgain
    },
    Fault("short-video", "video", "the last two frames have no picture") {
      $0.surplusPictures = -2
    },
    Fault("surplus-picture", "video", "one picture more than rows") {
      $0.surplusPictures = 1
    },
    Fault("b-frames", "video", "pictures are stored in another order; no warning") {
      $0.hasBFrames = true
    },
  ]

  private static let rows = [
    Fault("missing-rows", "rows", "no odometry.csv") { $0.odometry = .absent },
    Fault("no-column", "rows", "odometry.csv has no column qy: it cannot be read") {
      $0.odometry = .withoutColumn
    },
    Fault("lost-row", "rows", "frame 5 has no row") { $0.rowEdits[5] = .absent },
    Fault("broken-row", "rows", "the time of frame 3 is no number") {
      $0.rowEdits[3] = .broken
    },
    Fault("repeated-row", "rows", "frame 4 has a second row") { $0.rowEdits[4] = .repeated },
    Fault("nan-pose", "rows", "a number of pose 6 is nan") { $0.rowEdits[6] = .notFinite },
    Fault(
      "empty-intrinsics", "rows", "frame 2 has no intrinsics of its own; no warning",
      in: \.hasIntrinsicsPerFrame
    ) {
      $0.rowEdits[2] = .withoutIntrinsics
    },
    Fault("cut-rows", "rows", "odometry.csv ends inside a line") { $0.cutsLastRow = true },
    Fault("untracked-start", "poses", "the first three positions are exactly zero") {
      $0.untrackedRows = 3
    },
    .poseJump(),
  ]

  private static let times = [.gap("three", 3)] + Fault.disorder

  private static let motion = [
    Fault("missing-imu", "imu", "no imu.csv") { $0.motion = .absent },
    Fault("empty-imu", "imu", "imu.csv is a header alone") { $0.motion = .headerAlone },
    Fault("imu-column", "imu", "imu.csv has no column alpha_z: it cannot be read") {
      $0.motion = .withoutColumn
    },
    Fault("imu-late", "imu", leastFrames: 60, "the samples begin half a second late") {
      $0.motionDelay = 0.5
    },
    Fault("broken-sample", "imu", "a number of a sample is text") {
      $0.hasBrokenSample = true
    },
    Fault("nan-sample", "imu", "a number of a sample is nan") { $0.hasNaNSample = true },
    Fault("cut-imu", "imu", "imu.csv ends inside a line") { $0.cutsLastSample = true },
  ]

  private static let matrix = [
    Fault("missing-matrix", "matrix", "no camera_matrix.csv") { $0.hasMatrix = false }
  ]
}
