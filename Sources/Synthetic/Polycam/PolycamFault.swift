extension PolycamFamily {
  static let plannedFaults: [Fault] = depth + confidence + color + cameras

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
    Fault(
      "far-time", "depth", "a depth file is named by a time of another recording", in: \.hasDepth
    ) {
      $0.depth.hasFarNumber = true
    },
  ]

  private static let confidence = [
    Fault(
      "confidence-hole", "confidence", "the confidence file of frame 5 is not there", \.confidence,
      5, .absent, in: \.hasDepth),
    Fault(
      "cut-confidence", "confidence", "half a confidence file", \.confidence, 8, .cut,
      in: \.hasDepth),
    Fault("missing-confidence", "confidence", "no confidence", in: \.hasDepth) {
      $0.confidence.isAbsent = true
    },
  ]

  private static let color = [
    Fault(
      "color-hole", "color", "the picture of frame 6 is not there", \.color, 6, .absent),
    Fault(
      "empty-color", "color", "a picture of no bytes", \.color, 3, .empty),
    Fault(
      "cut-color", "color", "half a picture", \.color, 6, .cut),
    Fault(
      "color-size", "color", "a picture of half the size", \.color, 9, .otherSize),
    Fault("missing-color", "color", "no pictures", in: \.hasDepth) {
      $0.color.isAbsent = true
    },
  ]

  private static let cameras = [
    Fault("lost-camera", "cameras", "the camera file of frame 6 is not there") {
      $0.cameras[6] = .absent
    },
    Fault("empty-camera", "cameras", "a camera file of no bytes") {
      $0.cameras[3] = .empty
    },
    Fault("cut-camera", "cameras", "half a camera file") { $0.cameras[6] = .cut },
    Fault("missing-pose", "cameras", "a camera file without a pose") {
      $0.cameras[4] = .withoutPose
    },
    Fault("nan-pose", "cameras", "a number of pose 5 is NaN") {
      $0.cameras[5] = .notFinite
    },
    Fault("other-time", "cameras", "a timestamp is not the time of the file's name") {
      $0.cameras[8] = .otherTime
    },
    Fault("pose-jump", "poses", "tracking relocalizes 18 m away") {
      $0.poseJumpFrame = $0.frames / 2
    },
    Fault("no-keyframes", "folders", "only the folder keyframes was copied; no warning") {
      $0.hasOuterFolder = false
    },
  ]
}

/// What Polycam exports.
enum PolycamGeneration: String, CaseIterable {
  /// Color, depth and confidence of every frame.
  case lidar
  /// Color of every frame, no depth.
  case photo

  var hasDepth: Bool { self == .lidar }
}
