extension PolycamFamily {
  static let plannedFaults: [Fault] = depth + confidence + color + cameras

  private static let depth =
    Fault.files(
      "depth", "depth file", \.depth,
      [(.absent, 4), (.empty, 5), (.cut, 6), (.otherKind, 7), (.otherSize, 3)], in: \.hasDepth) + [
      Fault(
        "far-time", "depth", "a depth file is named by a time of another recording",
        \.depth.hasFarNumber, true, in: \.hasDepth)
    ]

  private static let confidence =
    Fault.files(
      "confidence", "confidence file", \.confidence, [(.absent, 5), (.cut, 8)], in: \.hasDepth) + [
      Fault(
        "missing-confidence", "confidence", "no confidence", \.confidence.isAbsent, true,
        in: \.hasDepth)
    ]

  private static let color =
    Fault.files(
      "color", "picture", \.color, [(.absent, 6), (.empty, 3), (.cut, 6), (.otherSize, 9)]) + [
      Fault("missing-color", "color", "no pictures", \.color.isAbsent, true, in: \.hasDepth)
    ]

  private static let cameras = [
    Fault(
      "lost-camera", "cameras", "the camera file of frame 6 is not there", \.cameras[6], .absent),
    Fault("empty-camera", "cameras", "a camera file of no bytes", \.cameras[3], .empty),
    Fault("cut-camera", "cameras", "half a camera file", \.cameras[6], .cut),
    Fault("missing-pose", "cameras", "a camera file without a pose", \.cameras[4], .withoutPose),
    Fault("nan-pose", "cameras", "a number of pose 5 is NaN", \.cameras[5], .notFinite),
    Fault(
      "other-time", "cameras", "a timestamp is not the time of the file's name", \.cameras[8],
      .otherKey),
    .poseJump("18 m", factor: 10),
    Fault(
      "no-keyframes", "folders", "only the folder keyframes was copied; no warning",
      \.hasOuterFolder, false),
  ]
}
