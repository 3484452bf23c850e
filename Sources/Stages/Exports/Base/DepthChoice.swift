import Captures
import Engine

/// Which depth pictures an export writes.
package enum DepthChoice: Hashable, Sendable {
  case none
  /// `depth/`, with the depth camera's own grid and intrinsics.
  case native
  /// `aligned/`, with the grid and intrinsics of color.
  case aligned

  /// The parameter of formats that make calibrated frames of depth on its own grid.
  package static let calibrated = "calibrated"

  /// How a format uses depth.
  package enum Rule: Sendable {
    /// The format does not store depth.
    case never
    /// Depth on the color grid, if the capture has depth.
    case aligned
    /// The parameter `depth` decides; `auto`: native when registered, else aligned.
    case chosen
  }

  /// `none` for a capture without depth, for `depth: none`, and if depth cannot be aligned because
  /// the calibration is incomplete. Unreadable depth is not left out: its stage fails, and the
  /// export with it.
  init(_ rule: Rule, _ parameters: ParameterValues, _ capture: CaptureSummary) {
    if case .absent = capture.state(of: .depth) {
      self = .none
      return
    }
    // Depth cannot be aligned to a mirrored picture.
    if capture.exports.isMirrored {
      self = .none
      return
    }
    // A calibrated file aligns depth itself.
    if parameters.flag(Self.calibrated) {
      self = .native
      return
    }
    let canAlign =
      capture.missingCalibration.isEmpty
      || CalibrationChoice.file(parameters, deviceID: capture.deviceID) != nil
    switch (rule, parameters.text("depth") ?? "auto") {
    case (.never, _), (_, "none"): self = .none
    case (.aligned, _), (.chosen, "aligned"): self = canAlign ? .aligned : .none
    case (.chosen, "native"): self = .native
    default:
      // Readers that ignore an extrinsic also miss the turn of the color pictures.
      let isRegistered = capture.exports.isRegistered
      let isTurned = capture.exports.clockwiseQuarterTurns != 0
      self = isRegistered && !(isTurned && canAlign) ? .native : canAlign ? .aligned : .none
    }
  }
}
