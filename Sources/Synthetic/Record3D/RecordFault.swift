extension Record3DFamily {
  static let plannedFaults: [Fault] =
    color + depth + confidence + metadata + times + poses + intrinsics + archive

  private static let color =
    [
      Fault("missing-frames", "pictures", "frames 4 and 5 have no files") {
        for frame in [4, 5] {
          $0.color.edits[frame] = .absent
          $0.depth.edits[frame] = .absent
          $0.confidence.edits[frame] = .absent
        }
      }
    ]
    + Fault.files(
      "color", "color file", \.color, [(.absent, 6), (.empty, 3), (.cut, 7), (.otherSize, 8)]) + [
      Fault("missing-color", "color", "no color", \.color.isAbsent, true)
    ]

  private static let depth =
    Fault.files(
      "depth", "depth file", \.depth, [(.absent, 3), (.empty, 5), (.cut, 6), (.otherSize, 7)]) + [
      Fault("missing-depth", "depth", "no depth", \.depth.isAbsent, true),
      Fault(
        "raw-copies", "compression", "values are stored without compression; no warning", \.isRaw,
        true, in: { $0 != .exr }),
      Fault(
        "infinite-depth", "depth values", "depth of frame 2 has infinite and negative values",
        \.nonFiniteFrame, 2),
      Fault(
        "far-number", "numbers", "a depth file has a number that no recording has",
        \.depth.hasFarNumber, true),
    ]

  private static let confidence =
    Fault.files(
      "confidence", "confidence file", \.confidence, [(.absent, 5), (.empty, 3), (.cut, 8)],
      in: \.hasConfidence) + [
      Fault(
        "missing-confidence", "confidence", "no confidence; no warning", \.confidence.isAbsent,
        true, in: \.hasConfidence)
    ]

  private static let metadata = [
    Fault("missing-metadata", "metadata", "no metadata", \.metadata, .absent, in: { $0 != .exr }),
    Fault("cut-metadata", "metadata", "half the metadata", \.metadata, .cut, in: { $0 != .exr }),
    Fault(
      "old-metadata", "metadata", "the depth size is not stated; no warning", \.statesDepthSize,
      false),
  ]

  private static let times =
    [
      Fault("missing-times", "times", "no times", \.times, .absent),
      Fault("few-times", "times", "the last two frames have no time", \.times, .short),
      .gap("three", 3),
    ] + Fault.disorder

  private static let poses = [
    Fault(
      "face-id", "poses", "recorded by the front camera, without poses; no warning", \.tracking,
      .faceID),
    Fault("no-tracking", "poses", "all poses are the identity", \.tracking, .lost),
    Fault("zero-pose", "poses", "the rotation of pose 5 is zero", \.zeroPoseFrame, 5),
    .poseJump(),
  ]

  private static let intrinsics = [
    Fault(
      "one-camera", "intrinsics", "only the first frame's intrinsics; no warning", \.intrinsics,
      .ofRecording),
    Fault(
      "row-major", "intrinsics", "the matrix is stored row by row; no warning", \.intrinsics,
      .rowMajor),
    Fault(
      "missing-intrinsics", "intrinsics", "no intrinsics", \.intrinsics, .absent, in: { $0 != .exr }
    ),
  ]

  private static let archive = [
    Fault(
      "cut-archive", "archive end", "a copy that ends in the depth of the last frame but one",
      in: { $0 == .r3d }
    ) {
      $0.archiveEnd = .inDepth
      $0.depth.edits[$0.frames - 2] = .absent
      $0.confidence.edits[$0.frames - 2] = .absent
      $0.color.edits[$0.frames - 1] = .absent
      $0.depth.edits[$0.frames - 1] = .absent
      $0.confidence.edits[$0.frames - 1] = .absent
    },
    Fault(
      "cut-archive-metadata", "archive end", "a copy that ends in the metadata, which come last",
      \.archiveEnd, .inMetadata, in: { $0 == .r3d }),
    Fault(
      "hostile-names", "archive", "three names lead out of the archive", \.hasHostileNames, true,
      in: { $0 == .r3d }),
    Fault(
      "doubled-entry", "archive", "the color of frame 2 is there twice", \.doubledFrame, 2,
      in: { $0 == .r3d }),
    Fault(
      "wrong-checksum", "archive", "the checksum of a depth entry is wrong", \.wrongChecksumFrame,
      6, in: { $0 == .r3d }),
  ]
}
