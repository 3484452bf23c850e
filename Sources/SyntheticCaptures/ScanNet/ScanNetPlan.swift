/// Everything that is written into a ScanNet capture besides pictures and samples: how many of each,
/// what the metadata claims, and what is damaged.
///
/// Starts as a healthy capture; faults edit it; the writer follows it, and the expectation is computed
/// from it.
struct ScanNetPlan {
  enum File: String, CaseIterable {
    case text = "txt"
    case depth
    case color = "h264"
    case inertial = "imu"
    case camera
  }

  /// How a depth time is spoiled.
  enum TimeEdit {
    case notANumber
    case zero
    /// The time of the frame before.
    case repeated
    /// Exchanged with the frame after.
    case swapped
  }

  /// Frames that the scene is rendered for.
  let frames: Int

  // Depth
  var depthFrames: Int
  /// Half of one more payload follows the last whole frame, and nothing after it.
  var endsInPayload = false
  var damagedPayloads: Set<Int> = []
  /// 2, 1 or 0.
  var timeBlocks = 2
  /// Entries of each block.
  var timeEntries: Int
  /// The second block breaks off: bytes that are left of both.
  var timeBytesKept: Int?
  var trailingBytes = 0

  // Times
  /// The world goes on for this many frame times more after a frame.
  var gap: (afterFrame: Int, frameTimes: Int)?
  /// Seconds taken off all frame times: those of an earlier scan.
  var staleSeconds = 0.0
  var timeEdits: [Int: TimeEdit] = [:]

  // Color
  /// Pictures that are never encoded.
  var lostPictures: Set<Int> = []

  // Camera settings
  var cameraRecords: Int
  var cameraTag = "v1"
  var cameraTrailingBytes = 0

  // Inertial sensors
  var hasInertialHead = false
  var inertialPartialBytes = 0
  /// Seconds without samples in the middle.
  var inertialGapSeconds = 0.0
  var swapsInertialSamples = false
  /// Seconds between the last sample and the last frame; usually the sensors outlive the frames.
  var inertialEndsEarlySeconds: Double?

  // Metadata
  var declaredDepth: Int
  var declaredColor: Int
  /// Added to the number of samples that is claimed.
  var declaredInertialSurplus = 0
  /// Of the size of the pictures.
  var declaredColorScale = 1
  var lineEnd = "\r\n"
  var hasClosingKeys = true
  var sceneLabel = "Office12"
  var removedKeys: Set<String> = []
  var addedLines: [String] = []
  /// Depth is registered to color by the device: one viewpoint.
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

  /// Pictures in the stream.
  var pictures: Int { frames - lostPictures.count }

  /// Frame numbers of a reader: 0 ..< this.
  var canonicalFrames: Int {
    max(depthFrames, missingFiles.contains(.color) ? 0 : pictures)
  }

  /// What the metadata claims, or `nil` when it does not say.
  var claimedDepth: Int? {
    hasClosingKeys && !missingFiles.contains(.text) ? declaredDepth : nil
  }

  var claimedColor: Int? {
    hasClosingKeys && !missingFiles.contains(.text) ? declaredColor : nil
  }
}
