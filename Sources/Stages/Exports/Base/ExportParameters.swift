import Core
import Engine

/// Parameters that several exports share.
package enum ExportParameters {
  /// Chooses frames.
  package static let selection = CommonParameters.selection + PickParameters.picking

  package static let share = ParameterDescription(
    "share", .choice(["auto"] + FileSharing.allCases.map(\.rawValue)), default: .text("auto"),
    "How unchanged files are put here: same blocks, hard link or copy. auto: the first that the file system "
      + "allows. With link, a program that changes a picture in place changes both."
  ).forExperts()

  /// - Parameter standard: `same`, or `jpeg` if readers accept nothing else.
  package static func pictures(default standard: String) -> [ParameterDescription] {
    [
      ParameterDescription(
        "pictures", .choice(["same", "png", "jpeg"]), default: .text(standard),
        "same: the files of color/ as they are. png, jpeg: encoded again where they are not."),
      ParameterDescription(
        "quality", .integer(1...100), default: .integer(95),
        "Quality of JPEG that is encoded again; files of color/ that are JPEG stay as they are."
      ).needing("pictures", "jpeg"),
    ]
  }

  package static let depth = ParameterDescription(
    "depth", .choice(["auto", "native", "aligned"]), default: .text("auto"),
    "native: the depth camera's own grid. aligned: the color grid. auto: native when depth is "
      + "registered to color, else aligned.")

  package static func up(default standard: WorldUp) -> ParameterDescription {
    ParameterDescription(
      "up", .choice(WorldUp.allCases.map(\.rawValue)), default: .text(standard.rawValue),
      "app: the app's world (y up on phones). z: turned so that z is up.")
  }

  /// `imu.timeOffset` sets it for all formats.
  package static let timeOffset = TimeOffsetChoice.parameter("added to the times of pictures.")
    .shared(as: "imu", TimeOffsetChoice.name)

  package static let convention = ParameterDescription(
    "convention", .choice(["auto", "coremotion", "android"]), default: .text("auto"),
    "Which signs of acceleration the app recorded, if the reader determined them wrongly."
  ).forExperts()

  /// Noise densities, which are written only if they are set.
  package static let noise = [
    ParameterDescription(
      "gyroscopeNoise", .number(0...1e6), "Noise density, rad/s/√Hz; absent when not given."
    ).measured(in: "rad/s/√Hz"),
    ParameterDescription(
      "gyroscopeWalk", .number(0...1e6), "Random walk, rad/s²/√Hz; absent when not given."
    ).measured(in: "rad/s²/√Hz"),
    ParameterDescription(
      "accelerometerNoise", .number(0...1e6), "Noise density, m/s²/√Hz; absent when not given."
    ).measured(in: "m/s²/√Hz"),
    ParameterDescription(
      "accelerometerWalk", .number(0...1e6), "Random walk, m/s³/√Hz; absent when not given."
    ).measured(in: "m/s³/√Hz"),
  ].map { $0.forExperts() }

  package static let personal = ParameterDescription(
    "personal", .flag, default: .flag(false),
    "Also write place, device name and user name.")

  package static let points = ParameterDescription(
    "points", .integer(0...Int.max), default: .integer(200_000),
    "At most this many start points from depth; 0 = none.")

  /// The methods of sharing files, in the order in which they are tried.
  static func ways(_ parameters: ParameterValues) -> [FileSharing] {
    parameters.text("share").flatMap(FileSharing.init).map { [$0] } ?? [.clone, .link, .copy]
  }

  static func worldUp(_ parameters: ParameterValues) -> WorldUp {
    parameters.text("up").flatMap(WorldUp.init) ?? .app
  }

  /// Problems of a selection of frames and of the time offset.
  static func problems(_ stage: StageDefinition) -> [StageProblem] {
    CommonParameters.selectionProblems(stage) + TimeOffsetChoice.problems(stage)
  }

  /// The time span of inertial samples to export before and after the frames if only some are
  /// exported.
  package static let imuMargin = ParameterDescription(
    "imuMargin", .duration(0...3_600_000_000_000), default: .duration(nanoseconds: 1_000_000_000),
    "With first or last: inertial samples from so long before the first exported frame to so long after the "
      + "last. imu.margin sets it for all formats."
  ).shared(as: "imu", "margin").needing(anyOf: "first", "last")
}
