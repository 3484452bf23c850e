import Captures
import Geometry
import Pipeline
import Stages

/// The camera used for all exported frames, in formats that store only one.
package struct CommonCamera: Hashable, Sendable {
  /// How the camera is chosen.
  package enum Choice: String, CaseIterable, Sendable {
    /// Each parameter is the median over all frames.
    case median
    /// The camera of the first exported frame.
    case first
  }

  package let choice: Choice
  package let camera: PinholeCamera
  /// The largest difference of a frame's principal point from that of `camera`, along x or y,
  /// pixels.
  package let principalPointSpread: Double
  /// The same for the focal lengths, pixels.
  package let focalLengthSpread: Double

  /// Difference in pixels above which one camera for all frames causes a warning. Reconstructions
  /// are judged by errors of one to two pixels, and the autofocus of a phone changes its camera by
  /// about one.
  package static let usualSpread = 2.0

  /// `nil` without cameras. Cost: sorts four lists.
  package init?(_ cameras: [PinholeCamera], _ choice: Choice) {
    guard let first = cameras.first, let median = MedianCamera(cameras) else { return nil }
    self.choice = choice
    let camera = choice == .first ? first : median.camera
    self.camera = camera
    principalPointSpread = cameras.reduce(0) {
      max($0, abs($1.cx - camera.cx), abs($1.cy - camera.cy))
    }
    focalLengthSpread = cameras.reduce(0) {
      max($0, abs($1.fx - camera.fx), abs($1.fy - camera.fy))
    }
  }

  /// The camera of the exported frames, chosen by the parameter `camera`; `nil` if no frame has
  /// intrinsics.
  ///
  /// Warns of frames whose camera differs more than usual.
  package init?(_ source: ExportSource, _ frames: [Int]) {
    let cameras = frames.compactMap { source.cameras[$0] }
    let choice = source.context.parameters.text("camera").flatMap(Choice.init) ?? .median
    self.init(cameras, choice)
    warn(cameras, source.context)
  }

  /// The largest difference of a frame's parameter from that of `camera`, pixels.
  package var largestDeviation: Double { max(principalPointSpread, focalLengthSpread) }

  /// The end of a sentence: "intrinsics is the median over the exported frames".
  package var words: String {
    switch choice {
    case .median: "the median over the exported frames"
    case .first: "that of the first exported frame"
    }
  }

  /// Warns with the number of frames that differ from `camera` more than usual.
  package func warn(_ cameras: [PinholeCamera], _ context: StageContext) {
    guard largestDeviation > Self.usualSpread else { return }
    let count = cameras.count { other in
      let distances = [
        other.fx - camera.fx, other.fy - camera.fy, other.cx - camera.cx, other.cy - camera.cy,
      ]
      return distances.contains { abs($0) > Self.usualSpread }
    }
    context.warnings.add(
      .intrinsicsVary, "intrinsics", count: count,
      "one camera (\(choice.rawValue)) stands for \(cameras.count) frames: the principal point is up to "
        + "\(ExportReadme.rounded(principalPointSpread)) pixels away from it, the focal length up to "
        + "\(ExportReadme.rounded(focalLengthSpread)) pixels; \(count) frames are more than "
        + "\(ExportReadme.rounded(Self.usualSpread)) pixels off")
  }

  /// The parameter of formats that store one camera.
  package static let parameter = ParameterDescription(
    "camera", .choice(Choice.allCases.map(\.rawValue)), default: .text(Choice.median.rawValue),
    "The one camera of all frames: the median of each parameter, or that of the first exported frame."
  ).omittedAtDefault()

  /// The parameter of formats that store a camera per frame.
  package static let parameterPerFrame = ParameterDescription(
    "camera", .choice([perFrame] + Choice.allCases.map(\.rawValue)), default: .text(perFrame),
    "per-frame: the camera of each frame. median, first: one for all frames, the median of each parameter or "
      + "that of the first exported frame."
  ).omittedAtDefault()

  package static let perFrame = "per-frame"
}

extension ExportSource {
  /// The cameras of frames that all have one, in a format that stores a camera per frame: their
  /// own, or the common one if the parameter `camera` requests it.
  package func cameras(
    of frames: [Int]
  ) -> (cameras: [PinholeCamera], common: CommonCamera?) {
    let own = frames.compactMap { cameras[$0] }
    guard let text = context.parameters.text("camera"),
      CommonCamera.Choice(rawValue: text) != nil, let common = CommonCamera(self, frames)
    else { return (own, nil) }
    return (own.map { _ in common.camera }, common)
  }
}
