import Engine

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
