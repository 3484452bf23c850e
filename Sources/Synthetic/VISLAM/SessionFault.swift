/// A fault of a VI-SLAM session.
typealias SessionFault = PlannedFault<SessionForm, SessionPlan>

enum SessionFaults {
  static let all: [SessionFault] = pictures + files + samples + text

  private static let pictures = [
    SessionFault(
      "dropped-pictures", "pictures", leastFrames: 24,
      "rows 7, 8 and 20 have no picture; numbers start at 1", in: { $0 != .androidWide }
    ) {
      $0.lostPictures = [7, 8, 20]
      $0.firstNumber = 1
    },
    SessionFault("gap", "frame times", "the camera misses half a period in the middle") {
      $0.gapAfterFrame = $0.frames / 2
    },
    SessionFault("swapped-frames", "frame rows", "two rows of the frame table are exchanged") {
      $0.swapsFrameRows = true
    },
    SessionFault(
      "wrong-size", "frame sizes", "two rows state another picture size",
      in: { $0 != .androidWide }
    ) {
      $0.wrongSizeRows = 2
    },
  ]

  private static let files = [
    SessionFault("missing-video", "pictures", "no video", in: { $0 != .androidWide }) {
      $0.hasVideo = false
    },
    SessionFault("two-videos", "video files", "a second video lies beside", in: { $0 == .v1 }) {
      $0.hasSecondVideo = true
    },
    SessionFault("missing-imu", "imu file", "no imu_data.csv") { $0.hasInertialTable = false },
    SessionFault(
      "missing-frames", "frame rows", "no frame_metadata.csv", in: { $0 != .androidWide }
    ) {
      $0.hasFrameTable = false
    },
  ]

  private static let samples = [
    SessionFault(
      "imu-short", "imu range", leastFrames: 30, "the sensors start late and end early"
    ) {
      $0.inertialLead = -0.11
      $0.inertialTail = -0.27
    },
    SessionFault("imu-gap", "imu times", leastFrames: 15, "0.2 seconds without samples") {
      $0.inertialGapSeconds = 0.2
    },
    SessionFault(
      "swapped-samples", "imu order", "two neighboring gyroscope rows are exchanged",
      in: { $0 != .androidWide }
    ) {
      $0.swapsGyroscope = true
    },
    SessionFault(
      "repeated-sample", "imu rows", "a gyroscope row stands twice", in: { $0 != .androidWide }
    ) {
      $0.repeatsGyroscope = true
    },
    SessionFault("nan-sample", "imu rows", "a row holds nan", in: { $0 != .androidWide }) {
      $0.hasNaNRow = true
    },
    SessionFault("short-row", "imu rows", "a row has too few cells", in: { $0 != .androidWide }) {
      $0.hasShortRow = true
    },
    SessionFault(
      "unknown-sensor", "imu types", "four rows of a barometer", in: { $0 != .androidWide }
    ) {
      $0.unknownRows = 4
    },
  ]

  private static let text = [
    SessionFault(
      "no-z", "imu file", "imu_data.csv lacks the column z: it cannot be read",
      in: { $0 == .v1 }
    ) {
      $0.lacksZ = true
    },
    SessionFault(
      "foreign-text", "imu text", "byte order mark, CR LF; no warning", in: { $0 == .v1 }
    ) {
      $0.hasForeignText = true
    },
    SessionFault(
      "cut-line", "imu end", "the last line of imu_data.csv is cut", in: { $0 == .v1 }
    ) {
      $0.cutsLastLine = true
    },
  ]
}
