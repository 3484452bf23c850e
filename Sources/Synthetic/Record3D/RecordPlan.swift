/// What a Record3D recording contains in addition to pictures.
struct RecordPlan: PicturesPlan {
  enum Intrinsics {
    case ofFrames
    /// `K` alone.
    case ofRecording
    /// `K` alone, row by row.
    case rowMajor
    case absent
  }

  enum Tracking {
    case present
    /// All poses are the identity, recorded with the front camera.
    case faceID
    /// All poses are the identity, recorded with the laser scanner.
    case lost
  }

  /// Where a copy of the archive ends.
  enum ArchiveEnd {
    case whole
    /// In the depth of the last frame but one.
    case inDepth
    /// In the metadata, which come last.
    case inMetadata
  }

  let form: Record3DFamily
  let frames: Int

  var color = FilesPlan()
  var depth = FilesPlan()
  var confidence = FilesPlan()
  /// Values lie in the files without compression.
  var isRaw = false
  /// A frame of depth with infinite and negative values.
  var nonFiniteFrame: Int?

  var metadata = SideState.present
  var times = SideState.present
  var intrinsics = Intrinsics.ofFrames
  var tracking = Tracking.present
  var statesDepthSize = true
  /// The frame whose rotation is all zeros.
  var zeroPoseFrame: Int?
  var damage = FrameDamage()

  var archiveEnd = ArchiveEnd.whole
  var hasHostileNames = false
  /// The frame whose color stands twice.
  var doubledFrame: Int?
  /// The frame whose depth has a wrong checksum.
  var wrongChecksumFrame: Int?

  init(form: Record3DFamily, frames: Int) {
    self.form = form
    self.frames = frames
    confidence.isAbsent = !form.hasConfidence
  }

  var fileEnding: String? { form == .r3d ? "r3d" : nil }

  /// Whether a reader finds the metadata.
  var isDescribed: Bool { metadata == .present && archiveEnd != .inMetadata }

  /// A picture of another size than stated stays a picture.
  func hasColor(_ frame: Int) -> Bool {
    color.isReadable(frame) || !color.isAbsent && color.edits[frame] == .otherSize
  }

  func hasDepth(_ frame: Int) -> Bool { depth.isReadable(frame) && frame != wrongChecksumFrame }
}

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
      "cut-archive", "archive end", "a copy that ends in the depth of the last frame but one"
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
      \.archiveEnd, .inMetadata),
    Fault(
      "hostile-names", "archive", "three names lead out of the archive", \.hasHostileNames, true),
    Fault(
      "doubled-entry", "archive", "the color of frame 2 is there twice", \.doubledFrame, 2),
    Fault(
      "wrong-checksum", "archive", "the checksum of a depth entry is wrong", \.wrongChecksumFrame,
      6),
  ].only(in: { $0 == .r3d })
}
