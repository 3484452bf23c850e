extension ThreeDScannerAppFamily {
  static let plannedFaults: [Fault] = depth + confidence + color + frames + times + info

  private static let depth =
    Fault.files(
      "depth", "depth file", \.depth,
      [(.absent, 4), (.empty, 5), (.cut, 6), (.otherKind, 7), (.otherSize, 3)], in: \.hasDepth) + [
      Fault(
        "far-number", "depth", "a depth file has a number that no recording has",
        \.depth.hasFarNumber, true, in: \.hasDepth)
    ]

  private static let confidence = Fault.files(
    "confidence", "confidence file", \.confidence,
    [(.absent, 5), (.empty, 3), (.cut, 8), (.otherKind, 6), (.otherSize, 2)], in: \.hasDepth)

  private static let color =
    [
      Fault(
        "color-hole", "color", "the color file of frame 6 is not there; no warning beside depth",
        \.color.edits[6], .absent)
    ] + Fault.files("color", "color file", \.color, [(.empty, 3), (.cut, 6), (.otherSize, 9)]) + [
      Fault(
        "missing-color", "color", "no color; no warning", \.color.isAbsent, true, in: \.hasDepth)
    ]

  private static let frames = [
    Fault("missing-frames", "frame files", "no frame_*.json", in: \.hasDepth) {
      $0.hasFrameFiles = false
      $0.position = .none
    },
    Fault("lost-frame", "frame files", "frame_00006.json is not there", \.frameFiles[6], .absent),
    Fault("empty-frame", "frame files", "a frame file of no bytes", \.frameFiles[3], .empty),
    Fault("cut-frame", "frame files", "half a frame file", \.frameFiles[6], .cut),
    Fault(
      "missing-time", "frame files", "a frame file without a time", \.frameFiles[9], .withoutTime),
    Fault(
      "missing-pose", "frame files", "a frame file without a pose", \.frameFiles[4], .withoutPose),
    Fault("nan-pose", "frame files", "a number of pose 5 is NaN", \.frameFiles[5], .notFinite),
    Fault(
      "zero-scale", "frame files", "the last element of pose 7 is 0", \.frameFiles[7], .zeroScale),
    Fault(
      "other-index", "frame files", "frame_index of frame 8 is another number", \.frameFiles[8],
      .otherKey),
  ]

  private static let times = Fault.disorder + [.poseJump("18 m", factor: 10)]

  private static let info = [
    Fault("missing-info", "info", "no info.json; no warning", \.hasInfo, false),
    Fault("other-count", "info", "info.json declares two frames more", \.surplusDeclared, 2),
    Fault("no-position", "position", "no position was recorded; no warning", \.position, .none),
    Fault(
      "frame-positions", "position", "two frames have their own position; no warning", \.position,
      .ofFrames),
  ]
}

/// What an export of 3D Scanner App contains in addition to pictures.
struct ThreeDAppPlan: TrackedPlan {
  enum Position {
    case none
    /// One for the whole scan, in `info.json`.
    case ofScan
    /// Two frames have one of their own.
    case ofFrames
  }

  let generation: ThreeDScannerAppFamily
  let frames: Int

  var color = PictureFilesPlan()
  var depth = PictureFilesPlan()
  var confidence = PictureFilesPlan()
  var frameFiles: [Int: FrameFileEdit] = [:]
  var hasFrameFiles = true
  var hasInfo = true
  /// Declared frames minus frames.
  var surplusDeclared = 0
  var position = Position.ofScan
  var damage = FrameDamage()

  init(generation: ThreeDScannerAppFamily, frames: Int) {
    self.generation = generation
    self.frames = frames
    depth.isAbsent = !generation.hasDepth
    confidence.isAbsent = !generation.hasDepth
  }

  var hasDepthCamera: Bool { generation.hasDepth }

  /// Frames that the app wrote a color picture for.
  var colorFrames: [Int] { Array(stride(from: 0, to: frames, by: generation.colorStep)) }

  /// Whether the frame has a color picture that can be decoded.
  func hasColor(_ frame: Int) -> Bool {
    frame % generation.colorStep == 0 && color.isReadable(frame)
  }

  /// Number of `frame_<k>.json`.
  var rowCount: Int {
    hasFrameFiles ? frames - frameFiles.values.count { $0 == .absent } : 0
  }

  /// Frames whose JSON file can be read.
  func isRead(_ frame: Int) -> Bool {
    hasFrameFiles && frameFiles[frame].isReadable
  }
}
