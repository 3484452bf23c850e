/// What a Strabo capture contains in addition to pictures.
struct TrackPlan {
  enum File: String, CaseIterable {
    case media = "media_file"
    case geodata = "geodata_file"
    case thumbnail = "thumbnail_file"
  }

  let form: TrackForm
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

  init(form: TrackForm, frames: Int) {
    self.form = form
    self.frames = form.isStill ? 1 : frames
  }

  var pictures: Int { missingFiles.contains(.media) || hasEmptyMedia ? 0 : frames }
}
