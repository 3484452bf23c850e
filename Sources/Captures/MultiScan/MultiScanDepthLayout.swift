import SystemPackage

/// Size and element type of the frames in a depth file; confidence has the same size.
struct MultiScanDepthLayout: Equatable, Sendable {
  enum Element: Sendable {
    /// IEEE half, meters.
    case halfMeters
    /// Stored unchanged.
    case uint16Millimeters

    var suffix: String {
      switch self {
      case .halfMeters: "f16"
      case .uint16Millimeters: "u16"
      }
    }
  }

  var width: Int
  var height: Int
  var element: Element
  /// Whether the size in the metadata is invalid or not that of the data, so that the default size
  /// is used.
  var hasInvalidClaim = false

  var pixels: Int { width * height }

  /// The element type follows from the depth unit alone. The size is the metadata's; without one it
  /// is 256×192 in LiDAR mode, and `nil` in other modes.
  init?(generation: MultiScanGeneration, metadata: MultiScanMetadata?) {
    let unit = metadata?.depthUnit ?? (generation == .androidARCore ? .millimeters : .meters)
    element = unit == .millimeters ? .uint16Millimeters : .halfMeters
    switch metadata?.first(.depth)?.resolution ?? .absent {
    case .size(let claimedWidth, let claimedHeight):
      (width, height) = (claimedWidth, claimedHeight)
    case let claim where generation.isLidar:
      (width, height) = Self.lidarSize
      hasInvalidClaim = claim == .invalid
    default: return nil
    }
  }

  private static let lidarSize = (width: 256, height: 192)

  /// The LiDAR's own size if the size in the metadata does not fit the depth file: `survey` counted
  /// frames of that size, and `expected` is the number there should be. `nil` if the size in the
  /// metadata may be right.
  func replacingWrongClaim(_ survey: MultiScanStreamSurvey, expected: Int?) -> MultiScanDepthLayout?
  {
    var usual = self
    (usual.width, usual.height) = Self.lidarSize
    usual.hasInvalidClaim = true
    let usualBytes = usual.pixels * 2
    guard (width, height) != Self.lidarSize, survey.bytes > 0, survey.bytes % usualBytes == 0
    else { return nil }
    // If both sizes fit, the one that gives the expected number of frames.
    if survey.bytes % (pixels * 2) == 0, pixels != usual.pixels, let expected {
      let usualFrames = survey.bytes / usualBytes
      guard abs(usualFrames - expected) < abs(survey.frames - expected) else { return nil }
    }
    return usual
  }

  /// The error for a file whose frame size is unknown.
  static func unknown(_ file: FilePath) -> CaptureError {
    CaptureError(
      file: file, problem: "the size of its frames is not known",
      remedy: "state the resolution of the depth stream as [height, width] in the metadata")
  }
}
