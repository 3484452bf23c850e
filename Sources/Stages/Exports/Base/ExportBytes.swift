import Engine

extension ExportStage {
  /// Of some frames: their pictures, and depth on the grid of color. Those of all frames are files of other stages.
  public static func expectedBytes(
    _ parameters: ParameterValues, _ capture: OpenedCapture
  ) -> ExpectedBytes? {
    guard isSubset(parameters), let color = capture.color else { return nil }
    let frames = ExpectedBytes.Frames(parameters, of: color.count)
    let bytesPerPixel: Double? =
      switch pictures(parameters) {
      case "color": 3 * 0.33
      case "jpeg": 3 * 0.05
      case "gray": 0.33
      default: nil
      }
    let depth =
      wantsDepth(parameters)
      ? DepthChoice(depthRule, parameters, capture.summary) : DepthChoice.none
    let depthPerPixel = depth == .none || capture.depth == nil ? 0 : 2 * 0.2
    return ExpectedBytes(
      color, frames, bytesPerPixel: (bytesPerPixel ?? 0) + depthPerPixel, least: 0, usual: 1)
  }
}
