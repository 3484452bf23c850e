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
