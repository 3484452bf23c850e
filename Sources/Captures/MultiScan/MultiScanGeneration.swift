/// The recording modes of the apps, by their names in `capture.json`.
enum MultiScanGeneration: String, CaseIterable, Sendable {
  case iosLidar = "ios-lidar"
  /// Recordings of 2020, whose metadata lacks unit, confidence range and format names.
  case iosLidar2020 = "ios-lidar-2020"
  case iosSingle = "ios-single"
  case iosDual = "ios-dual"
  case iosStereo = "ios-stereo"
  case androidARCore = "android-arcore"
  case androidPlain = "android-plain"

  /// A phrase for people about how the mode is recognized: by the metadata, else by the files that
  /// exist.
  var mark: String {
    switch self {
    case .iosLidar: "a depth stream of type lidar_sensor; else depth without motion files"
    case .iosLidar2020: "the same of 2020: the metadata lacks unit, confidence range and formats"
    case .iosSingle: "motion streams and no second color camera; else motion files alone"
    case .iosDual: "two color streams; else motion files with a video"
    case .iosStereo: "a dual_camera_stereo_depth stream; else depth with motion files"
    case .androidARCore: "a depth stream of type ARCore; else camera info of Android"
    case .androidPlain: "metadata without a list of streams; else motion files of Android"
    }
  }

  var isAndroid: Bool { self == .androidARCore || self == .androidPlain }
  var isLidar: Bool { self == .iosLidar || self == .iosLidar2020 }
  /// Whether the mode writes one line of camera info per frame; all other modes write motion files.
  var writesCameraInfo: Bool { isLidar || self == .androidARCore }
  var writesMotion: Bool { !writesCameraInfo }
}

extension MultiScanGeneration {
  /// By the metadata if there is any (stream types first, then the depth unit), else by the files
  /// that exist and signs of the Android app in them.
  init(metadata: MultiScanMetadata?, files: MultiScanFiles, evidence: MultiScanAndroidEvidence) {
    if let metadata, let known = Self.from(metadata) {
      self = known
      return
    }
    let hasMotion = !files.motion.isEmpty
    if files.depth != nil, hasMotion {
      self = .iosStereo
    } else if files.depth != nil || files.confidence != nil
      || (files.cameraInfo != nil && !hasMotion)
    {
      self = evidence.inCameraInfo ? .androidARCore : .iosLidar
    } else if evidence.inMotionFiles {
      self = .androidPlain
    } else {
      self = files.primaryVideo != nil || files.secondaryVideo != nil ? .iosDual : .iosSingle
    }
  }

  /// `nil` when the streams do not determine it.
  private static func from(_ metadata: MultiScanMetadata) -> Self? {
    if metadata.usesPlainKeys { return .androidPlain }
    let depthTypes = metadata.streams.filter { $0.role == .depth }.map { $0.type ?? "" }
    if depthTypes.contains("lidar_sensor") {
      return metadata.isOf2020 ? .iosLidar2020 : .iosLidar
    }
    if depthTypes.contains("ARCore") || metadata.depthUnit == .millimeters { return .androidARCore }
    if depthTypes.contains("dual_camera_stereo_depth") { return .iosStereo }
    if metadata.streams.count(where: { $0.role == .color }) > 1 { return .iosDual }
    let declaresMotion = metadata.streams.contains {
      if case .motion = $0.role { true } else { false }
    }
    return declaresMotion ? .iosSingle : nil
  }
}
