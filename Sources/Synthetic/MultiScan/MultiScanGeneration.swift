/// The capture modes of the MultiScan apps.
enum MultiScanGeneration: String, CaseIterable {
  case iosLidar = "ios-lidar"
  /// Metadata of 2020: other key names, five keys absent.
  case iosLidar2020 = "ios-lidar-2020"
  case iosSingle = "ios-single"
  case iosDual = "ios-dual"
  case iosStereo = "ios-stereo"
  case androidARCore = "android-arcore"
  case androidPlain = "android-plain"

  var isAndroid: Bool { self == .androidARCore || self == .androidPlain }
  var isLidar: Bool { self == .iosLidar || self == .iosLidar2020 }

  /// Whether camera info is written line by line.
  var hasCameraInfo: Bool { isLidar || self == .androidARCore }
  var hasDepth: Bool { hasCameraInfo || self == .iosStereo }
  var hasConfidence: Bool { hasCameraInfo }
  var hasMotion: Bool { !hasCameraInfo }

  /// The turn that makes stored pictures upright.
  var clockwiseQuarterTurns: Int { self == .androidPlain ? 1 : 0 }

  var defaultRate: Double { isAndroid || self == .iosStereo ? 30 : 60 }

  var defaultDepthSize: (width: Int, height: Int) {
    switch self {
    case .androidARCore: (160, 120)
    case .iosStereo: (640, 480)
    default: (256, 192)
    }
  }
}
