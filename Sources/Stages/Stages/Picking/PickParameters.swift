import Engine

/// The parameters by which a stage that decodes color picks pictures among those it could write, and the
/// one by which stages follow that lie on the grid of its pictures.
///
/// They are left out of records and fingerprints while they have their defaults.
package enum PickParameters {
  /// How frames are divided into groups, of each of which the sharpest is picked.
  package enum Way: String, CaseIterable, Sendable {
    /// All pictures are written; none is picked.
    case every
    case sharpest
    case motion
  }

  /// `pickChange`: 12 levels give about as many groups as `pickAngle` and `pickDistance` do; in six rendered captures
  /// 7 to 17 gave as many (docs/outputs.md).
  package static let own: [ParameterDescription] = [
    ParameterDescription(
      "pick", .choice(Way.allCases.map(\.rawValue)), default: .text(Way.every.rawValue),
      "Which of the selected pictures are written. every: all. sharpest: the sharpest of each group of "
        + "pickGroup. motion: the sharpest of each group in which the camera hardly moves, by poses, else by "
        + "the gyroscope, else by the pictures. aligned and exports follow."),
    ParameterDescription(
      "pickGroup", .integer(1...1_000_000), default: .integer(10),
      "With pick=sharpest: of so many pictures one is written."),
    ParameterDescription(
      "pickAngle", .number(0...180), default: .number(15),
      "With pick=motion: a group ends before the camera has turned by more than this."
    ).measured(in: "°"),
    ParameterDescription(
      "pickDistance", .length(0...1000), default: .length(meters: 0.1),
      "With pick=motion: a group ends before the camera has moved by more than this, by poses."),
    ParameterDescription(
      "pickChange", .number(0...255), default: .number(12),
      "With pick=motion, without poses and gyroscope: a group ends before the brightness of its pictures has "
        + "changed by more than this, on the mean of a grid of 64 columns."
    ).measured(in: "levels"),
    ParameterDescription(
      "pickMaximum", .integer(1...Int.max),
      "With pick: at most so many pictures; groups are joined evenly until there are no more."),
  ].map { $0.omittedAtDefault() }

  /// Parameters of stages that follow the stage `color`: set by `color.pick` for all that have it.
  static let followed = [
    ParameterDescription(
      followedName, .choice(Way.allCases.map(\.rawValue)), default: .text(Way.every.rawValue),
      "Set by color.pick. Unless it is every, only the frames whose pictures were picked are made."
    ).omittedAtDefault().shared(as: PickFollowing.colorStage, "pick")
  ]

  static let followedName = "colorPick"

  /// How the parameters of a stage that decodes color ask to pick.
  static func way(_ values: ParameterValues) -> Way {
    values.text("pick").flatMap(Way.init) ?? .every
  }

  /// Whether a stage that follows color is asked to.
  static func isFollowed(_ values: ParameterValues) -> Bool {
    values.text(followedName).flatMap(Way.init) ?? .every != .every
  }

  /// Problems of parameters that would have no effect. They are found once all parameters are set, so that
  /// the order of settings does not matter.
  static func problems(_ values: ParameterValues) -> [StageProblem] {
    let way = way(values)
    let needed: [(name: String, ways: [Way])] = [
      ("pickGroup", [.sharpest]), ("pickAngle", [.motion]), ("pickDistance", [.motion]),
      ("pickChange", [.motion]), ("pickMaximum", [.sharpest, .motion]),
    ]
    let standard = ParameterValues(defaultsOf: own)
    return needed.filter { values[$0.name] != standard[$0.name] && !$0.ways.contains(way) }
      .map { name, ways in
        StageProblem(
          parameter: name,
          "has no effect without "
            + ways.map { "pick=\($0.rawValue)" }.joined(separator: " or "))
      }
  }

  /// The least number of pictures that are picked of `count`.
  static func least(of count: Int, _ values: ParameterValues) -> Int {
    let groups =
      switch way(values) {
      case .every: count
      case .sharpest:
        count / max(1, values.integer("pickGroup") ?? 1)
      case .motion: min(1, count)
      }
    return min(groups, values.integer("pickMaximum") ?? .max)
  }
}

/// How stages follow the pictures that were picked: they read which ones there are from the artifact of
/// the stage `color`.
enum PickFollowing {
  static let colorStage = "color"
  static let port = Port(
    "color", .colorImages, isRequired: false,
    "with color.pick: the pictures that were picked; their frames are made")

  /// The connection to the stage that decodes color; `nil` if nothing is picked.
  static func binding(_ parameters: ParameterValues) -> PortBinding? {
    PickParameters.isFollowed(parameters)
      ? PortBinding(port: port.name, stage: colorStage, isOptional: false) : nil
  }

  /// The frames that were picked; `nil` if nothing is picked. Throws if it is not known.
  static func picked(_ context: StageContext) throws -> PickedFrames? {
    guard PickParameters.isFollowed(context.parameters) else { return nil }
    guard let color = context.inputs[port.name] else {
      throw StageFailure(
        "'\(context.stage)' follows the pictures that color.pick chooses, and the pipeline has no stage "
          + "'\(colorStage)' that decodes them: leave color.pick out, or name the stage '\(colorStage)'"
      )
    }
    guard let picked = PickedFrames(color.record) else {
      throw StageFailure(
        "the pictures of '\(color.stage)' were not picked: run '\(color.stage)' again with color.pick"
      )
    }
    return picked
  }
}
