/// A fault of an export of Polycam.
typealias PolycamFault = PlannedFault<PolycamGeneration, PolycamPlan>

enum PolycamFaults {
  static let all: [PolycamFault] = depth + confidence + color + cameras

  private static let depth = [
    PolycamFault("depth-hole", "depth", "the depth file of frame 4 is not there", in: \.hasDepth) {
      $0.depth.edits[4] = .absent
    },
    PolycamFault("empty-depth", "depth", "a depth file of no bytes", in: \.hasDepth) {
      $0.depth.edits[5] = .empty
    },
    PolycamFault("cut-depth", "depth", "half a depth file", in: \.hasDepth) {
      $0.depth.edits[6] = .cut
    },
    PolycamFault("depth-kind", "depth", "a depth file of eight bits", in: \.hasDepth) {
      $0.depth.edits[7] = .otherKind
    },
    PolycamFault("depth-size", "depth", "a depth file of half the size", in: \.hasDepth) {
      $0.depth.edits[3] = .otherSize
    },
    PolycamFault(
      "far-time", "depth", "a depth file is named by a time of another recording", in: \.hasDepth
    ) {
      $0.depth.hasFarNumber = true
    },
  ]

  private static let confidence = [
    PolycamFault(
      "confidence-hole", "confidence", "the confidence file of frame 5 is not there", in: \.hasDepth
    ) {
      $0.confidence.edits[5] = .absent
    },
    PolycamFault(
      "cut-confidence", "confidence", "half a confidence file", in: \.hasDepth
    ) {
      $0.confidence.edits[8] = .cut
    },
    PolycamFault(
      "missing-confidence", "confidence", "no confidence", in: \.hasDepth
    ) {
      $0.confidence.isAbsent = true
    },
  ]

  private static let color = [
    PolycamFault("color-hole", "color", "the picture of frame 6 is not there") {
      $0.color.edits[6] = .absent
    },
    PolycamFault("empty-color", "color", "a picture of no bytes") { $0.color.edits[3] = .empty },
    PolycamFault("cut-color", "color", "half a picture") { $0.color.edits[6] = .cut },
    PolycamFault("color-size", "color", "a picture of half the size") {
      $0.color.edits[9] = .otherSize
    },
    PolycamFault("missing-color", "color", "no pictures", in: \.hasDepth) {
      $0.color.isAbsent = true
    },
  ]

  private static let cameras = [
    PolycamFault("lost-camera", "cameras", "the camera file of frame 6 is not there") {
      $0.cameras[6] = .absent
    },
    PolycamFault("empty-camera", "cameras", "a camera file of no bytes") {
      $0.cameras[3] = .empty
    },
    PolycamFault("cut-camera", "cameras", "half a camera file") { $0.cameras[6] = .cut },
    PolycamFault("missing-pose", "cameras", "a camera file without a pose") {
      $0.cameras[4] = .withoutPose
    },
    PolycamFault("nan-pose", "cameras", "a number of pose 5 is NaN") {
      $0.cameras[5] = .notFinite
    },
    PolycamFault("other-time", "cameras", "a timestamp is not the time of the file's name") {
      $0.cameras[8] = .otherTime
    },
    PolycamFault("pose-jump", "poses", "tracking relocalizes 18 m away") {
      $0.poseJumpFrame = $0.frames / 2
    },
    PolycamFault("no-keyframes", "folders", "only the folder keyframes was copied; no warning") {
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
