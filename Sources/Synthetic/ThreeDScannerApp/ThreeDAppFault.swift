extension ThreeDScannerAppFamily {
  static let plannedFaults: [Fault] = depth + confidence + color + frames + times + info

  private static let depth = [
    Fault(
      "depth-hole", "depth", "the depth file of frame 4 is not there", \.depth, 4, .absent,
      in: \.hasDepth),
    Fault(
      "empty-depth", "depth", "a depth file of no bytes", \.depth, 5, .empty, in: \.hasDepth),
    Fault(
      "cut-depth", "depth", "half a depth file", \.depth, 6, .cut, in: \.hasDepth),
    Fault(
      "depth-kind", "depth", "a depth file of eight bits", \.depth, 7, .otherKind, in: \.hasDepth),
    Fault(
      "depth-size", "depth", "a depth file of half the size", \.depth, 3, .otherSize, in: \.hasDepth
    ),
    Fault("far-number", "depth", "a depth file has a number that no recording has", in: \.hasDepth)
    {
      $0.depth.hasFarNumber = true
    },
  ]

  private static let confidence = [
    Fault(
      "confidence-hole", "confidence", "the confidence file of frame 5 is not there", \.confidence,
      5, .absent, in: \.hasDepth),
    Fault(
      "empty-confidence", "confidence", "a confidence file of no bytes", \.confidence, 3, .empty,
      in: \.hasDepth),
    Fault(
      "cut-confidence", "confidence", "half a confidence file", \.confidence, 8, .cut,
      in: \.hasDepth),
    Fault(
      "confidence-kind", "confidence", "a confidence file of color", \.confidence, 6, .otherKind,
      in: \.hasDepth),
    Fault(
      "confidence-size", "confidence", "a confidence file of half the size", \.confidence, 2,
      .otherSize, in: \.hasDepth),
  ]

  private static let color = [
    Fault(
      "color-hole", "color", "the color file of frame 6 is not there; no warning beside depth",
      \.color, 6, .absent),
    Fault(
      "empty-color", "color", "a color file of no bytes", \.color, 3, .empty),
    Fault(
      "cut-color", "color", "half a color file", \.color, 6, .cut),
    Fault(
      "color-size", "color", "a color file of half the size", \.color, 9, .otherSize),
    Fault("missing-color", "color", "no color; no warning", in: \.hasDepth) {
      $0.color.isAbsent = true
    },
  ]

  private static let frames = [
    Fault("missing-frames", "frame files", "no frame_*.json", in: \.hasDepth) {
      $0.hasFrameFiles = false
      $0.position = .none
    },
    Fault("lost-frame", "frame files", "frame_00006.json is not there") {
      $0.frameFiles[6] = .absent
    },
    Fault("empty-frame", "frame files", "a frame file of no bytes") {
      $0.frameFiles[3] = .empty
    },
    Fault("cut-frame", "frame files", "half a frame file") { $0.frameFiles[6] = .cut },
    Fault("missing-time", "frame files", "a frame file without a time") {
      $0.frameFiles[9] = .withoutTime
    },
    Fault("missing-pose", "frame files", "a frame file without a pose") {
      $0.frameFiles[4] = .withoutPose
    },
    Fault("nan-pose", "frame files", "a number of pose 5 is NaN") {
      $0.frameFiles[5] = .notFinite
    },
    Fault("zero-scale", "frame files", "the last element of pose 7 is 0") {
      $0.frameFiles[7] = .zeroScale
    },
    Fault("other-index", "frame files", "frame_index of frame 8 is another number") {
      $0.frameFiles[8] = .otherIndex
    },
  ]

  private static let times = [
    Fault("swapped-times", "times", "two neighboring times are exchanged") {
      $0.swappedFrame = $0.frames / 2
    },
    Fault("equal-times", "times", "two neighboring frames have one time") {
      $0.repeatedTimeFrame = $0.frames / 2
    },
    Fault("pose-jump", "poses", "tracking relocalizes 18 m away") {
      $0.poseJumpFrame = $0.frames / 2
    },
  ]

  private static let info = [
    Fault("missing-info", "info", "no info.json; no warning") { $0.hasInfo = false },
    Fault("other-count", "info", "info.json declares two frames more") {
      $0.surplusDeclared = 2
    },
    Fault("no-position", "position", "no position was recorded; no warning") {
      $0.position = .none
    },
    Fault("frame-positions", "position", "two frames have their own position; no warning") {
      $0.position = .ofFrames
    },
  ]
}

/// What 3D Scanner App records.
enum ThreeDAppGeneration: String, CaseIterable {
  /// Depth and confidence of every frame, color of every third.
  case lidar
  /// Color of every frame, no depth.
  case highResolution = "high-resolution"

  var hasDepth: Bool { self == .lidar }

  /// Steps between frames with color.
  var colorStep: Int { self == .lidar ? 3 : 1 }
}

/// What an export of 3D Scanner App contains in addition to pictures.
struct ThreeDAppPlan: SyntheticPlan {
  /// Damage to the JSON file of one frame.
  enum FrameFileEdit {
    case absent
    case empty
    /// Only the first half is there.
    case cut
    case withoutTime
    case withoutPose
    case notFinite
    /// The last element of the pose is 0.
    case zeroScale
    /// The file's own number is another one.
    case otherIndex
  }

  enum Position {
    case none
    /// One for the whole scan, in `info.json`.
    case ofScan
    /// Two frames have one of their own.
    case ofFrames
  }

  let generation: ThreeDAppGeneration
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
  /// The frame whose time is exchanged with that of the next one.
  var swappedFrame: Int?
  /// The frame that has the time of the one before.
  var repeatedTimeFrame: Int?
  var poseJumpFrame: Int?

  init(generation: ThreeDAppGeneration, frames: Int) {
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
    hasFrameFiles && ![.absent, .empty, .cut].contains(frameFiles[frame])
  }
}
