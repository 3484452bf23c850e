/// What a ScanNet capture contains in addition to pictures and samples: numbers of items, values in
/// the metadata, and damage.
///
/// Initially an intact capture. Faults change it, the writer follows it, and the expectation is
/// computed from it.
struct ScanNetPlan: SyntheticPlan {
  enum File: String, CaseIterable {
    case text = "txt"
    case depth
    case color = "h264"
    case inertial = "imu"
    case camera
  }

  /// How a depth time is damaged.
  enum TimeEdit {
    case notANumber
    case zero
    /// Repeats the time of the previous frame.
    case repeated
    /// Is exchanged with that of the next frame.
    case swapped
  }

  /// Number of rendered frames.
  let frames: Int

  // Depth
  var depthFrames: Int
  /// The last whole frame is followed by half a payload and nothing else.
  var endsInPayload = false
  var damagedPayloads: Set<Int> = []
  /// 2, 1 or 0.
  var timeBlocks = 2
  /// Number of entries per block.
  var timeEntries: Int
  /// The second block is cut: number of remaining bytes of both.
  var timeBytesKept: Int?
  var trailingBytes = 0

  // Times
  /// The scene continues for this many additional frame times after a frame.
  var gap: (afterFrame: Int, frameTimes: Int)?
  /// Seconds subtracted from all frame times, which then belong to an earlier scan.
  var staleSeconds = 0.0
  var timeEdits: [Int: TimeEdit] = [:]

  // Color
  /// Pictures that are not encoded.
  var lostPictures: Set<Int> = []

  // Camera settings
  var cameraRecords: Int
  var cameraTag = "v1"
  var cameraTrailingBytes = 0

  // Inertial sensors
  var hasInertialHead = false
  var inertialPartialBytes = 0
  /// Length in seconds of a gap between samples in the middle.
  var inertialGapSeconds = 0.0
  var swapsInertialSamples = false
  /// Seconds between the last sample and the last frame; `nil`: sensors record beyond the frames,
  /// as usual.
  var inertialEndsEarlySeconds: Double?

  // Metadata
  var declaredDepth: Int
  var declaredColor: Int
  /// Added to the declared number of samples.
  var declaredInertialSurplus = 0
  /// Factor of the declared size of the pictures.
  var declaredColorScale = 1
  var lineEnd = "\r\n"
  var hasClosingKeys = true
  var sceneLabel = "Office12"
  var removedKeys: Set<String> = []
  var addedLines: [String] = []
  /// Whether depth is registered to color by the device, with one viewpoint.
  var isRegistered = false

  var missingFiles: Set<File> = []

  init(frames: Int) {
    self.frames = frames
    depthFrames = frames
    timeEntries = frames
    cameraRecords = frames
    declaredDepth = frames
    declaredColor = frames
  }

  /// Number of pictures in the stream.
  var pictures: Int { frames - lostPictures.count }

  /// Number of canonical frames of a reader.
  var canonicalFrames: Int {
    max(depthFrames, missingFiles.contains(.color) ? 0 : pictures)
  }

  /// The number of depth frames in the metadata; `nil` when it states none.
  var claimedDepth: Int? {
    hasClosingKeys && !missingFiles.contains(.text) ? declaredDepth : nil
  }

  var claimedColor: Int? {
    hasClosingKeys && !missingFiles.contains(.text) ? declaredColor : nil
  }
}
