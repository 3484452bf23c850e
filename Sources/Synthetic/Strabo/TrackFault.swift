extension StraboFamily {
  static let plannedFaults: [Fault] = points + files + info

  private static let points = [
    Fault("no-points", "points", "the list of points is empty", \.hasNoPoints, true),
    Fault(
      "no-fix", "points", "the first three points have no position", \.pointsWithoutFix, 3,
      in: { !$0.isStill }),
    Fault(
      "stale-point", "first point", "a point of an earlier recording stands first", \.hasStalePoint,
      true, in: { !$0.isStill }),
    Fault(
      "swapped-points", "point order", "two neighboring points are exchanged", \.swapsPoints, true,
      in: { !$0.isStill }),
    Fault(
      "repeated-time", "point times", "two points have the same time", \.repeatsPointTime, true,
      in: { !$0.isStill }),
    Fault(
      "invalid-headings", "headings", "some headings are negative or above 360; no warning",
      \.hasInvalidHeadings, true, in: { !$0.isStill }),
    Fault(
      "north", "place", "headings swing across north, longitude crosses 180; no warning",
      \.crossesNorth, true),
    Fault("broken-points", "points", "the geo data are no JSON", \.isBrokenJSON, true),
  ]

  private static let files = [
    Fault(
      "bad-paths", "paths", "all three file keys lead outside the capture", \.hasBadPaths, true),
    Fault("missing-media", "media", "no movie or picture") { $0.missingFiles.insert(.media) },
    Fault("empty-media", "media", "the movie or picture has no bytes", \.hasEmptyMedia, true),
    Fault("missing-points", "points", "no geo data file") {
      $0.missingFiles.insert(.geodata)
    },
    Fault("missing-thumbnail", "thumbnail", "no thumbnail") {
      $0.missingFiles.insert(.thumbnail)
    },
    Fault(
      "large-thumbnail", "thumbnail", "the app's thumbnail is too large", \.hasLargeThumbnail, true,
      in: { !$0.isStill }),
    Fault(
      "half-turn", "turn", "the movie is turned by half a turn; no warning",
      \.clockwiseQuarterTurns, 2),
    Fault(
      "left-turn", "turn", "the movie is turned counter-clockwise; no warning",
      \.clockwiseQuarterTurns, 3),
    Fault("no-turn", "turn", "the movie is stored upright; no warning", \.clockwiseQuarterTurns, 0),
  ]

  private static let info = [
    Fault(
      "unknown-key", "keys", "capture-info.json holds a key that nobody knows", \.extraKeys,
      ["battery"]),
    Fault("missing-type", "keys", "capture-info.json lacks media_type", \.lacksMediaType, true),
    Fault(
      "missing-time", "time", "capture-info.json lacks created_at; no warning", \.lacksCreationTime,
      true),
  ]
}

/// What a Strabo capture contains in addition to pictures.
struct TrackPlan: SyntheticPlan {
  enum File: String, CaseIterable {
    case media = "media_file"
    case geodata = "geodata_file"
    case thumbnail = "thumbnail_file"
  }

  let form: StraboFamily
  let frames: Int

  /// Clockwise quarter turns that make the stored picture upright.
  var clockwiseQuarterTurns = 1
  var missingFiles: Set<File> = []
  /// The media file has no bytes.
  var hasEmptyMedia = false
  /// All paths lead out of the folder.
  var hasBadPaths = false
  /// The app's thumbnail is too large.
  var hasLargeThumbnail = false

  // Geo data
  var hasNoPoints = false
  /// Number of points at the start without a fix.
  var pointsWithoutFix = 0
  /// Whether the first point belongs to an earlier recording.
  var hasStalePoint = false
  var swapsPoints = false
  var repeatsPointTime = false
  /// Headings of some points are invalid.
  var hasInvalidHeadings = false
  /// Whether the track crosses north and the date line.
  var crossesNorth = false
  var isBrokenJSON = false

  // Info
  var extraKeys: [String] = []
  var lacksMediaType = false
  var lacksCreationTime = false

  init(form: StraboFamily, frames: Int) {
    self.form = form
    self.frames = form.isStill ? 1 : frames
  }

  var hasDepthCamera: Bool { false }
  var canonicalFrames: Int { pictures }
  var pictures: Int { missingFiles.contains(.media) || hasEmptyMedia ? 0 : frames }
}
