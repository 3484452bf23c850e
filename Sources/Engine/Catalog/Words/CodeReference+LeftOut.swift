extension CodeReference {
  /// Why an export leaves out a frame, by the codes of `leftOut` in `export.json`.
  static let leftOut: [(code: String, words: CodeWords)] = [
    (
      "no-picture",
      CodeWords(
        "The export left out these frames because they have no color picture.",
        data: "The format needs a picture for every frame that it lists.",
        remedy: "`tables/frames.csv` lists the frames without color; warnings say why it is absent."
      )
    ),
    (
      "other-size",
      CodeWords(
        "The export left out these frames because their pictures have another size than the rest.",
        data: "The format has one picture size for all frames.",
        remedy: "Use the pictures in `color/`, which are complete, or another format.")
    ),
    (
      "no-depth",
      CodeWords(
        "The export left out these frames because they have no depth picture.",
        data: "The format pairs every color picture with one of depth.",
        remedy: "`tables/frames.csv` lists the frames without depth; warnings say why it is absent."
      )
    ),
    (
      "no-pose",
      CodeWords(
        "The export left out these frames because they have no camera pose.",
        data: "Tracking was lost or had not begun; a pose is never made up.",
        remedy: "There is nothing to do, unless `tables/poses.csv` is empty: then see the warnings."
      )
    ),
    (
      "no-intrinsics",
      CodeWords(
        "The export left out these frames because no intrinsics are known for them.",
        data: "Intrinsics that nobody measured are never written.",
        remedy:
          "Name a calibration with `--set STAGE.calibration=FILE` where the stage has that parameter."
      )
    ),
    (
      "no-time",
      CodeWords(
        "The export left out these frames because they have no time.",
        data: "The format names or sorts frames by time.",
        remedy: "Use a format that numbers its frames, such as nerfstudio or colmap.")
    ),
    (
      "time-not-increasing",
      CodeWords(
        "The export left out these frames because their time is not later than that of the frame before.",
        data: "In a format keyed by time the second of two equal times would replace the first.",
        remedy: "Use a format that numbers its frames, such as nerfstudio or colmap.")
    ),
    (
      "outside-imu",
      CodeWords(
        "The export left out these frames because no inertial samples surround them, or none lies between them and the picture before.",
        data:
          "A visual-inertial program needs samples before and after every picture, and between two pictures.",
        remedy:
          "There is nothing to do at the ends of a recording. Within it, look for `imu-gap`. Where samples are about as frequent as pictures, some pictures have none between them: that is expected."
      )
    ),
    (
      "no-position",
      CodeWords(
        "The export left out these frames because no position was recorded at them.",
        data: "Phones get a fix about every second, and some apps one for the whole recording.",
        remedy: "There is nothing to do: positions are not made up for them.")
    ),
    (
      "not-selected",
      CodeWords(
        "The export left out these frames because its parameters do not select them.",
        data: "`every`, `first`, `last`, `count` and `pick` choose frames.",
        remedy: "`scanmill params exports` lists these parameters.")
    ),
    (
      "not-in-format",
      CodeWords(
        "The export has no frames because its format has none: it draws a track, say.",
        data: "Everything that the format has room for is there.",
        remedy: "There is nothing to do. For something per frame take another format.")
    ),
  ]
}
