import Core

/// The metadata file: `key = value`, six decimals.
struct ScanNetText {
  let plan: ScanNetPlan
  let color: PinholeCamera
  let depth: PinholeCamera
  let depthFromColor: RigidTransform
  let deviceID: String
  let moment: SeededNames.Moment
  let inertialSamples: Int

  static let deviceName = "Lab\u{2019}s iPad"
  static let sceneType = "Bedroom / Hotel"

  /// The whole file.
  var text: String {
    lines.map { $0 + plan.lineEnd }.joined()
  }

  private var lines: [String] {
    var pairs: [(String, String)] = [
      ("colorWidth", "\(color.width * plan.declaredColorScale)"),
      ("colorHeight", "\(color.height * plan.declaredColorScale)"),
      ("depthWidth", "\(depth.width)"),
      ("depthHeight", "\(depth.height)"),
      ("fx_color", number(color.fx)),
      ("fy_color", number(color.fy)),
      ("mx_color", number(color.cx)),
      ("my_color", number(color.cy)),
      ("fx_depth", number(depth.fx)),
      ("fy_depth", number(depth.fy)),
      ("mx_depth", number(depth.cx)),
      ("my_depth", number(depth.cy)),
      // The app writes a blank after the last number.
      ("colorToDepthExtrinsics", depthFromColor.rowMajor.map { number($0) + " " }.joined()),
      ("deviceId", deviceID),
      ("deviceName", Self.deviceName),
      ("sceneLabel", plan.sceneLabel),
      ("sceneType", Self.sceneType),
      ("userName", "tester"),
      ("appVersionId", "Scanner.v1.20190409143822"),
    ]
    if plan.hasClosingKeys {
      pairs += [
        ("scanSavedAt", "\(moment.date(""))T\(moment.time(""))+0100"),
        ("numDepthFrames", "\(plan.declaredDepth)"),
        ("numColorFrames", "\(plan.declaredColor)"),
        ("numIMUmeasurements", "\(inertialSamples + plan.declaredInertialSurplus)"),
      ]
    }
    return pairs.filter { !plan.removedKeys.contains($0.0) }.map { "\($0.0) = \($0.1)" }
      + plan.addedLines
  }

  private func number(_ value: Double) -> String { Decimals.text(value, 6) }
}
