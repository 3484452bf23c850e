import SystemPackage

/// Size and element of the frames in a depth file; confidence has the same size.
struct MultiScanDepthLayout: Equatable, Sendable {
  enum Element: Sendable {
    /// IEEE half, meters.
    case halfMeters
    /// Verbatim.
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
  /// Whether the metadata states a size that is none or not that of the data, and the usual one is
  /// taken.
  var hasInvalidClaim = false

  var pixels: Int { width * height }

  /// The element follows the depth unit alone. The size is the metadata's; the LiDAR mode has
  /// 256×192 where it states none, any other mode cannot be read then.
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

  /// The LiDAR's own size in place of a claimed one that the data of the depth file does not have:
  /// `survey` counted it in frames of the claimed size, of which `expected` should be there. `nil` where
  /// the claim may be right.
  func replacingWrongClaim(_ survey: MultiScanStreamSurvey, expected: Int?) -> MultiScanDepthLayout?
  {
    var usual = self
    (usual.width, usual.height) = Self.lidarSize
    usual.hasInvalidClaim = true
    let usualBytes = usual.pixels * 2
    guard (width, height) != Self.lidarSize, survey.bytes > 0, survey.bytes % usualBytes == 0
    else { return nil }
    // Both sizes may fit: the one that gives as many frames as there should be.
    if survey.bytes % (pixels * 2) == 0, pixels != usual.pixels, let expected {
      let usualFrames = survey.bytes / usualBytes
      guard abs(usualFrames - expected) < abs(survey.frames - expected) else { return nil }
    }
    return usual
  }

  /// What to say of a file whose frames have no known size.
  static func unknown(_ file: FilePath) -> CaptureError {
    CaptureError(
      file: file, problem: "the size of its frames is not known",
      remedy: "the metadata's depth stream must state its resolution as [height, width]")
  }
}
