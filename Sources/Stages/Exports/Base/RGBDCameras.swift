import Captures
import Core
import Engine

/// One color camera and one depth camera for all frames, as RGB-D datasets state them.
struct RGBDCameras {
  /// Camera of the pictures in `color/`.
  let color: CommonCamera
  let depth: PinholeCamera
  /// Depth camera to color camera; the identity for registered depth and on the color grid.
  let colorFromDepth: RigidTransform

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
        + color.deviationWords,
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

/// The camera used for all exported frames, in formats that store only one.
struct CommonCamera: Hashable {
  /// How the camera is chosen.
  enum Choice: String, CaseIterable {
    /// Each parameter is the median over all frames.
    case median
    /// The camera of the first exported frame.
    case first
  }

  let choice: Choice
  let camera: PinholeCamera
  /// How far the cameras of the frames are from it.
  private let spread: CameraSpread

  /// `nil` without cameras. Cost: sorts four lists.
  init?(_ cameras: [PinholeCamera], _ choice: Choice) {
    guard let first = cameras.first, let median = PinholeCamera(medianOf: cameras) else {
      return nil
    }
    self.choice = choice
    let camera = choice == .first ? first : median
    self.camera = camera
    spread = CameraSpread(of: cameras, about: camera)
  }

  /// The camera of the exported frames, chosen by the parameter `camera`; `nil` if no frame has
  /// intrinsics.
  ///
  /// Warns of frames whose camera differs more than usual.
  init?(_ source: ExportSource, _ frames: [Int]) {
    let cameras = frames.compactMap { source.cameras[$0] }
    let choice = source.context.parameters[Self.parameter]
    self.init(cameras, choice)
    warn(frames: cameras.count, source.context)
  }

  /// The largest difference of a frame's parameter from that of `camera`, pixels.
  var largestDeviation: Double { spread.largest }

  /// The end of a sentence: "intrinsics is the median over the exported frames".
  var words: String {
    switch choice {
    case .median: "the median over the exported frames"
    case .first: "that of the first exported frame"
    }
  }

  /// `the median over the exported frames; the largest deviation of any frame is 0.3 pixels.`
  var sentence: String { words + deviationWords }

  var deviationWords: String {
    "; the largest deviation of any frame is \(ExportReadme.rounded(largestDeviation)) pixels."
  }

  /// Warns if cameras of `frames` differ from it more than usual.
  private func warn(frames: Int, _ context: StageContext) {
    guard spread.unusual > 0 else { return }
    context.warnings.add(
      .intrinsicsVary, "intrinsics", count: spread.unusual,
      "one camera (\(choice.rawValue)) stands for \(frames) frames: \(spread.words(from: "it"))")
  }

  /// The parameter of formats that store one camera.
  static let parameter = Parameter(
    "camera", .choice(), default: Choice.median,
    "The one camera of all frames: the median of each parameter, or that of the first exported frame."
  )

  /// The parameter of formats that store a camera per frame.
  static let parameterPerFrame = Parameter<Choice?>(
    parameter.name, .choice(or: perFrame), default: nil,
    "per-frame: the camera of each frame. median, first: one for all frames, the median of each parameter or "
      + "that of the first exported frame.")

  static let perFrame = "per-frame"
}

extension ExportSource {
  /// The cameras of frames that all have one, in a format that stores a camera per frame: their
  /// own, or the common one if the parameter `camera` requests it.
  func cameras(
    of frames: [Int]
  ) -> (cameras: [PinholeCamera], common: CommonCamera?) {
    let own = frames.compactMap { cameras[$0] }
    guard context.parameters[CommonCamera.parameterPerFrame] != nil,
      let common = CommonCamera(self, frames)
    else { return (own, nil) }
    return (own.map { _ in common.camera }, common)
  }
}
