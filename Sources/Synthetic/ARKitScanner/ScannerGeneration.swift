/// The file layouts of ARKit-Scanner over time.
enum ARKitScannerFamily: String, SyntheticFamily {
  case g6
  case g5
  case g4
  case g3
  case g2c
  case g2b
  case g2a
  case g1
  /// The `iphone` folder of a published ScanNet++ scene.
  case scannetpp

  enum DepthLayout {
    /// Records that are LZ4 blocks of millimeters.
    case lz4
    /// Records that are raw DEFLATE streams of meters.
    case deflate
    /// One raw DEFLATE stream of meters for all frames.
    case stream
    /// Uncompressed meters.
    case raw
  }

  enum Keys {
    case times
    case numbers
    /// One file per frame, named by its time.
    case fileNames
    /// `frame_000000`
    case released
  }

  var depthLayout: DepthLayout {
    switch self {
    case .g6, .g5, .scannetpp: .lz4
    case .g4, .g3: .deflate
    case .g2c, .g2b, .g2a: .stream
    case .g1: .raw
    }
  }

  var keys: Keys {
    switch self {
    case .g6, .g5, .g4: .times
    case .g3, .g2c, .g2b: .numbers
    case .g2a, .g1: .fileNames
    case .scannetpp: .released
    }
  }

  var depthFile: String {
    switch self {
    case .g1: "depthBufferSequence.bin"
    case .g2a: "depthBufferSequence"
    case .g2b: "depth"
    default: "depth.bin"
    }
  }

  var videoFile: String {
    switch self {
    case .g1, .g2a: "video.mp4"
    case .scannetpp: "rgb.mkv"
    default: "rgb.mp4"
    }
  }

  var encoding: String {
    switch depthLayout {
    case .lz4: "lz4-u16"
    case .deflate: "deflate-f32"
    case .stream: "deflate-stream-f32"
    case .raw: "raw-f32"
    }
  }

  /// Whether depth is a chain of length-prefixed records.
  var isFramed: Bool { depthLayout == .lz4 || depthLayout == .deflate }

  var storesMeters: Bool { depthLayout != .lz4 }

  /// Whether the frames' own times are recorded.
  var hasTimes: Bool { keys != .numbers }

  /// Whether intrinsics are stored for every frame.
  var hasIntrinsicsPerFrame: Bool { [.g6, .g5, .g4, .scannetpp].contains(self) }

  /// Whether exposure and sensitivity are stored for every frame.
  var hasExif: Bool { self == .g6 || self == .scannetpp }

  /// Whether the side files are one JSON object per kind of value.
  var hasJSONSides: Bool { keys == .times || keys == .numbers }
}

extension ARKitScannerFamily {
  static let plannedFaults: [Fault] = records + depthFile + streams + sides

  private static let records = [
    Fault(
      "empty-record", "records", "depth record 3 has length 0", \.recordEdits[3], .empty),
    Fault(
      "corrupt-record", "records", "depth record 6 is noise", \.recordEdits[6], .noise),
    Fault(
      "short-record", "records", "depth record 8 decodes to too few pixels", \.recordEdits[8],
      .short),
    Fault(
      "bv41-record", "records", "depth record 5 has Apple's other LZ4 framing", \.recordEdits[5],
      .otherFraming, in: { $0.depthLayout == .lz4 }),
    Fault(
      "mixed-encodings", "records", "depth record 4 holds float meters among millimeters",
      \.recordEdits[4], .otherEncoding, in: { $0.depthLayout == .lz4 }),
    Fault(
      "missing-record", "records", "depth record 4 was never written; later ones moved up",
      \.recordEdits[4], .absent),
  ].only(in: \.isFramed)

  private static let depthFile = [
    Fault(
      "cut-depth", "depth end", "the depth file breaks off in its last frame", \.endsInRecord, true),
    Fault(
      "trailing-bytes", "depth end", "3 bytes follow the last depth frame", \.trailingBytes, 3,
      in: { $0.isFramed || $0 == .g1 }),
    Fault(
      "deflate-lookalike", "depth start",
      "the first record's length makes the file begin like an empty DEFLATE stream; no warning",
      \.looksLikeDeflate, true, in: { $0.depthLayout == .lz4 }),
    Fault(
      "nan-depth", "depth values", "depth frame 2 holds NaN, infinities, negative and huge values",
      \.nonFiniteFrame, 2, in: \.storesMeters),
  ]

  private static let streams = [
    Fault("surplus-picture", "video", "one picture more than entries", \.surplusPictures, 1),
    Fault("missing-video", "video", "no video file", \.hasVideo, false),
    Fault(
      "killed-app", "depth end", "depth cut, exif.json open, video without index, nothing else",
      in: { $0 == .g6 }
    ) {
      $0.isKilled = true
      $0.endsInRecord = true
    },
    .gap("three", 3, in: \.hasTimes),
  ]

  private static let sides = [
    .poseJump(),
    Fault("nan-pose", "poses", "a number of pose 5 is nan", \.nanPoseFrame, 5, in: \.hasJSONSides),
    Fault(
      "imu-empty", "imu", "no motion samples were recorded", \.hasMotion, false, in: \.hasJSONSides),
    Fault(
      "exif-holes", "exif", "two frames have an empty exif entry; no warning", \.emptyExif, [2, 7],
      in: \.hasExif),
    Fault(
      "wrong-color-size", "metadata", "the metadata claim pictures of twice the size",
      \.declaredColorScale, 2, in: \.hasJSONSides),
    Fault(
      "strange-depth-size", "metadata", "the metadata's depth size is no number",
      \.hasStrangeDepthSize, true, in: \.hasJSONSides),
  ]
}
