/// What a ScanNet capture contains in addition to pictures and samples: numbers of items, values in
/// the metadata, and damage.
///
/// Initially an intact capture. Faults change it, the writer follows it, and the expectation is
/// computed from it.
struct ScanNetPlan: SyntheticPlan {
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
  var timeEdits: [Int: ItemEdit] = [:]

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

  var hasText = true
  var hasColor = true
  var hasInertial = true
  var hasCamera = true

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
    max(depthFrames, hasColor ? pictures : 0)
  }

  /// Whether the camera settings can be read.
  var hasSettings: Bool { hasCamera && cameraTag == "v1" }

  /// The number of depth frames in the metadata; `nil` when it states none.
  var claimedDepth: Int? { hasClosingKeys && hasText ? declaredDepth : nil }
  var claimedColor: Int? { hasClosingKeys && hasText ? declaredColor : nil }
}

extension ScanNetFamily {
  static let plannedFaults: [Fault] =
    counts + depthEnds + times + color + sensors + metadata + missing

  private static let counts = [
    Fault("count-minus-1", "depth end", "the metadata and the time blocks lack one frame") {
      $0.declaredDepth -= 1
      $0.timeEntries -= 1
    },
    Fault("count-minus-2", "depth end", "the metadata and the time blocks lack two frames") {
      $0.declaredDepth -= 2
      $0.timeEntries -= 2
    },
    Fault(
      "count-plus-1", "depth end", "one frame too many is claimed; its times are garbage"
    ) {
      $0.declaredDepth += 1
      $0.timeEntries += 1
    },
    Fault("count-far", "depth end", "the claimed number of depth frames is far off") {
      $0.declaredDepth += 9
    },
    Fault(
      "one-time-block", "depth end", "only depth times are stored, no color times", \.timeBlocks, 1),
  ]

  private static let depthEnds = [
    Fault(
      "killed-app", "depth end", "no closing keys, no times, the last payload cut"
    ) {
      $0.hasClosingKeys = false
      $0.timeBlocks = 0
      $0.depthFrames -= 1
      $0.endsInPayload = true
    },
    Fault(
      "cut-in-payload", "depth end", leastFrames: 8, "the depth file breaks off within a payload"
    ) {
      $0.timeBlocks = 0
      $0.depthFrames -= 5
      $0.endsInPayload = true
    },
    Fault("cut-in-times", "depth end", "the depth file breaks off within the color times") {
      // Not a multiple of 8, so that no whole number of times can be read.
      $0.timeBytesKept = 8 * $0.frames + 8 * ($0.frames / 2) + 3
    },
    Fault("trailing-bytes", "depth end", "13 bytes follow the times", \.trailingBytes, 13),
    Fault("short-depth", "depth end", leastFrames: 4, "two depth frames fewer than pictures") {
      $0.depthFrames -= 2
      $0.timeEntries -= 2
      $0.declaredDepth -= 2
    },
    Fault(
      "corrupt-depth", "payload", "the payload of depth frame 1 is damaged", \.damagedPayloads, [1]),
  ]

  private static let times = [
    Fault("stale-times", "times", "the times are those of an earlier scan", \.staleSeconds, 480),
    Fault("gap", "times", leastFrames: 6, "ten pairs of frames are missing in the middle") {
      $0.gap = (afterFrame: $0.frames / 2, frameTimes: 10)
    },
    Fault("nan-time", "times", "the last depth time is not a number") {
      $0.timeEdits = [$0.frames - 1: .notFinite]
    },
    Fault("zero-time", "times", "the last depth time is zero") {
      $0.timeEdits = [$0.frames - 1: .zero]
    },
    Fault(
      "repeated-time", "times", leastFrames: 6, "a depth time repeats the one before"
    ) {
      $0.timeEdits = [$0.frames / 2: .repeated]
    },
    Fault(
      "swapped-times", "times", leastFrames: 6, "two neighboring depth times are exchanged"
    ) {
      $0.timeEdits = [$0.frames / 2: .swapped]
    },
  ]

  private static let color = [
    Fault(
      "dropped-color", "color", "picture 2 was never written and the counter does not know",
      \.lostPictures, [2]),
    Fault(
      "short-color", "color", leastFrames: 4, "the last two pictures are lost and not counted"
    ) {
      $0.lostPictures = [$0.frames - 1, $0.frames - 2]
      $0.declaredColor -= 2
    },
    Fault(
      "wrong-color-size", "color size", "the metadata claims pictures of twice the size",
      \.declaredColorScale, 2),
  ]

  private static let sensors = [
    Fault(
      "imu-head8", "imu head", "the IMU file starts with an 8-byte start time", \.hasInertialHead,
      true),
    Fault("imu-partial", "imu tail", "40 stray bytes end the IMU file", \.inertialPartialBytes, 40),
    Fault(
      "imu-count", "imu count", "the number of IMU samples is claimed 7 too large",
      \.declaredInertialSurplus, 7),
    Fault(
      "imu-gap", "imu times", leastFrames: 12, "0.3 seconds without IMU samples in the middle",
      \.inertialGapSeconds, 0.3),
    Fault(
      "imu-unordered", "imu times", "two neighboring IMU samples are exchanged",
      \.swapsInertialSamples, true),
    Fault(
      "imu-short", "imu times", leastFrames: 60, "the IMU ends 1.2 seconds before the last frame",
      \.inertialEndsEarlySeconds, 1.2),
    Fault("camera-short", "camera settings", "one record of camera settings is missing") {
      $0.cameraRecords -= 1
    },
    Fault(
      "camera-partial", "camera tail", "9 stray bytes end the camera settings",
      \.cameraTrailingBytes, 9),
    Fault(
      "camera-tag", "camera settings", "the camera settings have an unknown tag", \.cameraTag, "v9"),
  ]

  private static let metadata = [
    Fault(
      "lf-lines", "line ends", "lines of the metadata end with LF only; no warning", \.lineEnd, "\n"
    ),
    Fault(
      "awkward-metadata", "label", "the scene label holds = # ; // and quotes; no warning"
    ) {
      $0.sceneLabel = #"a=b #2; "c" // d = e"#
    },
    Fault("unknown-key", "keys", "the metadata hold a key that nobody knows") {
      $0.addedLines.append("lidarUnit = 7")
    },
    Fault("missing-key", "keys", "the metadata lack fx_depth") {
      $0.removedKeys.insert("fx_depth")
    },
    Fault(
      "registered", "extrinsics", "the device registers depth to color: identity; no warning",
      \.isRegistered, true),
  ]

  private static let missing = [
    Fault("missing-txt", "line ends", "no metadata file", \.hasText, false),
    Fault("missing-color", "color", "no video file", \.hasColor, false),
    Fault("missing-imu", "imu times", "no IMU file", \.hasInertial, false),
    Fault("missing-camera", "camera settings", "no camera settings", \.hasCamera, false),
  ]
}
