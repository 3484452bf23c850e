import Captures
import Core
import Engine
import SystemPackage

/// Parameters that several exports share.
enum ExportParameters {
  /// Chooses frames.
  static let selection =
    CommonParameters.selection + PickParameters.picking
    + ParameterDescription.list(PoseSegments.parameter)

  static let share = Parameter<FileSharing?>(
    "share", .choice(or: "auto"), default: nil,
    "How unchanged files are put here: same blocks, hard link or copy. auto: the first that the file system "
      + "allows. With link, a program that changes a picture in place changes both."
  ).forExperts()

  /// - Parameters:
  ///   - standard: `same`, or `jpeg` if readers accept nothing else.
  ///   - other: with what JPEG is encoded beside these pictures.
  static func pictures(
    default standard: PictureEncoding, jpegAlsoWith other: Parameter<Bool>? = nil
  ) -> [ParameterDescription] {
    ParameterDescription.list(
      encoding(default: standard), quality.orWith(other), FrameEXIF.parameter)
  }

  static let encoding = encoding(default: .same)
  static let quality = Parameter(
    "quality", .integer(1...100), default: PictureWriter.usualQuality,
    "Quality of JPEG that is encoded again; files of color/ that are JPEG stay as they are."
  ).needing(encoding, .jpeg)

  /// Formats that encode no other PNG than these pictures have it.
  static let compression = CommonParameters.compression.needing(encoding, .png)

  private static func encoding(
    default standard: PictureEncoding
  ) -> Parameter<PictureEncoding> {
    Parameter(
      "pictures", .choice(), default: standard,
      "same: the files of color/ as they are. png, jpeg: encoded again where they are not.")
  }

  static let depth = Parameter(
    "depth", .choice([.auto, .native, .aligned]), default: DepthChoice.Wish.auto,
    "native: the depth camera's own grid. aligned: the color grid. auto: native when depth is "
      + "registered to color, else aligned.")

  /// `imu.timeOffset` sets it for all formats.
  static let timeOffset = TimeOffsetChoice.parameter("added to the times of pictures.")
    .shared(as: "imu")

  /// Noise densities, which are written only if they are set, and their names in the files of tools.
  static let densities = [
    density("gyroscopeNoise", "Noise density", "rad/s/√Hz", "gyroscope_noise_density"),
    density("gyroscopeWalk", "Random walk", "rad/s²/√Hz", "gyroscope_random_walk"),
    density("accelerometerNoise", "Noise density", "m/s²/√Hz", "accelerometer_noise_density"),
    density("accelerometerWalk", "Random walk", "m/s³/√Hz", "accelerometer_random_walk"),
  ]
  static let noise = densities.map(\.parameter.description) + [noiseFile.description]

  /// What of the four densities has no parameter, and the rate.
  static let noiseFile = Parameter(
    "noise", .file,
    "Kalibr's imu.yaml: noise densities that are not set by themselves, and update_rate."
  ).shared(as: "imu").added()

  enum Clock: String, CaseIterable {
    case device, unix

    /// Where times count from, behind `seconds`.
    var words: String { self == .unix ? "since 1970" : "on the capture's own clock" }
  }

  /// Formats whose viewers show dates have it.
  static let clock = Parameter(
    "clock", .choice(), default: Clock.device,
    "device: times of the capture's own clock. unix: since 1970, by the start of the recording, good to seconds."
  ).added()

  /// Files of Kalibr, whose content is part of the fingerprint.
  static func kalibrFiles(_ parameters: ParameterValues) -> [String: FilePath] {
    [TimeOffsetChoice.extrinsics, noiseFile].reduce(into: [:]) { $0[$1.name] = parameters[$1] }
  }

  /// Checks the content of the files of Kalibr.
  static func kalibrProblems(_ parameters: ParameterValues) -> [StageProblem] {
    [
      TimeOffsetChoice.extrinsicsProblem(parameters),
      TimeOffsetChoice.problem(noiseFile, parameters) { path throws(CalibrationError) in
        _ = try noise(path)
      },
    ].compactMap(\.self)
  }

  static func noise(_ path: FilePath) throws(CalibrationError) -> IMUNoise {
    try IMUNoise(path, keys: densities.map(\.key))
  }

  private static func density(
    _ name: String, _ what: String, _ unit: String, _ key: String
  ) -> (parameter: Parameter<Double?>, key: String) {
    let parameter = Parameter(
      name, .number(0...1e6), "\(what), \(unit); absent when not given.")
    return (parameter.measured(in: unit).forExperts(), key)
  }

  /// Formats with a port for masks have it.
  static let masks = Parameter(
    "masks", .flag, default: false,
    "Also the masks of the stage masks, where the tool looks for them; no start points where they are 0."
  ).added().taking(from: ExportNerfstudio.maskPort)

  static let personal = Parameter(
    "personal", .flag, default: false, "Also write place, device name and user name.")

  static let points = Parameter(
    "points", .integer(0...Int.max), default: 200_000,
    "At most this many start points from depth; 0 = none.")

  /// The methods of sharing files, in the order in which they are tried.
  static func ways(_ parameters: ParameterValues) -> [FileSharing] {
    parameters[share].map { [$0] } ?? [.clone, .link, .copy]
  }

  /// Problems of a selection of frames and of the time offset.
  static func problems(_ stage: StageDefinition) -> [StageProblem] {
    CommonParameters.selectionProblems(stage) + TimeOffsetChoice.problems(stage)
  }

  /// The time span of inertial samples to export before and after the frames if only some are
  /// exported.
  static let imuMargin = Parameter(
    "imuMargin", .duration(0...3_600_000_000_000), default: 1_000_000_000,
    "With first, last or segment: inertial samples from so long before the first exported frame to so long after the "
      + "last. imu.margin sets it for all formats."
  ).shared(as: "imu", "margin").needing(
    anyOf: CommonParameters.first, CommonParameters.last, PoseSegments.parameter)
}
