/// The app's file layouts over time, by their names in `capture.json`.
enum ARKitScannerGeneration: String, CaseIterable, Sendable {
  case g1, g2a, g2b, g2c, g3, g4, g5, g6, scannetpp

  /// Determines the generation by its marks. If several fit, the latest, since later generations
  /// drop marks.
  init(
    _ folder: ARKitScannerFiles, metadata: ARKitScannerMetadata?, keysAreTimes: Bool,
    layout: ARKitScannerDepthLayout.Kind?
  ) {
    let hasExposureMarks =
      metadata?.hasExposureKeys ?? false
      || folder.has("exif_ShutterSpeedValue.json") || folder.has("exif_BrightnessValue.json")
    if folder.isRelease {
      self = .scannetpp
    } else if folder.usesPropertyLists {
      self =
        switch (folder.depthFile, layout) {
        case ("depthBufferSequence.bin", _): .g1
        case ("depthBufferSequence", _), (_, .deflateStream): .g2a
        default: .g1
        }
    } else if folder.has("exif.json") {
      self = .g6
    } else if metadata?.isFirstVersion ?? (folder.depthFile == "depth") {
      self = .g2b
    } else if folder.has("intri.json") || keysAreTimes {
      if case .framed(_, first: .deflate) = layout {
        self = .g4
      } else {
        self = hasExposureMarks ? .g5 : .g6
      }
    } else {
      switch layout {
      case .framed(_, first: .lz4): self = hasExposureMarks ? .g5 : .g6
      case .framed: self = .g3
      case .deflateStream, .raw: self = .g2c
      case nil: self = metadata?.hasMisspelledMatrix ?? false ? .g2c : .g3
      }
    }
  }

  /// A phrase for people about how the generation is recognized.
  var mark: String {
    switch self {
    case .g1: "poses in files <time>_trans.xml; uncompressed depthBufferSequence.bin"
    case .g2a: "poses in files <time>_trans.xml; depthBufferSequence, one DEFLATE stream"
    case .g2b: "trans.json keyed by frame number; a depth file that is called depth"
    case .g2c: "trans.json keyed by frame number; depth.bin, one DEFLATE stream"
    case .g3: "trans.json keyed by frame number; depth.bin, one DEFLATE block per frame"
    case .g4: "trans.json keyed by time and intri.json; depth.bin, one DEFLATE block per frame"
    case .g5: "as g4 with LZ4 blocks, and exif_*.json or exposure_duration in metadata.json"
    case .g6: "exif.json; or as g5 without the marks of exposure"
    case .scannetpp: "pose_intrinsic_imu.json: the iphone folder of a released ScanNet++ scene"
    }
  }

  /// Whether intrinsics are in a separate file with one matrix per frame.
  var writesIntrinsicsFile: Bool { [.g4, .g5, .g6].contains(self) }

  /// The video's file name in this generation.
  var videoName: String {
    switch self {
    case .g1, .g2a: "video.mp4"
    case .g2b, .g2c, .g3, .g4, .g5, .g6: "rgb.mp4"
    case .scannetpp: "rgb.mkv"
    }
  }

  /// The depth file's name in this generation.
  var depthName: String {
    switch self {
    case .g1: "depthBufferSequence.bin"
    case .g2a: "depthBufferSequence"
    case .g2b: "depth"
    case .g2c, .g3, .g4, .g5, .g6, .scannetpp: "depth.bin"
    }
  }

  /// The pose file's name in this generation; with one file per pose, the suffix.
  var poseName: String {
    switch self {
    case .g1, .g2a: "_trans.xml"
    case .g2b, .g2c, .g3, .g4, .g5, .g6: "trans.json"
    case .scannetpp: ARKitScannerFiles.releasePoses
    }
  }

  /// Whether the app writes `metadata.json`, which released scenes do not have.
  var writesMetadata: Bool { ![.g1, .g2a, .scannetpp].contains(self) }

  /// Whether `exif.json` is written while recording.
  var writesExif: Bool { self == .g6 || self == .scannetpp }
}
