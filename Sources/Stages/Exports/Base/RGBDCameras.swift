import Captures
import Core
import Engine

/// One color camera and one depth camera for all frames, as RGB-D datasets state them.
package struct RGBDCameras: Sendable {
  /// Camera of the pictures in `color/`.
  package let color: CommonCamera
  package let depth: PinholeCamera
  /// Depth camera to color camera; the identity for registered depth and on the color grid.
  package let colorFromDepth: RigidTransform

  /// The common camera of those `frames` that have intrinsics; frames without are still exported.
  ///
  /// - Throws: the error of an unreadable calibration; `StageDoesNotApply` if a camera, or the
  ///   transform between the two, is unknown.
  init(_ source: ExportSource, _ frames: [Int]) throws {
    let stage = source.context.stage
    let capture = source.context.capture
    if source.depthChoice == .native, source.context.externalFiles["calibration"] == nil,
      let problem = capture.calibrationProblem
    {
      throw problem
    }
    guard let color = CommonCamera(source, frames) else {
      throw StageDoesNotApply("no intrinsics: give \(stage).calibration")
    }
    guard let depth = source.depthCamera(color: color.camera) else {
      throw StageDoesNotApply("no depth intrinsics: give \(stage).calibration")
    }
    guard source.isColorFromDepthKnown else {
      throw StageDoesNotApply(
        "no extrinsics between depth and color: give \(stage).calibration")
    }
    self.color = color
    self.depth = depth
    colorFromDepth = source.colorFromDepth
  }

  /// Cameras of frames that were made for one another.
  init(color: CommonCamera, depth: PinholeCamera) {
    self.color = color
    self.depth = depth
    colorFromDepth = .identity
  }

  /// Sentences about the cameras for `README.txt`.
  func conventions(_ source: ExportSource) -> [String] {
    var sentences = [
      "Camera axes: x right, y down, z forward; pixel centers at integers, no half pixel added.",
      "One color camera stands for all frames: "
        + (color.choice == .median ? "the median of each parameter" : color.words)
        + "; the largest deviation of any "
        + "frame is \(ExportReadme.rounded(color.largestDeviation)) pixels.",
    ]
    switch source.depthChoice {
    case .native:
      sentences.append("Depth lies on the grid of the depth camera, with its own intrinsics.")
    case .aligned, .none:
      sentences.append("Depth lies on the color grid and shares the intrinsics of color.")
    }
    return sentences
  }

  /// Remarks about depth that readers misplace unless they apply the extrinsic.
  var remarks: [String] {
    colorFromDepth.isIdentity
      ? []
      : [
        "The depth extrinsic is not the identity (depth camera to color camera). Most readers ignore it: "
          + "for them, export with depth=aligned."
      ]
  }
}
